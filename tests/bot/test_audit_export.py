"""``firstfault audit``: the audit trail as a person or a cron job exports it."""

import json
from pathlib import Path

import pytest

from bot.app import DATABASE
from bot.state.state import open_state
from tests.bot.conftest import Run


def test_every_decision_is_a_line(firstfault: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Who, what, when, which revision; ``--after`` goes on where an export ended; a running bot is not in the way."""
    monkeypatch.setenv("FIRSTFAULT_STATE", str(tmp_path))
    bot = open_state(tmp_path / DATABASE)
    bot.audit.add("T1", "U1", what="approve", target="r-1", revision=3, details={"pattern": "link-down"})
    bot.audit.add("T1", "U2", what="undo", target="r-1", revision=3)

    code, out, _ = firstfault("audit")
    rest = firstfault("audit", "--after", "1")
    bot.close()

    first, second = map(json.loads, out.splitlines())
    assert code == 0
    assert {"who": "U1", "what": "approve", "revision": 3, "details": {"pattern": "link-down"}}.items() <= first.items()
    assert first["at"].endswith("+00:00")
    assert [json.loads(line) for line in rest[1].splitlines()] == [second]


def test_without_a_state_nothing_is_made(firstfault: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A wrong folder is told, not filled with an empty state."""
    monkeypatch.setenv("FIRSTFAULT_STATE", str(tmp_path / "elsewhere"))
    code, _, err = firstfault("audit")
    assert code == 2
    assert "There is no state in" in err
    assert not (tmp_path / "elsewhere").exists()
