"""Foreign text in Slack formats nothing, links nowhere and pings nobody."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.text import clip, code, day, escape, fallback, in_words, link, literal, moment, person, prose

ATTACKS = (
    "<!channel> <!here> <!everyone>",
    "<@U0ADA> and <#C0ALERTS|general> and <!subteam^S0ONCALL>",
    "<https://evil.example|click> https://evil.example www.evil.example mailto:a@evil.example",
    "<\u200b!channel> <\u202e!channel> <\x00@U0ADA>",
    "@here @channel @everyone",
    "*bold* _italic_ ~struck~ `code` ```block``` :fire: :100:",
    "> a quote",
    "\n> a quote\n* a list",
    "“a quote with ` a backtick and <!here>” and “one that never ends <!here>",
    "&lt;!channel&gt; &amp;lt;",
)
_SPAN = re.compile(r"`[^`]*`")


def outside_code(text: str) -> str:
    return _SPAN.sub(" ", text)


@pytest.mark.parametrize("attack", ATTACKS)
def test_prose_leaves_nothing_for_slack_to_obey(attack: str) -> None:
    """Whatever a log line says, no mention, link, address or mark stands outside of code, nor any raw bracket."""
    shown = prose(attack, 500)

    assert not re.search(r"[<>]", shown)
    assert not re.search(r"[*~|@]|://|www\.|mailto:|:fire:|(?<!\w)_\w", outside_code(shown))
    assert not outside_code(shown).lstrip().startswith("&gt;")


@pytest.mark.parametrize("attack", ATTACKS)
def test_code_is_one_span(attack: str) -> None:
    """A log line cannot end the code that it stands in, by a backtick or by a line break."""
    shown = code(attack, 500)

    assert _SPAN.fullmatch(shown)
    assert not re.search(r"[<>\n]", shown)


@pytest.mark.parametrize(
    "sentence",
    [
        "The link of node-01: cable, transceiver and switch port swp1 (ip -s link show eth0; ethtool eth0).",
        "7 of 8 ranks waited 25 s for a peer, first at 03:59:44.",
        "What changed in the launch command: --lr 2e4, --clip-grad 1e9, gpu_node_07.",
    ],
)
def test_plain_sentences_stay_as_they_are(sentence: str) -> None:
    """Only what Slack would change is shown as code."""
    assert prose(sentence, 300) == sentence


def test_quoted_log_text_is_code() -> None:
    """What a sentence quotes from a log stands in code formatting, without the quotation marks."""
    assert prose("Look at “NVRM: Xid <79>”.", 99) == "Look at `NVRM: Xid &lt;79&gt;`."


@given(st.text(max_size=300), st.integers(1, 80))
def test_a_clipped_text_fits_and_breaks_nothing(text: str, limit: int) -> None:
    """No cut leaves half an entity or an open code span, and no text is longer than its field."""
    shown = clip(prose(text, 300), limit)

    assert len(shown) <= limit
    assert shown.count("`") % 2 == 0
    assert not re.search(r"&(?!(?:amp|lt|gt);)", shown)


@given(st.text(max_size=300))
def test_any_text_is_safe_prose(text: str) -> None:
    """Any text at all: no raw bracket, balanced code."""
    shown = prose(text, 300)

    assert not re.search(r"[<>]", shown)
    assert shown.count("`") % 2 == 0


def test_a_clip_keeps_what_fits() -> None:
    """A text that fits is not touched; a longer one ends with an ellipsis."""
    assert clip("all of it", 9) == "all of it"
    assert clip("half of &amp; it", 12) == "half of…"
    assert clip("see `a b c d` now", 10) == "see `a b`…"


def test_only_ids_of_slack_become_mentions() -> None:
    """A person's name cannot be made to ping a channel or somebody else."""
    assert person("U0ALICE") == "<@U0ALICE>"
    assert "<" not in person("U0ALICE> <!channel")
    assert person("") == "somebody"


def test_links_lead_only_where_an_address_is() -> None:
    """Something else in the place of an address leaves the label alone."""
    assert link("https://example.slack.com/archives/C0/p1", "Here | now") == (
        "<https://example.slack.com/archives/C0/p1|Here / now>"
    )
    assert link("javascript:alert(1)", "Here") == "Here"
    assert link("https://a> <!channel", "Here") == "Here"


def test_literal_text_is_one_clean_line() -> None:
    """Where Slack reads no markup, control bytes and direction marks go all the same."""
    assert literal("a\x1b[31m\u202eb\nc ", 20) == "ab c"


def test_a_notification_has_no_markup() -> None:
    """The text of a notification is escaped and holds no backticks."""
    assert fallback("`<!here>` & so", 99) == "'&lt;!here&gt;' &amp; so"
    assert escape("<&>") == "&lt;&amp;&gt;"


def test_a_long_sentence_ends_with_a_whole_sentence_or_word() -> None:
    """Nobody reads half a word; what was quoted is still closed, so that it stays code."""
    long = "The cable of node-01 failed. " * 3 + "Its peers waited until their timeout."

    assert in_words(long, 100) == "The cable of node-01 failed. " * 3 + "…"
    assert in_words("one two three four five six", 20) == "one two three four…"
    assert in_words("x" * 50, 20) == "x" * 19 + "…"
    assert prose("node-01 logged “an error of the link <!here> that goes on and on”", 50).endswith(
        "link &lt;!here&gt;…`"
    )


def test_a_time_is_shown_in_the_readers_zone() -> None:
    """Slack writes it; who has no Slack clock reads UTC, and what is no time is nothing."""
    at = datetime(2026, 11, 21, 4, 11, 30, tzinfo=UTC)

    assert moment(at) == "<!date^1795234290^{date_short_pretty} at {time}|2026-11-21 04:11 UTC>"
    assert day("2026-11-21T04:11:30Z") == "<!date^1795234290^{date_short_pretty}|2026-11-21>"
    assert day("<!channel>") == ""
