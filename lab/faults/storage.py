"""Disks and files: full, read-only, corrupt, missing, cut off, too many open."""

import os
import shutil

from lab.model import NETNS, Fault, Site, Trace
from lab.settings import EVALUATION, MEGALITE, RANK_FILES, RESUMES, SAVES, TRAINER, Settings

BAD_BYTES = b'{"text": "the \xff\xfe\xfd loss"}\n'
SMALL_DISK = "mount -t tmpfs -o size=200k tmpfs {folder}"
READ_ONLY = "mount --bind {shared} {folder} && mount -o remount,ro,bind {folder}"
SAVE_EVERY = 25  # iterations, as the programs do
LAST_SAVE = 50  # iterations: the second save of the programs' run
LOADER_S = "6"  # until a data loader gives up
OPEN_FILES = 140  # a rank needs some hundred
SPILL = """import tempfile
self.spill = [*getattr(self, "spill", []), *(tempfile.TemporaryFile() for _ in range(3))]"""

NOT_WRITTEN = r"No space left on device|enforce fail at inline_container|iostream error"
NOT_READ = r"PytorchStreamReader failed|EOFError|UnpicklingError"


def _mount_checkpoints(site: Site, node: str, command: str) -> None:
    """The node gets a checkpoint folder of its own, and a mount there."""
    folder = site.home(node) / "ckpt"
    folder.unlink()
    folder.mkdir()
    site.at(node).mounts.append(command.format(folder=folder, shared=site.checkpoints))


def _small_disk(site: Site) -> None:
    _mount_checkpoints(site, site.plan.node, SMALL_DISK)


def _read_only(site: Site) -> None:
    _mount_checkpoints(site, site.plan.node, READ_ONLY)


def _read_only_everywhere(site: Site) -> None:
    for node in site.settings.nodes:
        _mount_checkpoints(site, node, READ_ONLY)


