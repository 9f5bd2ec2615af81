"""Groups of settings: jobs of a group may be compared. Each has its program, launcher and log layout."""

from dataclasses import dataclass

from lab.layout import LAYOUTS, Layout

# What a program has, as far as a fault asks for it.
GRADS = "grads"  # gradients that a fault may change, checked before they are averaged
EVALUATION = "evaluation"
SAVES = "saves"  # writes checkpoints
RANK_FILES = "rank files"  # writes a file of known name on every rank
RESUMES = "resumes"
TELLS_SAVES = "tells saves"  # every rank says that it has written its file
TIMERS = "timers"  # every rank says how long it read, computed and waited


@dataclass(frozen=True, slots=True)
class Program:
    """A training program of lab/programs."""

    script: str
    model: str
    framework: str
    config: dict[str, object]  # its config.json
    has: frozenset[str] = frozenset()
    modules: tuple[str, ...] = ()  # that it needs besides torch


MEGALITE = Program(
    "pretrain_gpt.py", "gpt-tiny-tp", "megalite 0.10.1",
    {"model": {"hidden_size": 64, "ffn_hidden_size": 256, "num_layers": 2, "seq_length": 64}},
    frozenset({GRADS, EVALUATION, SAVES, RANK_FILES, RESUMES, TELLS_SAVES}),
)  # fmt: skip
PLAIN = Program(
    "train_lm.py", "mlp-lm", "torch", {"hidden": 96, "layers": 2, "length": 48},
    frozenset({GRADS, EVALUATION, SAVES, RANK_FILES, RESUMES}),
)  # fmt: skip
TRAINER = Program(
    "run_clm.py", "llama-tiny", "transformers", {"hidden_size": 64}, frozenset({EVALUATION, SAVES, RESUMES}),
    ("transformers",),
)  # fmt: skip
TINY: dict[str, object] = {"hidden": 64, "layers": 2, "length": 48}  # chosen: small, for a busy CPU
LIGHTNING = Program("train_lightning.py", "tinylm", "lightning", TINY, modules=("lightning",))
ACCELERATE = Program("train_accelerate.py", "tinylm", "accelerate", TINY, modules=("accelerate",))
TITAN = Program("train_titan.py", "tinylm", "torch FSDP2", TINY, frozenset({SAVES}))
DEEPSPEED = Program("train_deepspeed.py", "tinylm", "deepspeed", TINY, frozenset({SAVES}), ("deepspeed",))
PIPELINE = Program("train_pipeline.py", "tinylm-pp4", "torch", TINY)
STRUCTLOG = Program(
    "train_structlog.py", "tinylm", "torch", TINY, frozenset({GRADS, SAVES, RANK_FILES, TELLS_SAVES}), ("structlog",)
)
LOGURU = Program(
    "train_loguru.py", "tinylm", "torch", TINY,
    frozenset({GRADS, SAVES, RANK_FILES, TELLS_SAVES, TIMERS}), ("loguru",),
)  # fmt: skip

DIRECT, TORCHRUN, SLURM, SUPERVISORD = "direct", "torchrun", "slurm", "supervisord"


@dataclass(frozen=True, slots=True)
class Settings:
    """One group."""

    name: str
    program: Program
    launcher: str  # who starts the ranks: nobody who logs (direct), torchrun, Slurm's srun, supervisord
    layout: Layout
    nodes: tuple[str, ...]
    per_node: int  # ranks
    iterations: int = 60
    noise: tuple[str, ...] = ()
    static: bool = False  # torchrun without a rendezvous: node ranks are given
    tee: str = ""  # torchrun prints what its workers say, with this role's name in front
    verbose: bool = False  # torch's own C++ log
    stacks: bool = False  # stacks are printed when a rank is told to end

    @property
    def world(self) -> int:
        """Number of ranks."""
        return len(self.nodes) * self.per_node

    def ranks(self, node: str) -> tuple[int, ...]:
        """Global ranks of a node."""
        first = self.nodes.index(node) * self.per_node
        return tuple(range(first, first + self.per_node))

    def node_of(self, rank: int) -> str:
        """Where a global rank runs; empty for a number that is none."""
        return self.nodes[rank // self.per_node] if 0 <= rank < self.world else ""


def _names(form: str, count: int, first: int = 0) -> tuple[str, ...]:
    return tuple(form.format(first + index) for index in range(count))


SETTINGS = {
    settings.name: settings
    for settings in (
        Settings(
            "mega-tp2-srun", MEGALITE, SLURM, LAYOUTS["output"], _names("gpu{:03d}", 4, 17), 2,
            noise=("metrics", "deprecation", "slow"),
        ),
        Settings(
            "plain-torchrun", PLAIN, TORCHRUN, LAYOUTS["folders"], _names("tr-{:02d}", 4, 1), 1,
            noise=("metrics", "sensors", "retry", "slow"), verbose=True,
        ),
        Settings(
            "mega-pods", MEGALITE, TORCHRUN, LAYOUTS["pods"], _names("worker-{}", 4), 1, static=True, tee="default",
            noise=("deprecation", "retry"),
        ),
        Settings(
            "plain-ranks", PLAIN, DIRECT, LAYOUTS["ranks"], _names("c{:02d}n04", 4, 3), 1,
            noise=("sensors", "slow", "deprecation"), stacks=True,
        ),
        Settings(
            "trainer-nodes", TRAINER, TORCHRUN, LAYOUTS["folders"], _names("ml-{:d}", 3, 5), 1, static=True,
            noise=("metrics", "deprecation", "slow"),
        ),
        Settings(
            "mega-tee", MEGALITE, TORCHRUN, LAYOUTS["nodes"], _names("hgx-{}", 3, 41), 2, static=True, tee="rank",
            noise=("metrics", "slow"), verbose=True,
        ),
        Settings(
            "lightning-srun", LIGHTNING, SLURM, LAYOUTS["tasks"], _names("nid{:06d}", 4, 3301), 1,
            noise=("slow", "deprecation"),
        ),
        Settings(
            "accelerate-journal", ACCELERATE, TORCHRUN, LAYOUTS["journal"], _names("train-bj-{:02d}", 3, 1), 1,
            static=True, noise=("slow", "retry"),
        ),
        Settings(
            "titan-nodes", TITAN, TORCHRUN, LAYOUTS["nodes"], _names("c4-n{}", 3, 101), 2, static=True, tee="rank",
            noise=("slow",),
        ),
        Settings(
            "deepspeed-nodes", DEEPSPEED, TORCHRUN, LAYOUTS["nodes"], _names("dgx-a{:02d}", 3, 1), 1, static=True,
            tee="default", noise=("slow", "metrics"),
        ),
        Settings(
            "structlog-docker", STRUCTLOG, DIRECT, LAYOUTS["docker"], _names("bert-worker-{}", 4), 1, noise=("slow",),
        ),
        Settings(
            "loguru-srun", LOGURU, SLURM, LAYOUTS["output"], _names("kn-{:03d}", 4, 7), 1, noise=("slow", "retry"),
        ),
        Settings(
            "loguru-ranks", LOGURU, DIRECT, LAYOUTS["ranks"], _names("rome-{:02d}", 4, 4), 1, noise=("slow",),
        ),
        Settings("pipeline-nodes", PIPELINE, DIRECT, LAYOUTS["node ranks"], _names("a100-{:02d}", 4, 1), 2),
        Settings(
            "plain-supervisord", PLAIN, SUPERVISORD, LAYOUTS["supervisord"], _names("edge-tr-{}", 3, 1), 1,
            noise=("metrics", "slow"),
        ),
    )
}  # fmt: skip
