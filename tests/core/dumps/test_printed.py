"""Stacks that processes print into their own logs."""

from core.diagnose import diagnose
from core.model import Scope
from tests.support.jobs import at, job, lines

HEAD = ("Timeout (0:00:20)!", "Thread 0x00007f222000ab80 (most recent call first):")
WAITS = (
    '  File "ring.py", line 32 in recv_exact',
    '  File "ring.py", line 40 in allreduce',
    '  File "ring.py", line 54 in <module>',
)
READS = ('  File "ring.py", line 46 in next_chunk', '  File "ring.py", line 51 in <module>')


def test_a_node_whose_ranks_nobody_tells_stands_apart_by_its_stack() -> None:
    """A home-made all-reduce is communication by its name; who stands elsewhere is waited for."""
    said = {
        f"e2-n{n}.log": lines(
            *(at(step, f"host=e2-n{n} upd {step} mse 0.{step}") for step in range(1, 20)),
            *HEAD,
            *(READS if n == 3 else WAITS),
        )
        for n in range(4)
    }
    found = diagnose(job(said), [])

    assert (found.scope, [one.node for one in found.nodes]) == (Scope.NODE, ["e2-n3"])
    assert "next_chunk" in found.headline
