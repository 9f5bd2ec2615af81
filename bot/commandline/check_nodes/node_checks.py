"""What a person wants of ``firstfault check-nodes``: which checks, on which nodes, how many of them at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bot.commandline.check_nodes.node_file import fabrics_of
from bot.commandline.check_nodes.pairs import MOST_FOR_ALL, PairSettings
from bot.commandline.check_nodes.run import Node, NodeRunner
from bot.commandline.check_nodes.verdicts import VERDICTS
from core.checks.catalogue import Check, catalogue, read_catalogue
from core.checks.check_verdict import CheckOutcome
from core.errors import BadSettings
from sources.named_files import read_given

PAIRS, ALL_PAIRS, BITS = "pairs", "all-pairs", "bits"
OWN = (PAIRS, ALL_PAIRS, BITS)
FEW, SHARE = 2, 0.1  # nodes that are busy with checks at a time, as those that are taken out at a time
SO_FEW = 8  # nodes of which all pairs are run: 28 at most, and no link stays unseen
CATALOGUE_BYTES = 1 << 20  # a catalogue of a thousand checks

Results = dict[str, dict[str, tuple[CheckOutcome, str]]]  # by check and node


@dataclass(frozen=True, slots=True)
class NodeChecks:
    """Which checks on which nodes.

    names: of checks, empty for all. heavy: those that take a node for long too. at_once: nodes that are busy with
    checks at a time; None for two, or a tenth of them where that is more. site: a site's own catalogue. verdicts: files
    of what schedulers say.
    """

    nodes: tuple[Node, ...]
    runner: NodeRunner
    names: tuple[str, ...] = ()
    heavy: bool = False
    how: PairSettings = field(default_factory=PairSettings)
    at_once: int | None = None
    site: Path | None = None
    verdicts: tuple[Path, ...] = ()

    @property
    def side_by_side(self) -> int:
        """How many nodes are busy with checks at a time; what may run beside a job is not counted."""
        return self.at_once or max(FEW, int(SHARE * len(self.nodes)))

    @property
    def meets_all(self) -> bool:
        """Whether ``pairs`` are all pairs."""
        return len(self.nodes) <= SO_FEW


@dataclass(frozen=True, slots=True)
class Chosen:
    """Checks of catalogues, those of our own by name, and whether schedulers are asked."""

    checks: tuple[Check, ...]
    own: tuple[str, ...]
    verdicts: bool


def chosen(wanted: NodeChecks) -> Chosen:
    """What is to be run, in its order: what we know, the site's own checks, pairs, bits. Raises BadSettings."""
    ours = catalogue()
    site = _of_site(wanted.site, {check.name for check in ours} | {*OWN, VERDICTS})
    known = (*ours, *site)
    usual = {check.name for check in known} | {PAIRS, BITS, VERDICTS}
    names = usual | {ALL_PAIRS}
    if strange := sorted(set(wanted.names) - names):
        raise BadSettings(f"There is no check {strange[0]}.", f"There are: {', '.join(sorted(names))}.")
    asked = set(wanted.names) or usual
    if ALL_PAIRS in asked and len(wanted.nodes) > MOST_FOR_ALL:
        raise BadSettings(f"All pairs are for {MOST_FOR_ALL} nodes at most.", "Name the nodes of one suspect group.")
    if wanted.how.backend != "gloo" and fabrics_of(wanted.nodes) != ("",):
        raise BadSettings(
            "Fabrics are told apart by the addresses that gloo binds to; nccl chooses its own.",
            "Name one address a node, and let NCCL_SOCKET_IFNAME or NCCL_IB_HCA choose.",
        )
    checks = tuple(check for check in known if check.name in asked and (wanted.heavy or check.load != "heavy"))
    return Chosen(checks, tuple(name for name in OWN if name in asked), VERDICTS in asked)


def _of_site(path: Path | None, taken: set[str]) -> Sequence[Check]:
    if path is None:
        return ()
    if not path.is_absolute():
        raise BadSettings(f"FIRSTFAULT_CHECKS is {path}, which begins in the working directory.", "Name it from / on.")
    try:
        text = read_given(path, CATALOGUE_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"The checks in {path} cannot be read: {error}.", "Repair FIRSTFAULT_CHECKS.") from error
    found = read_catalogue(text, str(path))
    if same := next((check.name for check in found if check.name in taken), None):
        raise BadSettings(f"{path} has a check called {same}, which is there already.", "Give it another name.")
    return found
