"""Which node runs with another setting, where the ranks did not do the same."""

from core.job import Job
from tests.support.jobs import at, four_nodes, lost, raised, signs_of

# gloo/transport/tcp/pair.cc of PyTorch 2.13, as libstdc++ prints it
SIZES = (
    "terminate called after throwing an instance of 'gloo::EnforceNotMet'",
    "  what():  [enforce fail at /gloo/transport/tcp/pair.cc:456] op.preamble.length <= op.nbytes. 3072 vs 2048. ",
)


def config(hidden: int, rate: float = 0.1) -> str:
    return at(0, f"config /srv/run.toml: {{'model': {{'feats': 24, 'hidden': {hidden}}}, 'rate': {rate}}}")


def odd(one: Job) -> list[str]:
    return [sign.because for sign in signs_of(one) if "runs with" in sign.because]


def test_the_only_node_with_another_value_is_told() -> None:
    """Whoever gets its message first is the one that complains."""
    says = {n: [config(48 if n == 2 else 32), *(SIZES if n == 0 else lost(0))] for n in range(4)}

    assert odd(four_nodes(says)) == ["node-2 runs with hidden=48, 3 others with hidden=32."]


def test_values_that_each_has_for_itself_tell_nothing() -> None:
    """And where nobody says that the ranks did different things, settings may differ."""
    apart = {n: [config(32 + n), *(SIZES if n == 0 else lost(0))] for n in range(4)}
    healthy = {n: [config(48 if n == 2 else 32), *lost(0)] for n in range(4)}

    assert odd(four_nodes(apart)) == []
    assert odd(four_nodes(healthy)) == []


def test_processes_that_never_met_were_told_of_other_numbers_of_them() -> None:
    """One waits for a process that does not exist, the others lose it: by what ``set -x`` prints, or a greeting."""
    says = {n: [at(0, f"+ WORLD_SIZE={5 if n == 2 else 4}"), *lost(2)] for n in range(4)}

    assert odd(four_nodes(says)) == ["node-2 runs with WORLD_SIZE=5, 3 others with WORLD_SIZE=4."]


def test_an_exception_that_stops_the_only_node_with_another_value_is_of_that_value() -> None:
    """A setting behind another name ("config: dim=48") is read; one of a node that went on is not to blame."""
    greet = {n: at(0, f"config: dim={48 if n == 2 else 64} batch=128 seed={n}") for n in range(4)}
    shape = raised("RuntimeError: The size of tensor a (48) must match the size of tensor b (64)")
    its_own = {n: [greet[n], *(shape if n == 2 else lost(2))] for n in range(4)}
    of_another = {n: [greet[n], *(shape if n == 1 else lost(1))] for n in range(4)}

    assert odd(four_nodes(its_own)) == ["node-2 runs with dim=48, 3 others with dim=64."]
    assert odd(four_nodes(of_another)) == []
