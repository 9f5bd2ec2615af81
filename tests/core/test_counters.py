"""Numbers that name a node."""

from core.nodes.counters import collective_signs, counter_signs
from core.parsed import Parsed, parse_job
from tests.support.jobs import job


def parsed(files: dict[str, str], **manifest: object) -> Parsed:
    return parse_job(job(dict(files), **manifest), [], cache=None, workers=1, progress=None)


def stats(errors: list[int]) -> str:
    """What ``ethtool -S`` prints of one counter, again and again."""
    return "".join(f"     rx_crc_errors_phy: {n}\n" for n in errors)


def test_a_counter_that_rises_on_one_node_names_it() -> None:
    """A node whose errors grow ten times beyond those of its peers is pointed to, with the numbers."""
    node = parsed({f"node-{n}/ethtool.log": stats([1, 20, 40 if n else 800]) for n in range(4)})

    (sign,) = counter_signs(node)

    assert sign.node == "node-0"
    assert sign.because == "On node-0 rx_crc_errors_phy rose to 800; on the other nodes to 40 at most."


def test_counters_that_rise_everywhere_name_nobody() -> None:
    """Counters of healthy nodes differ by less than three times."""
    node = parsed({f"node-{n}/ethtool.log": stats([0, 100 + 60 * n]) for n in range(4)})

    assert counter_signs(node) == []


def test_a_rank_that_is_behind_in_collectives_is_named() -> None:
    """Of watchdogs that report different last collectives, the smallest number is the one that is waited for."""
    line = "[rank{r}]: watchdog: last enqueued work: 50, last completed work: {done}\n"
    files = {f"node-{r}/rank_{r}.log": line.format(r=r, done=47 if r == 2 else 49) for r in range(4)}
    node = parsed(files, node_ranks={f"node-{r}": [r] for r in range(4)})

    (sign,) = collective_signs(node, {rank: f"node-{rank}" for rank in range(4)})

    assert sign.node == "node-2"
    assert "rank 2 completed collective 47; the others reached 49" in sign.because


def test_equal_collectives_name_nobody() -> None:
    """When every rank completed the same collective, nobody is behind."""
    files = {f"node-{r}/rank_{r}.log": "last enqueued work: 5, last completed work: 5\n" for r in range(4)}
    node = parsed(files)

    assert collective_signs(node, {r: f"node-{r}" for r in range(4)}) == []


def collectives(rank: int, group: str, enqueued: int, completed: int) -> str:
    """What the watchdog of a rank tells of a process group."""
    prefix = f"[PG ID 0 PG GUID {group}(default_pg) Rank {rank}]"
    counts = f"last enqueued work: {enqueued}, last completed work: {completed}"
    return f"[rank{rank}]: {prefix}  failure detected by watchdog at work sequence id: 49 PG status: {counts}\n"


def test_a_rank_that_never_began_the_collective_is_named() -> None:
    """Who has nothing under way is waited for, where the others are all in the collective behind its last one."""
    files = {f"node-{r}/rank_{r}.log": collectives(r, "0", 48 if r == 2 else 50, 48) for r in range(4)}
    node = parsed(files, node_ranks={f"node-{r}": [r] for r in range(4)})

    (sign,) = collective_signs(node, {rank: f"node-{rank}" for rank in range(4)})

    assert sign.node == "node-2"
    assert sign.because == "rank 2 began no collective after 48; 3 others waited in the next."


def test_each_process_group_counts_its_own_collectives() -> None:
    """Ranks of two groups that are each at the same collective are not behind one another."""
    files = {f"node-{r}/rank_{r}.log": collectives(r, str(r // 2), 50 + r // 2, 49 + r // 2) for r in range(4)}
    node = parsed(files, node_ranks={f"node-{r}": [r] for r in range(4)})

    assert collective_signs(node, {rank: f"node-{rank}" for rank in range(4)}) == []
