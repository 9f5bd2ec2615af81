"""The roles of all candidates, one rule after the other.

A fact says what a message means by itself (``core.facts``); whether it is the fault, its echo or the clearing up
depends on what else the job said, and when (docs/explain/method.md, "Roles").
"""

from collections.abc import Sequence

from core.judge.candidates import Candidate
from core.judge.exits import Exits
from core.judge.roles.echoes import clear_echoes
from core.judge.roles.endings import clear_endings
from core.judge.roles.kills import clear_kills
from core.judge.roles.links import (
    clear_answered_servers,
    clear_links_that_came_back,
    clear_transfers_over_a_broken_link,
)
from core.judge.roles.met_alone import (
    blame_no_rank_for_its_machine,
    blame_nobody_for_a_shared_object,
    blame_who_held_a_lock,
    blame_who_met_it_alone,
)
from core.judge.roles.named_peers import clear_named_peers, clear_one_sided_transfers
from core.judge.roles.other_jobs import clear_other_jobs
from core.judge.roles.silent_exits import promote_silent_exits
from core.judge.roles.silent_jobs import weigh_last_words, weigh_silence
from core.judge.roles.stops import promote_first_stop, weigh_stops
from core.judge.roles.survived import clear_unknown_daemons, demote_survived
from core.judge.roles.untold import place_untold
from core.judge.speaker import name_own_machines
from core.parsed import Parsed


def assign_roles(parsed: Parsed, candidates: Sequence[Candidate], exits: Exits) -> tuple[Candidate, ...]:
    """Candidates with the roles that they have in this job."""
    table = parsed.table
    candidates = name_own_machines(parsed, candidates)
    candidates = clear_other_jobs(parsed, candidates)
    candidates = demote_survived(parsed, candidates)
    candidates = clear_unknown_daemons(parsed, candidates)
    candidates = clear_named_peers(parsed, candidates)
    candidates = clear_one_sided_transfers(parsed, candidates)
    candidates = clear_answered_servers(parsed, candidates)
    candidates = clear_links_that_came_back(parsed, candidates)
    candidates = clear_transfers_over_a_broken_link(table, candidates)
    candidates = blame_who_held_a_lock(parsed, candidates)
    candidates = clear_kills(parsed, candidates)
    candidates = clear_endings(table, candidates, exits)
    candidates = clear_echoes(parsed, candidates)
    candidates = weigh_silence(table, candidates)
    candidates = weigh_last_words(parsed, candidates)
    candidates = weigh_stops(parsed, candidates, exits)
    candidates = promote_first_stop(table, candidates)
    candidates = place_untold(parsed, candidates, exits)
    candidates = blame_who_met_it_alone(parsed, candidates)
    candidates = blame_no_rank_for_its_machine(parsed, blame_nobody_for_a_shared_object(candidates))
    return tuple(promote_silent_exits(parsed, candidates, exits))
