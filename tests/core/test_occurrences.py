"""What a job says before it is judged."""

from core.occurrences import find_occurrences, messages_of
from core.parsed import parse_job
from tests.support.jobs import at, job, lines


def test_each_event_has_its_messages_and_its_nodes() -> None:
    """An event lists every message that its template stands for, and who says it."""
    parsed = parse_job(
        job(
            {
                "node-0/a.log": lines(at(1, "ERROR link of port one went down for good"), at(2, "hello")),
                "node-1/a.log": lines(at(1, "ERROR link of port two went down for good"), at(2, "hello")),
            },
            nodes=("node-0", "node-1"),
        ),
        (),
        cache=None,
        workers=1,
        progress=None,
    )
    found = {one.texts: one for one in find_occurrences(parsed)}
    links = next(one for texts, one in found.items() if any("link" in text for text in texts))
    hello = next(one for texts, one in found.items() if texts[0].endswith("hello"))
    assert hello.nodes == ("node-0", "node-1")
    assert hello.count == 2
    assert links.texts == (
        "<TS> ERROR link of port <*> went down for good",
        "<TS> ERROR link of port one went down for good",
        "<TS> ERROR link of port two went down for good",
    )


def test_occurrences_come_in_the_order_of_their_ids() -> None:
    """The order of files changes nothing."""
    files = {f"node-{n}/a.log": lines(*(at(m, f"word{m} alone" + "!" * m) for m in range(6))) for n in range(3)}
    one = parse_job(job(files), (), cache=None, workers=1, progress=None)
    other = parse_job(job(dict(reversed(files.items()))), (), cache=None, workers=2, progress=None)
    found = find_occurrences(one)
    assert found == find_occurrences(other)
    assert [occurrence.event for occurrence in found] == sorted(occurrence.event for occurrence in found)


def test_pasted_lines_become_the_messages_of_a_job() -> None:
    """A traceback is one message; labels and times are masked."""
    text = '[rank3]: Traceback (most recent call last):\n[rank3]:   File "a.py", line 3, in f\n[rank3]: ValueError: 7'
    assert list(messages_of(text)) == ["ValueError: <NUM>"]
    assert list(messages_of("2026-11-21 04:00:00,123 link down")) == ["<TS> link down"]
    assert list(messages_of("")) == [""]
