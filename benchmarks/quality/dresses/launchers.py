"""Labels of launchers that print for many processes: ``srun --label``, pdsh, Ray's driver.

None of them prints again what another one has labelled for all nodes.
"""

from collections.abc import Iterator

from benchmarks.quality.dresses.outfit import Outfit, outfit
from benchmarks.quality.dresses.put_on import WrappedLine, of_node, together
from benchmarks.quality.dresses.wearer import Wearer


def srun(wearer: Wearer) -> Outfit | None:
    """``srun --label``: the number of the task, one a node with torchrun and one a rank without."""
    if wearer.shared:
        return None
    trained = [stream for streams in wearer.by_node.values() for stream in streams]
    per_rank = all(stream.rank is not None and "attempt_" not in stream.name for stream in trained)
    tasks = max(wearer.manifest.world_size or 0, len(wearer.nodes)) if per_rank else len(wearer.nodes)
    width = len(str(tasks - 1))

    def shim(line: WrappedLine) -> Iterator[bytes]:
        task = line.stream.rank if per_rank else wearer.nodes.index(line.node)
        yield (b"" if task is None else b"%*d: " % (width, task)) + line.text

    return together(wearer, "logs/slurm-4711.out", shim)


def pdsh(wearer: Wearer) -> Outfit | None:
    """``pdsh -w node-[00-03]``, which DeepSpeed uses too: the host before each line."""
    return None if wearer.shared else together(wearer, "logs/pdsh.log", _hosted)


def _hosted(line: WrappedLine) -> Iterator[bytes]:
    yield line.node.encode() + b": " + line.text


def ray(wearer: Wearer) -> Outfit | None:
    """Ray's driver, with RAY_DEDUP_LOGS=0: the actor and, but for those beside the driver, its address."""
    addresses = {node: found[0] for node, found in wearer.manifest.node_addresses.items() if found}
    actors = [stream for streams in wearer.by_node.values() for stream in streams if stream.rank is not None]
    if not actors or wearer.shared or any(stream.node not in addresses for stream in actors):
        return None
    names = {stream.name for stream in actors}
    lines = [line for node in wearer.by_node for line in of_node(wearer, node) if line.stream.name in names]
    pieces = [
        (b"(RayTrainWorker %s) " % _process(line, wearer.nodes[0], addresses) + line.spoken.text, line.spoken.place)
        for line in sorted(lines, key=lambda line: line.time)
    ]
    kept = {name: content for name, content in wearer.files.items() if name not in names}
    return outfit(kept, {"logs/driver.log": pieces})


def _process(line: WrappedLine, head: str, addresses: dict[str, str]) -> bytes:
    pid = f"pid={2400 + 7 * (line.stream.rank or 0)}"
    return (pid if line.node == head else f"{pid}, ip={addresses[line.node]}").encode()
