"""What people say in a thread that is no question to the bot: thanks, "on it", words to somebody else."""

import re

MAX_READ = 1_000  # characters of a message
_MENTION = re.compile(r"<@([A-Z0-9]{2,20})(?:\|[^>]{0,80})?>")
_EMOJI = re.compile(r":[a-z0-9_+-]{1,60}:")
_ASKS = re.compile(
    r"[?\uff1f]|\b(?:what|why|who|whose|when|where|which|how|is|are|was|were|did|does|do|can|could|should|will|would|has|have|any|show|"
    r"tell|explain|compare|list|find|grep|search|give|print|help|was|wer|wie|wann|wo|warum|wieso|welche[rs]?|zeig\w{0,4}|ist|hat|gab|"
    r"erklär\w{0,4}|vergleich\w{0,4})\b|什么|为什么|谁|哪|怎么|多少|几|吗|解释|比较|显示|搜索",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"(?:thanks?|thank you|thx|ty|cheers|ok(?:ay)?|k|on it|looking|checking|got it|lgtm|nice|great|cool|bad bot|"
    r"good (?:bot|job|morning|night|catch|find)|hi|hello|hey|morning|brb|done|fixed|restarted|restarting|drained|"
    r"draining|will do|agreed|same here|sounds good|makes sense|that makes sense|yes|yep|yeah|no|nope|sure|lol|wow|"
    r"hmm+|huh|ah|oh|u+gh+|a+rgh+|damn|dammit|meh|ouch|oops|sigh|yikes|fyi|np|ack|\+1|"
    r"i(?:['\u2019](?:ll|m|ve|d))?|we(?:['\u2019](?:ll|re|ve))?|let me|let us|"
    r"let['\u2019]s|please|ping me|assigning|ticket|danke|alles klar|super|prima|passt|ich|wir|mach ich|schau|"
    r"moin|servus|hallo|guten (?:morgen|tag|abend)|bis morgen|谢谢|好的|收到|我来|嗯|辛苦)(?![\w'\u2019])",
    re.IGNORECASE,
)


# "Anna, can you take this one?": a person is asked to do something, which no answer about a job does
_TO_SOMEBODY = re.compile(
    r"@?[A-Z][a-z]{1,20}[,:]? (?:can|could|would|will|kannst|könntest) (?:you|du) (?:please |bitte )?"
    r"(?:take|have a look|look at|check on|own|handle|pick|drain|restart|page|call|übernehmen|mal)\b"
)
# "@marta was that you": who is called by name at the start is spoken to; Slack writes its own mentions as <@U1>
_CALLED = re.compile(r"@(?!(?:bot|firstfault|here|channel|everyone|all)\b)[A-Za-z][\w.-]{1,40}\b")
_WHO_ARE_YOU = re.compile(
    r"\b(?:who|what) are you\b|\bare you (?:\w{1,12} ){0,2}(?:bot|robot|human|person|ai|llm|machine)\b"
    r"|\bwer bist du\b|\bbist du .{0,12}(?:bot|mensch)\b|你是谁",
    re.IGNORECASE,
)


# An outcry ("ugh why always on a sunday") asks nothing of the bot, unless a mark or a question word begins it
_OUTCRY = re.compile(
    r"(?:^|[\s,])(?:lo+l|haha+|lmao|omg|u+gh+|a+rgh+|sigh|meh|yay|yikes|wow|damn|oh no|seriously)(?=$|[\s,.!])"
    r"|[\U0001F300-\U0001FAFF\u2600-\u27BF]|[:;]-?[()D](?!\w)",
    re.IGNORECASE,
)
_RHETORICAL = re.compile(
    r"^(?:but |and )?(?:why|warum|wieso)\b.{0,20}\b(?:always|again|me|us|ever|immer|schon wieder)\b", re.IGNORECASE
)


def asks_of_bot(text: str) -> bool:
    """Whether a question is about the bot itself."""
    return _WHO_ARE_YOU.search(text[:MAX_READ]) is not None


def is_chatter(text: str, bot: str = "") -> bool:
    """Whether a message in a thread of the bot wants nothing from it.

    Args:
        bot: the bot's own user id; who mentions somebody else and not the bot speaks to that person.
    """
    text = text[:MAX_READ]
    mentioned = set(_MENTION.findall(text))
    if bot and mentioned and bot not in mentioned:
        return True
    words = " ".join(_EMOJI.sub(" ", _MENTION.sub(" ", text)).split())
    if not any(letter.isalnum() or letter in "?\uff1f" for letter in words):
        return True
    if _TO_SOMEBODY.match(words) or _CALLED.match(words):
        return True
    if "?" not in words and _OUTCRY.search(text):
        rest = _OUTCRY.sub(" ", words).strip(" ,.!-")
        if _ASKS.match(rest) is None or _RHETORICAL.match(rest):
            return True
    opens = _SAYS.match(words.lstrip("¡!.,;:- "))
    if opens is None:
        return False
    rest = words[opens.end() :]
    return _ASKS.search(rest) is None and _ASKS.match(words) is None
