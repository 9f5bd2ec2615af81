"""Complaints of daemons beside the job that nobody knows: exporters and agents log errors on machines that are well."""

from collections.abc import Iterable

from core.judge.candidates import Candidate
from core.logs.voices import Program
from core.model import Role
from core.parsed import Parsed


def clear_unknown_daemons(parsed: Parsed, candidates: Iterable[Candidate]) -> list[Candidate]:
    """What daemons alone say, in words that no rule has, is no fault of a job whose own programs speak."""
    table = parsed.table
    if not any(origin.program in (Program.RANK, Program.LAUNCHER) for origin in table.origins):
        return list(candidates)
    return [
        candidate.with_role(Role.BENIGN, "a daemon beside the job said it, in words that nobody knows")
        if candidate.role is Role.ROOT
        and not candidate.fact.known
        and all(table.origins[voice].program is Program.DAEMON for voice in set(table.voice[candidate.rows].tolist()))
        else candidate
        for candidate in candidates
    ]
