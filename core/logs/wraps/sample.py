"""How a log is wrapped, told from its first bytes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from core.logs.lines import without_ansi
from core.logs.wraps.documents import DocumentPart, read_parts
from core.logs.wraps.journal_forms import EXPORT, VERBOSE, read_export, read_verbose
from core.logs.wraps.line_forms import NO_OBJECT, Form, make_form, match, put_together, tokens_of_line
from core.logs.wraps.peeled import TRIED, Wrap, evenly
from core.logs.wraps.registry import DOCUMENTS, FITS, UNDATED
from core.logs.wraps.sections import SECTIONS
from core.logs.wraps.speaker_heads import SPEAKERS
from core.logs.wraps.stamps import NO_STAMP

SAMPLE_BYTES = 1 << 18  # as core.logs.scan learns labels from: job scripts print less before the first rank speaks
# Lines of all files of a job, each 60 us of CPU and more: as many as 32 logs have in their samples, of 60 bytes a line
SAMPLE_LINES = 1 << 17
LEAST_LINES = TRIED  # of each of many files: as many as tell of most kinds whether a log is wrapped so
_STRETCHES = 4  # in which they stand together: whether speakers take turns is seen in lines behind each other
MAX_LAYERS = 4  # wrappers around a line: collector, runtime, launcher and logger

ReadParts = Callable[[Iterable[bytes]], Iterator[DocumentPart]]


@dataclass(frozen=True, slots=True)
class Wrapping:
    """How a log is wrapped.

    layers: around each line, the outermost first. parts: takes a document apart, where the log is one.
    """

    layers: tuple[Wrap, ...] = ()
    parts: ReadParts | None = None

    def __bool__(self) -> bool:
        return bool(self.layers) or self.parts is not None


def find_wrapping(sample: bytes, most: int = SAMPLE_LINES) -> Wrapping:
    """How a log with these first bytes is wrapped, as so many of its lines tell; falsy for a plain one."""
    for parts in _documents(sample):
        found = list(parts((sample,)))
        texts = [part.record.text for part in found if part.record is not None]
        if len(texts) > sum(part.broken for part in found[:-1]):  # the last one is cut where the sample ends
            return Wrapping(_find_layers(_some([line for text in texts for line in text.split(b"\n")], most)), parts)
    lines = [line.removesuffix(b"\r") for line in without_ansi(sample).split(b"\n")]
    return Wrapping(_find_layers(_some(lines, most)))


def _some(lines: Sequence[bytes], most: int) -> Sequence[bytes]:
    """So many lines in a few stretches, from everywhere; empty ones tell nothing."""
    lines = [line for line in lines if line]
    if len(lines) <= most:
        return lines
    each = most // _STRETCHES
    starts = (part * (len(lines) - each) // (_STRETCHES - 1) for part in range(_STRETCHES))
    return [line for start in starts for line in lines[start : start + each]]


def _documents(sample: bytes) -> Iterator[ReadParts]:
    """What the log may be, other than lines."""
    if EXPORT.match(sample):
        yield read_export
    if VERBOSE.match(sample):
        yield read_verbose
    yield from (kind.read for kind in SECTIONS if len(kind.looks.findall(sample)) >= kind.least)
    if sample.lstrip()[:1] in (b"{", b"["):
        text = sample.decode("utf-8", "replace")
        yield from (partial(read_parts, kind=kind) for kind in DOCUMENTS if kind.looks.search(text))


def _find_layers(lines: Sequence[bytes]) -> tuple[Wrap, ...]:
    found: list[Wrap] = []
    first = 0  # of the kinds that may come next
    dated = are_named = False
    while lines and len(found) < MAX_LAYERS and (layer := _layer(lines, first, dated=dated)) is not None:
        kind, wrap = layer
        names_machines = _names_machines(wrap, lines)
        if found and (_says_the_same(found[-1], wrap, lines) or (are_named and names_machines)):
            first = kind + 1  # what stands behind the machine that speaks is what is said, such as the port of a switch
            continue
        found.append(wrap)
        are_named = are_named or names_machines
        peeled = list(peel_alike(wrap, lines))
        dated = dated or 2 * sum(tells_when for _, tells_when in peeled) > len(lines)
        texts = (line if inner is None else without_ansi(inner) for line, (inner, _) in zip(lines, peeled, strict=True))
        inside = [text for text in texts if text]
        first = kind + 1 if first or inside == lines else 0  # a label within the text would be found again
        lines = inside
    while found and found[-1].weak:
        found.pop()
    return tuple(found)


def _names_machines(wrap: Wrap, lines: Sequence[bytes]) -> bool:
    """Whether a layer is a column of speakers that are machines."""
    return wrap.name == SPEAKERS and any(told is not None and told.nodes for told in map(wrap.peel, evenly(lines)))


def _says_the_same(outer: Wrap, wrap: Wrap, lines: Sequence[bytes]) -> bool:
    """Whether a layer tells of each line what the one before it has told, and leaves the line as it is.

    A rank in brackets is a column of speakers too, for which no line has a form: each would be unwrapped by itself.
    """
    return all(inner is None or inner == outer.peel(line) for line in evenly(lines) for inner in (wrap.peel(line),))


def _layer(lines: Sequence[bytes], first: int, *, dated: bool) -> tuple[int, Wrap] | None:
    """The outermost layer of these lines that is of the first kind or a later one, and the place of its kind.

    dated: a layer around them tells when; how long a program or a kernel has run then is a number like any other.
    """
    kinds = ((kind, fit) for kind, fit in enumerate(FITS[first:], start=first) if not (dated and fit in UNDATED))
    return next(((kind, wrap) for kind, fit in kinds if (wrap := fit(lines)) is not None), None)


_MAX_FORMS = 8  # a logger has one for each of its calls, few of which make most lines; of more each is tried in vain
_MAX_REFUSED = 32  # lines that were no new form: a log of which none is anything else has none
_OTHER, _UNDATED, _DATED = b"-", b" ", b"@"  # what stands before a text while its form is made


def peel_alike(wrap: Wrap, lines: Iterable[bytes]) -> Iterator[tuple[bytes | None, bool]]:
    """What stands inside the layer, for each line, and whether the layer tells when; None where the line has none.

    Of lines that are made alike only the first ones are peeled: how a log is wrapped is found out for each file of a
    job, and for 512 small ones to peel each line took twenty times as long as to read them.
    """

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
