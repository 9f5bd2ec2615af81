"""What many lines say inside one layer: of lines that are made alike only the first ones are peeled.

How a log is wrapped is found out for each file of a job; of 512 small ones, to peel each line of each for that took
twenty times as long as to read them.
"""

from collections.abc import Iterable, Iterator

from core.logs.wraps.line_forms import NO_OBJECT, Form, make_form, match, put_together, tokens_of_line
from core.logs.wraps.peeled import Wrap
from core.logs.wraps.stamps import NO_STAMP

_MAX_FORMS = 8  # a logger has one for each of its calls, few of which make most lines; of more each is tried in vain
_MAX_REFUSED = 32  # lines that were no new form: a log of which none is anything else has none
_OTHER, _UNDATED, _DATED = b"-", b" ", b"@"  # what stands before a text while its form is made


def peel_alike(wrap: Wrap, lines: Iterable[bytes]) -> Iterator[tuple[bytes | None, bool]]:
    """What stands inside the layer, for each line, and whether the layer tells when; None where the line has none."""

    def say(line: bytes) -> bytes:
        peeled = wrap.peel(line)
        if peeled is None:
            return _OTHER
        return (_UNDATED if peeled.stamp == NO_STAMP else _DATED) + peeled.text

    forms, refused = list[Form](), 0
    for line in lines:
        said = _by_form(forms, line)
        if said is None:
            said = say(line)
            if wrap.cut is not None and said[:1] != _OTHER and len(forms) < _MAX_FORMS and refused < _MAX_REFUSED:
                tokens = tokens_of_line(line, (wrap,))
                form = make_form(line, tokens, say) if tokens is not None and NO_OBJECT not in tokens else None
                forms += [form] if form is not None else []
                refused += form is None
        yield (None if said[:1] == _OTHER else said[1:]), said[:1] == _DATED


def _by_form(forms: list[Form], line: bytes) -> bytes | None:
    """What stands inside a line of a known form; a form that fits comes first for the next line."""
    for place, form in enumerate(forms):
        contents = match(form, line)
        if contents is not None:
            forms.insert(0, forms.pop(place))
            return put_together(form.pieces, contents)
    return None
