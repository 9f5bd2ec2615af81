"""Groups of settings: jobs of a group may be compared. Each has its program, launcher and log layout."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Program:
    """A training program of lab/programs."""

    script: str
    model: str
    framework: str
    config: dict[str, object]  # its config.json
    own_loop: bool = True  # false: the training loop is a library's, and takes no faults of ours


MEGALITE = Program(
    "pretrain_gpt.py", "gpt-tiny-tp", "megalite 0.10.1",
    {"model": {"hidden_size": 64, "ffn_hidden_size": 256, "num_layers": 2, "seq_length": 64}},
)  # fmt: skip
PLAIN = Program("train_lm.py", "mlp-lm", "torch", {"hidden": 96, "layers": 2, "length": 48})
TRAINER = Program("run_clm.py", "llama-tiny", "transformers", {"hidden_size": 64}, own_loop=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """One group."""

    name: str
    program: Program
    launcher: str  # torchrun, direct
    layout: str  # folders: one a node; pods, ranks: a file each; output, tagged: one file for all ranks
    dialect: str  # slurm, kube, site: words of scheduler and daemon
    nodes: tuple[str, ...]
    per_node: int  # ranks
    iterations: int = 60
    noise: tuple[str, ...] = ()
    static: bool = False  # torchrun without a rendezvous: node ranks are given
    verbose: bool = False  # torch's own C++ log

    @property
    def world(self) -> int:
        """Number of ranks."""
        return len(self.nodes) * self.per_node

    def ranks(self, node: str) -> tuple[int, ...]:
        """Global ranks of a node."""
        first = self.nodes.index(node) * self.per_node
        return tuple(range(first, first + self.per_node))


def _names(form: str, count: int, first: int = 0) -> tuple[str, ...]:
    return tuple(form.format(first + index) for index in range(count))


SETTINGS = {
    settings.name: settings
    for settings in (
        Settings(
            "mega-tp2-srun", MEGALITE, "direct", "output", "slurm", _names("gpu{:03d}", 4, 17), 2,
            noise=("metrics", "deprecation", "slow"),
        ),
        Settings(
            "plain-torchrun", PLAIN, "torchrun", "folders", "site", _names("tr-{:02d}", 4, 1), 1,
            noise=("metrics", "sensors", "retry", "slow"), verbose=True,
        ),
        Settings(
            "mega-pods", MEGALITE, "torchrun", "pods", "kube", _names("worker-{}", 4), 1, static=True,
            noise=("deprecation", "retry"),
        ),
        Settings(
            "plain-ranks", PLAIN, "direct", "ranks", "slurm", _names("c{:02d}n04", 4, 3), 1,
            noise=("sensors", "slow", "deprecation"),
        ),
        Settings(
            "trainer-nodes", TRAINER, "torchrun", "folders", "kube", _names("ml-{:d}", 3, 5), 1, static=True,
            noise=("metrics", "deprecation", "slow"),
        ),
        Settings(
            "mega-tagged", MEGALITE, "direct", "tagged", "site", _names("hgx-{}", 3, 41), 2,
            noise=("metrics", "slow"), verbose=True,
        ),
    )
}  # fmt: skip
