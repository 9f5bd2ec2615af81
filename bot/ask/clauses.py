"""Which part of a text asks: "throughput halved, when" asks when, and says of what before."""

import re

BETWEEN = re.compile(
    r"([?\uff1f]{1,8}\s{0,8}|[!.;,:\u3002\uff1b\uff0c]{1,8}(?:\s{1,8}|(?<=[\u3002\uff1b\uff0c]))|\s{1,8}(?:and|und|plus|sowie|but|aber|&|\+)\s{1,8}|和|以及)",
    re.IGNORECASE,
)
LEADS = re.compile(
    r"^(?:(?:and|und|also|then|but|aber|or|oder|so|ok(?:ay)?|hmm?|auch|dann|which one|另外|还有)\s{1,8}){1,3}",
    re.IGNORECASE,
)
# A part that begins so asks something by itself; a statement or the rest of a list does not
_ASKS = re.compile(
    r"^(?:(?:since|for|in|on|at|by|from|to|until|seit|ab|bis|auf|bei|von|mit)\s{1,3})?(?:(?:what|who|where|when|how)(?:['\u2019]?s)?|which|whose|whom|why"
    r"|(?:is|are|was|were|did|does|do|can|could|should|will|would|has|have)(?:n['\u2019]?t)?"
    r"|any(?:thing|body|one)?|show|tell|list|give|explain|wer|wie(?:viel\w{0,2})?|wann|wo|warum|wieso|weshalb|welche\w{0,2}|wodurch|ist|sind|war|waren|wurde\w{0,1}|wird|hat|hatten?|gab|gibt|läuft|lief|konnte\w{0,1}"
    r"|kann|soll\w{0,2}|muss|zeig\w{0,2})\b|(?:什么|为什么|为何|谁|哪|怎么|多少|几|是否|是不是|有没有|吗|呢|多久|多大|多快)",
    re.IGNORECASE,
)  # fmt: skip
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
# "if I copy the file there can I start again": what is supposed, before what is asked
SUPPOSED = re.compile(
    r"^\W{0,3}(?:(?:and|so|ok|but|well) )?(?:if|once|after|when|wenn|falls|sobald|nachdem) .{3,120}?[ ,]"
    r"(?=(?:then |dann )?(?:can|could|should|may|will|would|is|are|do|does|kann|können|darf|soll|läuft|geht) )",
    re.IGNORECASE,
)


def begins_as_question(text: str) -> bool:
    """Whether a part of a text asks something by itself."""
    return (_ASKS.search(text) if _CHINESE.search(text) else _ASKS.match(text)) is not None


def asking_part(text: str) -> str:
    """The parts of a text that ask, without the statements before and behind them; the whole where nothing is said."""
    if supposed := SUPPOSED.match(text):
        return text[supposed.end() :]
    pieces = BETWEEN.split(text)
    every = list(zip(pieces[::2], [*pieces[1::2], ""], strict=True))
    asks = [_asks_here(part, mark) for part, mark in every]
    if any(begins_as_question(LEADS.sub("", part.strip())) for part, _ in every):  # "slow? which worker" asks which
        asks = [own and not is_topic(part) for own, (part, _) in zip(asks, every, strict=True)]
    kept = "".join(part + mark for (part, mark), own in zip(every, asks, strict=True) if own)
    return kept if any(asks) else text


def is_topic(part: str) -> bool:
    """Whether a part only names what is spoken of, whatever mark stands behind it."""
    bare = LEADS.sub("", part.strip(" ?\uff1f"))
    return 0 < len(bare.split()) <= MAX_TOPIC and not begins_as_question(bare) and not _CHINESE.search(bare)


MAX_TOPIC = 2  # words of it; chosen: "oom?", "step time?"


def _asks_here(part: str, mark: str) -> bool:
    bare = LEADS.sub("", part.strip())
    return bool(bare) and (begins_as_question(bare) or "?" in mark or "\uff1f" in mark)