def _cut_checkpoint(site: Site) -> None:
    for path in site.checkpoints.rglob("*.pt"):
        os.truncate(path, path.stat().st_size // 2)


def pipe_in_place(site: Site) -> None:
    """A file that never opens: the rank hangs in the kernel, as on a dead file server."""
    for iteration in range(SAVE_EVERY, LAST_SAVE + 1, SAVE_EVERY):
        path = site.checkpoint_file(iteration)
        path.parent.mkdir(parents=True)
        os.mkfifo(path)


def _bad_shard(site: Site) -> None:
    second = site.shards()[1]
    lines = second.read_bytes().splitlines(keepends=True)
    second.write_bytes(b"".join([*lines[:30], BAD_BYTES, *lines[31:]]))


def _missing_shard(site: Site) -> None:
    site.shards()[1].unlink()


def stalled_shard(site: Site) -> None:
    """A shard that never opens."""
    second = site.shards()[1]
    second.unlink()
    os.mkfifo(second)


def _loader_gives_up(site: Site) -> None:
    """Such a shard, and data loaders that do not wait for ever."""
    stalled_shard(site)
    site.argue("--dataloader-timeout" if site.settings.program is MEGALITE else "--loader-timeout", LOADER_S)


def _no_data(site: Site) -> None:
    shutil.rmtree(site.home() / "data")


def _cut_tokenizer(site: Site) -> None:
    for node in site.settings.nodes:
        path = site.home(node) / "data" / "tokenizer.json"
        os.truncate(path, path.stat().st_size * 2 // 3)


def _other_field(site: Site) -> None:
    for node in site.settings.nodes:
        for path in (site.home(node) / "data").glob("valid-*.jsonl"):
            path.write_text('{"txt": "the loss"}\n', encoding="utf-8")


def _few_files(site: Site) -> None:
    site.node.shell.append(f"ulimit -n {OPEN_FILES}")


def _saves(settings: Settings) -> bool:
    return SAVES in settings.program.has


def writes_files(settings: Settings) -> bool:
    """Every rank writes a file of known name."""
    return RANK_FILES in settings.program.has


def _resumes(settings: Settings) -> bool:
    return {RESUMES, RANK_FILES} <= settings.program.has


def _evaluates(settings: Settings) -> bool:
    return EVALUATION in settings.program.has


def _has_loader_timeout(settings: Settings) -> bool:
    return settings.program is not TRAINER


STORAGE = (
    Fault(
        "disk_full", "the checkpoint disk of {node} was full",
        "hardware", "storage fault", "node", "checkpoint saving",
        (Trace("the checkpoint could not be written", NOT_WRITTEN),),
        prepare=_small_disk, needs=frozenset({NETNS}), suits=writes_files,
    ),
    Fault(
        "checkpoint_readonly_node", "the checkpoint folder was read-only on {node}",
        "platform", "file system", "node", "checkpoint saving",
        (Trace("the checkpoint folder is read-only", r"Read-only file system"),),
        prepare=_read_only, needs=frozenset({NETNS}), suits=writes_files,
    ),
    Fault(
        "checkpoint_readonly", "the checkpoint folder was read-only on every node",
        "user", "misoperation", "job", "checkpoint saving",
        (Trace("the checkpoint folder is read-only", r"Read-only file system", anywhere=True),),
        prepare=_read_only_everywhere, needs=frozenset({NETNS}), suits=_saves,
    ),
    Fault(
        "corrupt_checkpoint", "the checkpoint that the job resumes from is truncated",
        "platform", "file system", "job", "checkpoint loading",
        (Trace("the checkpoint cannot be read", NOT_READ, anywhere=True),),
        prepare=_cut_checkpoint, resume=True, suits=_resumes,
    ),
    Fault(
        "checkpoint_hang", "rank {rank} never finished writing its checkpoint",
        "hardware", "storage fault", "node", "checkpoint saving",
        prepare=pipe_in_place, guilty_rank=True, suits=writes_files,
    ),
    Fault(
        "bad_data_shard", "a shard on {node} holds bytes that are no text",
        "user", "data error", "node", "training",
        (Trace("the data loader met a broken shard", r"UnicodeDecodeError"),),
        prepare=_bad_shard, guilty_rank=True,
    ),
    Fault(
        "missing_data_file", "a shard is missing on {node}",
        "user", "data error", "node", "training",
        (Trace("a file is not there", r"FileNotFoundError"),),
        prepare=_missing_shard, guilty_rank=True,
    ),
    Fault(
        "dataloader_timeout", "a shard of {node} could not be opened; the data loader gave up waiting",
        "hardware", "storage fault", "node", "training",
        (Trace("the data loader gave up", r"DataLoader timed out after [\d.]+ seconds"),),
        prepare=_loader_gives_up, guilty_rank=True, suits=_has_loader_timeout,
    ),
    Fault(
        "data_not_mounted", "the data folder is missing on {node}",
        "platform", "file system", "node", "data loading",
        (Trace("a file is not there", r"FileNotFoundError"),),
        prepare=_no_data,
    ),
    Fault(
        "tokenizer_truncated", "the tokenizer file is cut off on every node",
        "user", "data error", "job", "data loading",
        (Trace("the tokenizer cannot be read", r"JSONDecodeError", anywhere=True),),
        prepare=_cut_tokenizer,
    ),
    Fault(
        "evaluation_crash", "the validation shards have no field `text`",
        "user", "data error", "job", "evaluation",
        (Trace("the validation data do not fit", r"KeyError: 'text'", anywhere=True),),
        prepare=_other_field, suits=_evaluates,
    ),
    Fault(
        "too_many_open_files", "the data loader of {node} ran out of file descriptors",
        "platform", "limits", "node", "training",
        (Trace("too many open files", r"Too many open files"),),
        prepare=_few_files, code=(("sample", SPILL),), needs=frozenset({NETNS}),
    ),
)  # fmt: skip
