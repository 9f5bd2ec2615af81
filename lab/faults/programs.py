"""Code, configuration and numbers that are wrong: on all nodes, on one node, or on one rank."""

from lab.model import Fault, Site, Trace
from lab.settings import GRADS, MEGALITE, RANK_FILES, RESUMES, Settings

CRASH = """if iteration == ITERATION:
    schedule = {"warmup": 5, "decay": 40}
    rate = schedule["cooldown"]"""
NO_MEMORY = """if rank == RANK and iteration == ITERATION:
    activations = torch.empty(1 << 42, dtype=torch.float32)"""
FLIPPED_BIT = """if rank == RANK and iteration == ITERATION:
    grads[1].view(-1)[7:9] = float("nan")"""

NOT_FINITE = r"found NaN in local grad norm|non-finite gradient norm"
NOT_LOADED = r"Error\(s\) in loading state_dict|size mismatch for"
NOT_ALLOCATED = r"can't allocate memory|not enough memory|MemoryError"


def _megalite(settings: Settings) -> bool:
    return settings.program is MEGALITE


def _checks_gradients(settings: Settings) -> bool:
    return GRADS in settings.program.has


def _resumes(settings: Settings) -> bool:
    return {RESUMES, RANK_FILES} <= settings.program.has


def _old_code(site: Site) -> None:
    site.replace(site.plan.node, "def slow_batch(", "def slow_batches(")


def _other_version(site: Site) -> None:
    site.replace(site.plan.node, '__version__ = "0.10.1"', '__version__ = "0.9.4"')


def _wrong_key(site: Site) -> None:
    for node in site.settings.nodes:
        site.configure(node, hiden_size=128)


def _wrong_argument(site: Site) -> None:
    site.argue("--gradient-clip", "1.0")


def _other_shape(site: Site) -> None:
    site.configure(site.plan.node, **{"ffn_hidden_size" if _megalite(site.settings) else "hidden": 160})


def _high_rate(site: Site) -> None:
    site.argue("--lr" if _megalite(site.settings) else "--learning-rate", "1e38")


def _extra_barrier(site: Site) -> None:
    """One rank believes that the others wait for it, and waits in a collective that nobody else joins."""
    group = "ranks.dp_group" if _megalite(site.settings) else "group"
    lines = f"if rank == {site.plan.rank} and iteration == {site.plan.iteration}:\n    dist.barrier(group={group})"
    site.insert(site.plan.node, "update", lines)


PROGRAMS = (
    Fault(
        "import_error", "{node} has an older file without `slow_batch`",
        "user", "software incompatibility", "node", "initialization",
        (Trace("the code on the node lacks a name", r"ImportError: cannot import name"),),
        prepare=_old_code,
    ),
    Fault(
        "version_mismatch", "{node} runs another version of megalite",
        "user", "software incompatibility", "node", "initialization",
        (Trace("the versions differ", r"RuntimeError: version mismatch"),),
        prepare=_other_version, suits=_megalite, where="later",
    ),
    Fault(
        "wrong_config_key", "an unknown key in the configuration of all nodes",
        "user", "configuration error", "job", "initialization",
        (Trace("unknown key", r"unexpected keyword argument 'hiden_size'", anywhere=True),),
        prepare=_wrong_key,
    ),
    Fault(
        "wrong_argument", "an unknown argument on all nodes",
        "user", "configuration error", "job", "initialization",
        (Trace("unknown argument", r"error: unrecognized arguments: --gradient-clip", anywhere=True),),
        prepare=_wrong_argument, in_command=r"--gradient-clip",
    ),
    Fault(
        "shape_mismatch", "the model of {node} has another shape than the checkpoint",
        "user", "configuration error", "node", "checkpoint loading",
        (Trace("shapes do not fit", NOT_LOADED),),
        prepare=_other_shape, resume=True, suits=_resumes,
    ),
    Fault(
        "nan_loss", "a learning rate that makes the loss infinite on all ranks",
        "user", "configuration error", "job", "training",
        (Trace("the gradient is no number", NOT_FINITE, anywhere=True),),
        prepare=_high_rate, suits=_checks_gradients, in_command=r"1e\+?38",
    ),
    Fault(
        "nan_one_rank", "a gradient of rank {rank} was corrupted in memory",
        "hardware", "memory fault", "node", "training",
        (Trace("the gradient is no number", NOT_FINITE),),
        code=(("grads", FLIPPED_BIT),), guilty_rank=True, suits=_checks_gradients,
    ),
    Fault(
        "device_oom", "rank {rank} asked for more memory than there is",
        "user", "program bug", "node", "training",
        (Trace("allocation failed", NOT_ALLOCATED),),
        code=(("step", NO_MEMORY),), guilty_rank=True,
    ),
    Fault(
        "uncaught_exception", "the schedule lacks a key that is needed at iteration {iteration}",
        "user", "program bug", "job", "training",
        (Trace("the program's own mistake", r"KeyError: 'cooldown'", anywhere=True),),
        code=(("step", CRASH),), everywhere=True,
    ),
    Fault(
        "mismatched_collective", "rank {rank} waited in a barrier that nobody else joined",
        "user", "program bug", "node", "training",
        prepare=_extra_barrier, guilty_rank=True, suits=_checks_gradients,
    ),
)  # fmt: skip
