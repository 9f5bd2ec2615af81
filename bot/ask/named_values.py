"""Values that stand beside a name in a line: ``lr=0.1``, ``"seed": 3``, ``gnorm 0.355``, ``600 traces``, paths.

No list of names is needed: a value is told by its form, and its name is what stands between it and the value before.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bot.ask.terms import terms_of

MAX_TEXT = 4_000  # characters of a line that are read; longer ones are command lines and printed settings
MAX_WORDS = 8  # of a name: "number of parameters on tensor model parallel rank"
_STEPS = r"(?:it|iter|step|batch|update|schritt)"
PACE_UNIT = rf"(?i:m?s[ ]?/[ ]?{_STEPS}|{_STEPS}s?[ ]?/[ ]?s)"  # "127 ms/step", "1.2s/it", "5.34it/s"
_MEASURE = r"(?i:[kmgt]i?b|[kmg]?hz|[kmgt]?flops?|rpm)"  # "44.30GiB", "1980 MHz"; of "7480 tok/s" the unit is the name
_UNIT = rf"(?:%|[ ]?(?:{PACE_UNIT}|{_MEASURE}|bytes|[mun\u00b5]?s|secs?|seconds|min|minutes|hours?)(?![\w]))?"
_NUMBER = (
    r"[-+]?[0-9]{1,15}(?:,[0-9]{3}){0,4}(?:\.[0-9]{1,15})?(?:[eE][-+]?[0-9]{1,3})?(?:[/-][0-9]{1,9})?"
    rf"{_UNIT}(?![\w.:-]{{0,20}}[0-9A-Za-z])"
)
_VALUE = re.compile(
    rf"""(?P<assigned>(?<=[=])(?:"[^"\n]{{1,120}}"|'[^'\n]{{1,120}}'|\([^()\n]{{1,80}}\)|\[[^\[\]\n]{{1,120}}\]|[^\s,;|}}\])(]{{1,120}}+(?!\()))
    |(?P<quoted>(?<=[:=({{\[ ])(?:"[^"\n]{{1,120}}"|'[^'\n]{{1,120}}')(?!\s{{0,2}}(?::|(?:reached|is|was|improved)\b)))
    |(?P<listed>(?<=[ :=])(?:\((?=[0-9'"])[^()\n]{{1,80}}\)|\[(?=[0-9'"])[^\[\]\n=]{{1,120}}\]))
    |(?P<address>(?<![\w.])[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}}(?::[0-9]{{1,5}})?(?![\w.]{{0,9}}[0-9]))
    |(?P<path>\b[a-z][a-z0-9]{{1,8}}://[\w./=@:-]{{1,200}}|(?<![\w/.])/[\w.@\[\]-]{{1,80}}(?:/[\w.=@\[\]-]{{1,80}}){{1,14}}|(?<![\w/.-])[\w-]{{1,60}}\.(?:npy|npz|pt|pth|bin|jsonl?|csv|parquet|tar|safetensors|ckpt|h5|ya?ml|arrow|idx|txt)\b)
    |(?P<version>(?<![\w.-])v?[0-9]{{1,4}}\.[0-9]{{1,4}}\.[0-9][\w.+-]{{0,30}})
    |(?P<number>(?<![\w./-])(?<![0-9]:){_NUMBER})
    |(?P<dotted>(?<=[.]{{3}}[ ])\S{{1,120}}|(?<=[\w\"'\)]:[ ])[A-Za-z][\w./+-]{{0,80}}(?=$|[,;|}}\]]))""",
    re.VERBOSE,
)
_FLOAT = re.compile(r"[-+]?[0-9]{1,15}(?:,[0-9]{3}){0,4}(?:\.[0-9]{1,15})?(?:[eE][-+]?[0-9]{1,3})?")
_ENDS = re.compile(r"[,;|!?{}<>\[\]]|\.\s| - |: {1,4}(?=\S{0,40} )|\]:")  # what parts a name from what stands before it
_WORD = re.compile(r"[A-Za-z][\w+./-]{0,60}")
_AFTER = re.compile(r" ([a-z][\w-]{2,40}(?: (?!=)[a-z][\w-]{2,30}){0,2})(?![\w-]{0,40}[=:(]| {1,4}[-+0-9])")
_DATA = re.compile(r"\.(?:npy|npz|bin|jsonl?|csv|parquet|tar|arrow|idx|txt|h5)$")
_FLAG = re.compile(r" --([a-z][\w-]{1,60})[ =](?=[^-\s])")
_OF_UNIT = re.compile(r"\b([A-Za-z]\w{2,40})\(([A-Za-z%/]{1,8})\)=")  # "Timeout(ms)=600000", as torch prints it
_ASIDE = re.compile(r"\([^()]{0,40}[, ][^()]{0,40}\)?")  # "(tensor, pipeline)", which tells nothing of the name's end
_LEVELS = ("DEBUG", "INFO", "WARNING", "WARN", "ERROR", "D", "I", "W", "E")
# "evaluation after step 100: 0.334": the step is not what has the value
_OWN_NUMBER = re.compile(
    r"(?:\s(?:after|at|of|in|for))?\s(?:step|iteration|iter|epoch|round|update)\s{1,3}[0-9]{1,12}:\s{0,4}$"
)
_PACE = re.compile(rf"{PACE_UNIT}$", re.IGNORECASE)
_TOLD_PACE = re.compile(rf"[0-9]{PACE_UNIT}|[0-9] {PACE_UNIT}")
_LENGTH = re.compile(r"[0-9] ?(?:[mun\u00b5]?s|secs?|seconds|min|minutes|h|hours)$")
_KEYS = ("key", "name", "metric")
_CLOCK = re.compile(
    r"(?<![\w.])(?:[0-9]{2,4}[-/.][0-9]{2}[-/.][0-9]{2,4}[T ,]{0,2})?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?Z?"
)


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value, its kind (a group of the expression above), and its name, in words before it or behind a count."""

    name: str
    value: str
    kind: str
    terms: frozenset[str] = field(compare=False)

    @property
    def is_pace(self) -> bool:
        """Whether its unit is that of a pace."""
        return _PACE.search(self.value) is not None

    @property
    def number(self) -> float | None:
        """The value as a number; None where it is none."""
        match = _FLOAT.match(self.value)
        return float(match[0].replace(",", "")) if match and self.kind not in ("address", "path", "version") else None


def values_in(text: str) -> Iterator[NamedValue]:
    """The values of a line in their order; clocks are none."""
    text = _CLOCK.sub(lambda clock: " " * len(clock[0]), text[:MAX_TEXT])
    text = _FLAG.sub(r" \1=", _OF_UNIT.sub(r"\1_\2=", text))
    behind, key = 0, ""
    for match in _VALUE.finditer(text):
        if match.lastgroup in ("number", "listed") and text[match.end() : match.end() + 2] == ": ":
            continue  # "rank 0: 73728" is the name's own number
        before = text[behind : match.start()]
        behind = match.end()
        name = _name(_OWN_NUMBER.sub(" ", before))
        if before.endswith("=") and before[-2:-1].strip():  # what stands before "key=" is what the message says
            name = name.split(" ")[-1]
        if not name and (after := _AFTER.match(text, match.end())):
            name = after[1]
        if not name and _LENGTH.search(match[0]):  # "policy stored, 26.3 s"
            name = _name(before.rstrip(" ,"))
        if not name and (pace := _PACE.search(match[0])):  # "127 ms/step"
            name = pace[0]
        value = match[0].strip("\"'")
        if key and name == "value":  # {"key": "seed", "value": 19109}, as MLPerf's logger writes
            name = key
        key = value if name in _KEYS else ""
        if name and not key:
            kind = match.lastgroup or ""
            yield NamedValue(name, value, kind, terms_of(name) | _kind_terms(value, kind))


def message_terms(text: str) -> frozenset[str]:
    """The terms of a message; a number with the unit of a pace is one, whatever stands beside it."""
    return terms_of(text) | (terms_of("pace") if _TOLD_PACE.search(text[:MAX_TEXT]) else frozenset())


def _kind_terms(value: str, kind: str) -> frozenset[str]:
    """Words by which people ask for a value of a form, whatever stands before it: a path is a file."""
    if kind == "path" or "/" in value[:1]:
        return terms_of(f"file path {'data' if _DATA.search(value) else ''} {value.rpartition('/')[2]}")
    if _PACE.search(value):
        return terms_of("pace speed fast slow time step")
    return terms_of({"address": "address", "version": "version"}.get(kind, ""))


def _name(before: str) -> str:
    """The last words before a value, without what belongs to something else."""
    stripped = before.rstrip(" \t.=:\"'(-")
    if not stripped or stripped[-1] in ",;|":
        return ""
    part = _ENDS.split(_ASIDE.sub(" ", stripped))[-1]
    words = _WORD.findall(part)[-MAX_WORDS:]
    return " ".join(words[1:] if len(words) > 1 and words[0] in _LEVELS else words)
