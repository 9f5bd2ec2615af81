"""All dresses by name, and whether the successful jobs beside a failed one wear them too.

They wear what the place does to all logs: wrappers, colours, labels. Another launcher's clean-up, other names and a
missing job.json are of the failed job alone.
"""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.quality.dresses import cleanup, colours, journal, launchers, loggers, runtimes, stores
from benchmarks.quality.dresses.outfit import MANIFEST, Outfit, outfit
from benchmarks.quality.dresses.wearer import Wearer
from benchmarks.quality.labels import Place
from benchmarks.quality.variations import new_names, renaming

PutOn = Callable[[Wearer], Outfit | None]  # None: nobody would wear it so


@dataclass(frozen=True, slots=True)
class Dress:
    """A dress. everywhere: successful jobs wear it too."""

    name: str
    put_on: PutOn
    everywhere: bool = True


def renamed(wearer: Wearer) -> Outfit | None:
    """Nodes and their addresses under other names, in paths, text and job.json (``variations.new_names``)."""
    names = new_names(wearer.case)
    if not names:
        return None
    rename = renaming(names)
    files, places = dict[str, bytes](), dict[Place, Place]()
    for name, content in wearer.files.items():
        files[rename(name)] = rename(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        places |= {(rename(name), line): (name, line) for line in range(1, content.count(b"\n") + 2)}
    return Outfit(files, places, rename)


def without_manifest(wearer: Wearer) -> Outfit:
    """job.json taken away, and nothing else: the successful jobs stay beside it."""
    return outfit({name: content for name, content in wearer.files.items() if name != MANIFEST}, {})


WARDROBE = (
    Dress("docker json-file", runtimes.docker),
    Dress("CRI", runtimes.cri),
    Dress("kubectl --timestamps", runtimes.kubectl_timestamps),
    Dress("kubectl --prefix", runtimes.kubectl_prefix),
    Dress("kubectl --prefix --timestamps", runtimes.kubectl_both),
    Dress("stern", runtimes.stern),
    Dress("journald short", journal.short),
    Dress("journald short-iso", journal.short_iso),
    Dress("journald export", journal.export),
    Dress("journald JSON", journal.as_json),
    Dress("Loki's answer", stores.loki),
    Dress("logcli", stores.logcli),
    Dress("logcli jsonl", stores.logcli_jsonl),
    Dress("Elastic ndjson", stores.elastic),
    Dress("OpenSearch's answer", stores.opensearch),
    Dress("aws logs tail", stores.cloudwatch_tail),
    Dress("CloudWatch's answer", stores.cloudwatch_json),
    Dress("JSON logger", loggers.json_logger),
    Dress("logfmt", loggers.logfmt),
    Dress("srun --label", launchers.srun),
    Dress("pdsh", launchers.pdsh),
    Dress("Ray", launchers.ray),
    Dress("rich's colours", colours.rich),
    Dress("loguru's colours", colours.loguru),
    Dress("torchtitan's colours", colours.torchtitan),
    Dress("links and titles", colours.links),
    Dress("clean-up by torchrun", cleanup.torchrun, everywhere=False),
    Dress("clean-up by DeepSpeed", cleanup.deepspeed, everywhere=False),
    Dress("clean-up by srun", cleanup.srun, everywhere=False),
    Dress("clean-up by mpirun", cleanup.mpirun, everywhere=False),
    Dress("clean-up by kubelet", cleanup.kubelet, everywhere=False),
    Dress("nodes renamed", renamed, everywhere=False),
    Dress("no job.json", without_manifest, everywhere=False),
)
BY_NAME = {dress.name: dress for dress in WARDROBE}
