"""A template: the constant part of a message, and its id."""

from dataclasses import dataclass, field
from hashlib import blake2b

from core.logs.blocks import BLOCK_MARK
from core.logs.messages import is_block, plain


@dataclass(frozen=True, slots=True)
class Template:
    """Constant part of a message; ``id`` is a hash of ``text``.

    block: whether the message is a block of lines.
    sample: its most frequent message, without wildcards; rules read this.
    """

    id: str
    text: str
    block: bool = False
    sample: str = field(default="", compare=False)


def template_id(text: str) -> str:
    """Sixteen hexadecimal digits of BLAKE2b: one collision in a million templates is as likely as 1 in 37 million."""
    return blake2b(text.encode(), digest_size=8).hexdigest()


def template(text: str, *, sample: str) -> Template:
    """The template with this text.

    Args:
        text: without the mark of a block.
        sample: a message's text, with it.
    """
    block = is_block(sample)
    return Template(template_id(f"{BLOCK_MARK}{text}" if block else text), text, block=block, sample=plain(sample))
