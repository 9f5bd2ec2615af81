"""Rows of ``firstfault events``."""

import json

from bot.commandline.event_rows import as_jsonl, as_table
from core.diagnose import EventRow

ROWS = [
    EventRow("logs/a.log", 1, "e" * 16, "say <*>", "node-0", 3, 1_795_233_552_000_001, "training"),
    EventRow('logs/"\udcff.log', 2, "f" * 16, "\x1b[2J evil", None, None, None, "data loading"),
    EventRow("logs/a.log", 3, "e" * 16, "say <*>", "nöde", 0, -1, "unknown"),
]


def test_rows_are_json_whatever_they_hold() -> None:
    """Built by hand for speed, and still exactly JSON."""
    rows = [json.loads(line) for line in "".join(as_jsonl(ROWS)).splitlines()]
    assert rows[0] == {
        "file": "logs/a.log",
        "line": 1,
        "event": "e" * 16,
        "node": "node-0",
        "rank": 3,
        "time": "2026-11-21T03:59:12.000001Z",
        "stage": "training",
    }
    assert rows[1]["file"] == 'logs/"\\udcff.log'
    assert (rows[1]["node"], rows[1]["rank"], rows[1]["time"]) == (None, None, None)
    assert (rows[2]["node"], rows[2]["rank"], rows[2]["time"]) == ("nöde", 0, "1969-12-31T23:59:59.999999Z")


def test_the_table_is_cut_for_a_terminal_and_harmless() -> None:
    """No row is wider than asked, none holds a control byte, and a missing node or rank is a dash."""
    wide = "".join(as_table(ROWS, ["logs/a.log"], ["node-0"], width=None)).splitlines()
    narrow = "".join(as_table(ROWS, ["logs/a.log"], ["node-0"], width=40)).splitlines()
    assert wide[0].endswith("say <*>")
    assert "  -           -  data loading" in wide[1]
    assert max(map(len, narrow)) == 40
    assert "\x1b" not in "".join(wide)


def test_a_million_rows_come_in_blocks() -> None:
    """Rows are written while they come; they are never all held."""
    blocks = as_jsonl(ROWS[0] for _ in range(20_000))
    first = next(blocks)
    assert 1_000 < first.count("\n") < 20_000
