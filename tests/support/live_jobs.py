"""Made-up jobs that run: lines in the words of real ones, fed to a live job by a virtual clock."""

from collections.abc import Callable, Mapping

from core.job import Manifest
from core.live.findings import LiveFinding
from core.live.job import LiveJob

RANKS = 4
START = 1_000_000.0


def manifest(ranks: int = RANKS, **more: object) -> Manifest:
    nodes = tuple(f"node-{number:02}" for number in range(ranks // 2))
    of_nodes = {node: (2 * place, 2 * place + 1) for place, node in enumerate(nodes)}
    return Manifest("j", nodes=nodes, world_size=ranks, node_ranks=of_nodes, **more)  # type: ignore[arg-type]


def step(rank: int, iteration: int) -> bytes:
    return b"[rank%d] iteration %d timers (ms): forward-compute: 12.5\n" % (rank, iteration)


class Story:
    """A job of some ranks, second by second; what is said of it is in ``findings``."""

    def __init__(self, **more: object) -> None:
        self.live = LiveJob(manifest(**more), year=2026)  # type: ignore[arg-type]
        self.now = START
        self.iteration = 0
        self.findings: list[LiveFinding] = []

    def say(self, **lines: bytes) -> None:
        """Lines of ranks (``r0``) or of other files, in this second."""
        news = {_file(name): text for name, text in lines.items()}
        self.live.hear(news, self.now)

    def wait(self, seconds: float, each: Callable[["Story"], Mapping[str, bytes]] = lambda _: {}) -> None:
        """Let time go by; ``each`` gives what is said in every second."""
        for _ in range(round(seconds)):
            self.now += 1.0
            self.say(**each(self))
            self.findings += self.live.look(self.now)

    def train(self, seconds: float, ranks: tuple[int, ...] = tuple(range(RANKS))) -> None:
        """An iteration a second, that these ranks tell."""

        def told(story: "Story") -> Mapping[str, bytes]:
            story.iteration += 1
            return {f"r{rank}": step(rank, story.iteration) for rank in ranks}

        self.wait(seconds, told)

    def kinds(self) -> list[str]:
        return [str(finding.kind) for finding in self.findings]


def _file(name: str) -> str:
    return f"logs/rank_{name[1:]}.log" if name[1:].isdigit() else f"logs/{name}.log"
