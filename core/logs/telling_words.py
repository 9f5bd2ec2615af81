"""What tells messages apart, however alike they are: typed slots, level, outcome, the name of a structured message."""

import re
from collections.abc import Iterator

from core.logs.blocks import BLOCK_MARK

_SLOT = re.compile(
    r"(?:errno|err|error|errn|\w*code|\w*status|signal|sig|xid(?:\s*\([^)]*\))?|rc|ret|http|exit)[\s:=(\[\"'#]{1,6}"
    r"(-?(?:0x[0-9a-f]+|\d{1,5}))\b",
    re.IGNORECASE,
)
# Words that say how something ended: "state UP" and "state DOWN" are two events.
_OUTCOME = re.compile(
    r"\b(?:success\w*|succe\w+|abort\w*|fail\w*|cancel\w*|kill\w*|down|up|lost|dead|timed out|timeout|refused|reset"
    r"|closed|denied|unreachable|corrupt\w*|invalid|error|exception|nan|inf|segmentation|terminat\w+|illegal)\b",
    re.IGNORECASE,
)
# What names the message in a structured log: two keys of MLPerf logging are two events.
_NAME = re.compile(r'"(?:key|event|event_name)": ?"([A-Za-z_][\w.-]{0,60})"')
# All that a line says: one of a record that is printed a line a field, as Julia's logger does.
_FIELD_LINE = re.compile(r"^\W{0,8}([A-Za-z_][\w.-]{0,60}) ?[=:] {0,8}<NUM>\W{0,2}$")
# What was raised, with which a report begins: two errors of one function are two events.
_TYPE = re.compile(rf"^{BLOCK_MARK}((?:[A-Za-z_]\w{{0,60}}\.){{0,8}}[A-Z]\w{{0,60}}(?:Error|Exception))(?!\w)")
# Codes of AWS Neuron's runtime and of HPE's network driver: who failed and who waited, a link that is up or down
_CODE = re.compile(r"\b(?:NRT|CXI)_[A-Z]{2,20}(?:_[A-Z]{1,20}){1,6}\b")
_TWO_WORDS = re.compile(r"\btimed out\b", re.IGNORECASE)
_LETTER = re.compile(r"^\[?([EWIF])(?:<TS>| [\w./-]+:(?:<NUM>|\d+)\])")
_LEVEL = re.compile(r"\b(FATAL|CRITICAL|ERROR|WARN|WARNING|INFO|DEBUG|TRACE)\b|" + _LETTER.pattern)
# A letter between signs, behind a clock: [E] of spdlog (%L) and TensorRT, (W), | F |
_SIGNED = re.compile(r"^(?:[\[|]? {0,4}(?:<TS>|<NUM>(?: ?m?s)?)[\]|]? {0,4}){0,2}[\[(|] ?([EWIFCD]) ?[\])|](?= )")
# logfmt, of loggers that leave it to a field: level=fatal, lvl=eror (log15), severity=error
_FIELD = re.compile(r"\b(?:level|lvl|severity)=[\"']?(fatal|panic|crit|err|warn|info|debug|trace)", re.IGNORECASE)
# Levels as scripts of other languages print them, before a colon or a bracket that ends them: [FEHLER  ], Erreur :
_TRANSLATED = re.compile(
    # of Chinese, Japanese and Korean, German, French, Polish and Dutch
    r"(?:(?P<E>\u9519\u8bef|\u932f\u8aa4|\u30a8\u30e9\u30fc|\uc624\ub958|\bfehler|\berreur|\bb\u0142\u0105d|\bfout)"
    r"|(?P<W>\u8b66\u544a|\uacbd\uace0|\bwarnung|\bavertissement|\buwaga|\bostrze\u017cenie|\bwaarschuwing))"
    r"(?=\s{0,4}[:\uff1a\])\u3011|])",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"[0-9]")  # masks leave them in slots only, and to look for slots takes long
# A part of every word above, and of what begins with a level of one letter: a text without any tells nothing by words.
_MAY_TELL = (
    *("succe", "abort", "fail", "cancel", "kill", "down", "up", "lost", "dead", "time", "refused", "reset", "closed"),
    *("denied", "unreach", "corrupt", "invalid", "error", "exception", "nan", "inf", "fatal", "critical", "warn"),
    *("segm", "terminat", "illegal", "nrt_", "cxi_", "debug", "trace", "e<ts>", "w<ts>", "i<ts>", "f<ts>"),
)
_LEVEL_WITHIN = 200  # characters; a level further right is something that the line talks about


def slots(text: str) -> tuple[str, ...]:
    """Values of the typed slots of a message: errno, exit codes, signals, status, Xid."""
    return tuple(match[1] for match in _SLOT.finditer(text)) if _DIGIT.search(text) else ()


def level(text: str) -> str:
    """Level that the message was logged at, as its first letter; empty when it names none."""
    match = _LEVEL.search(text[:_LEVEL_WITHIN])
    if match is None and (field := _FIELD.search(text[:_LEVEL_WITHIN])):
        return field[1][0].upper().replace("P", "F")
    if match is None and (word := _TRANSLATED.search(text[:_LEVEL_WITHIN])):
        return word.lastgroup or ""
    if match is None and (letter := _SIGNED.match(text)):
        return letter[1]
    return (match[1] or match[2])[0] if match else ""


def guard(text: str) -> str:
    """One token for all that tells a message apart; messages with different ones are never one event."""
    outcomes = sorted({match[0].lower() for match in _OUTCOME.finditer(text)})
    kind, names = "block" if text.startswith(BLOCK_MARK) else "line", _NAME.findall(text)
    names += _TYPE.findall(text) + _FIELD_LINE.findall(text) + _CODE.findall(text)
    token = "|".join((kind, level(text), ",".join(slots(text)), ",".join(outcomes), ",".join(names)))
    return token.replace(" ", "_")


def telling_words(token: str) -> list[str]:
    """Words of a token that say an outcome or a level, sorted."""
    return sorted({match[0] for pattern in (_OUTCOME, _LEVEL) for match in pattern.finditer(token)})


def may_tell(text: str) -> bool:
    """False when no token of a text has telling words; one look, where tokens are looked at one by one else."""
    if not text.isascii():  # case is ignored in ways that lower() does not follow
        return True
    lower = text.lower()
    return any(map(lower.__contains__, _MAY_TELL))  # an expression takes ten times as long, a generator three


def telling_parts(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of what words do not tell: slots, names, types, outcomes of two words, levels of one letter."""
    patterns = (_NAME, _CODE, _FIELD_LINE, _TYPE, _TWO_WORDS, _LETTER, _SIGNED)
    for pattern in (_SLOT, *patterns) if _DIGIT.search(text) else patterns:
        for match in pattern.finditer(text):
            yield match.span()
