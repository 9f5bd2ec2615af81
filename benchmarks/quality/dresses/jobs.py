"""The 24 jobs that are dressed, of as many kinds and stacks as there are, and the successful ones beside them."""

import json
import tarfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.dresses.outfit import Folder
from benchmarks.quality.labels import Truth, parse_truth

LAB = Path(__file__).parent.parent / "lab.tar.xz"
OTHER = Path(__file__).parent.parent / "other.tar.xz"

OF_LAB = (  # killed, hung, launcher killed, power lost, link down, wrong address, wrong size, NaN, out of memory, ...
    "f01", "f02", "f04", "f05", "f07", "f10", "f11", "f15", "f17", "f19", "f21", "f23", "f26", "f34", "f35", "f42",
)  # fmt: skip
OF_OTHERS = (
    "j01", "j03",  # pods with structlog: kubectl --timestamps, and the files of containerd
    "l01",  # Lightning under srun
    "p03",  # pipeline x data parallel, bare clocks
    "t01",  # torchtitan style, srun --label, torchrun --role, colours
    "u01", "u05",  # loguru
    "x01",  # loguru under srun --label
)  # fmt: skip
JOBS = (*OF_LAB, *OF_OTHERS)


@dataclass(frozen=True)
class Labelled:
    """Jobs as they are stored, failed and successful ones, and what really happened to them."""

    folders: Mapping[str, Folder]
    truths: Mapping[str, Truth]


def read_archives(*archives: Path) -> Labelled:
    """Unpack into memory: a few megabytes."""
    folders: dict[str, dict[str, bytes]] = defaultdict(dict)
    truths = {}
    for archive in archives or (LAB, OTHER):
        with tarfile.open(archive) as packed:
            for member in packed:
                kind, _, path = member.name.partition("/")
                content = packed.extractfile(member)
                if content is None:
                    continue
                if kind == "jobs":
                    job_id, _, name = path.partition("/")
                    folders[job_id][name] = content.read()
                else:
                    truth = parse_truth(json.loads(content.read()))
                    truths[truth.job_id] = truth
    return Labelled(dict(folders), truths)
