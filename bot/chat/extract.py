"""What counts in a model's answer: the JSON object, without thinking and whatever else stands around it."""

import json
import re

MAX_STARTS = 100  # braces at which an object is looked for: bounds the work on an answer made of braces
_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)


def _without_thought(text: str) -> str:
    """The text without what stands in <think>, closed or not: in one pass, however many tags a model writes.

    Chat templates may put the opening tag into the prompt, so that an answer begins in the middle of a thought.
    """
    spoken: list[str] = []
    at, thinking, begun_before = 0, False, False
    for tag in _TAG.finditer(text):
        closes = bool(tag[1])
        if not thinking and not closes:
            spoken.append(text[at : tag.start()])
            thinking = True
        elif thinking and closes:
            at, thinking = tag.end(), False
        elif closes and not begun_before:
            spoken.clear()
            at, begun_before = tag.end(), True
    return "".join(spoken) if thinking else "".join([*spoken, text[at:]])


def json_object(text: str) -> str | None:
    """The longest JSON object in the text, as it stands there; None when there is none."""
    if _is_object(text):
        return text.strip()  # not searched for thinking: a value may quote a log that holds the tag
    return _longest_object(_without_thought(text)) or _longest_object(text)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _longest_object(text: str) -> str | None:
    longest, start = "", text.find("{")
    for _ in range(MAX_STARTS):
        if start < 0:
            break
        end = _end_of_object(text, start)
        if end - start > len(longest):
            longest = text[start:end]
        start = text.find("{", max(end, start + 1))
    return longest or None


def _end_of_object(text: str, start: int) -> int:
    """Where the JSON object that begins at ``start`` ends; ``start`` when none begins there."""
    try:
        return json.JSONDecoder().raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return start
