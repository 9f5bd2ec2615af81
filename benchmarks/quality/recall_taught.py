"""How well a library that was taught a few jobs knows their siblings: the same fault on other nodes and programs.

The first job of each cause teaches; with the seeds that is the library. A sibling is found when the team's pattern of
its cause is told first. A stranger is a failed job whose cause nobody taught. Causes are the kinds of the labels, with
the words of several labellers for the same cause put together.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from benchmarks.quality.recall_calibration import Told
from benchmarks.quality.recall_cases import RecallCase
from faultlib.pattern import Entry, Status

PAIRS = 3  # teachers of a cause whose pairs are counted: more would let the two largest causes decide
# Words of several labellers for the same cause. Those of the blind sets were put together by their names alone.
_SAME: Mapping[str, str] = {
    kind: name
    for name, kinds in {
        "checkpoint corrupt": "corrupt_checkpoint checkpoint_corrupt corrupted_checkpoint",
        "bad data": "bad_data_shard bad_data bad_data_file corrupt_data corrupt_data_file"
        " corrupt_data_shard corrupt_record corrupt_shard data_file_truncated bad_sample",
        "loader hang": "data_loader_hang dataloader_hang dataloader_stall data_loader_stall stuck_data_loader"
        " dataloader_deadlock data_iterator_hang",
        "data read hang": "stuck_data_read hang_reading_data",
        "loader worker killed": "dataloader_worker_killed worker_killed data_loader_killed data_worker_killed",
        "rank hang": "rank_sigstop_hang rank_frozen rank_hang host_stall hang_sigstop"
        " node_sigstop_hang worker_frozen node_hang rank_stuck_hang node_silent_hang"
        " pipeline_rank_hang node_silent node_unresponsive",
        "deadlock": "deadlock deadlock_in_code code_deadlock deadlock_user_code"
        " lock_deadlock thread_deadlock pipeline_deadlock",
        "lock": "stale_lock stuck_lock lock_wait stale_build_lock lock_hang lock_never_released stale_lock_hang",
        "link": "link_down link_loss network_drop link_silent_drop network_partition network_loss ib_link_down",
        "slow network": "slow_network slow_link slow_nic slow_network_card slow_network_unlocated",
        "slow loader": "slow_loader slow_dataloader slow_data_loader slow_data_loading",
        "slow node": "slow_node slow_rank straggler cpu_throttled_node slow_nodes slow_node_noisy_neighbour"
        " slow_node_throttling host_slow rank_slow slow_gpu gpu_throttle gpu_throttled npu_throttle cpu_throttle"
        " slow_gpu_power_brake",
        "slow storage": "slow_storage slow_shared_storage storage_stalls storage_stall storage_slow",
        "slow checkpoint": "slow_checkpoint slow_checkpoint_node slow_checkpoints",
        "slow drift": "slow_drift gradual_slowdown",
        "storage hang": "storage_hang dead_mount_hang checkpoint_hang hang_in_checkpoint"
        " shared_storage_hang stuck_save storage_stall_hang checkpoint_hang_one_rank checkpoint_save_hang host_io_hang",
        "missing file": "missing_file missing_file_on_node data_path file_missing_on_node",
        "permission": "permission_denied checkpoint_permission",
        "address": "wrong_address wrong_master_addr wrong_coordinator_address",
        "settings": "wrong_config wrong_config_key wrong_config_value wrong_argument"
        " bad_argument bad_config config_error wrong_setting invalid_parameter environment_variable",
        "library": "import_error missing_library wrong_library library_version"
        " version_mismatch missing_module library_mismatch",
        "host memory": "oom_kill host_oom cgroup_oom_kill",
        "worker memory": "worker_memory_limit worker_memory host_memory_limit",
        "ulimit memory": "memory_limit_ulimit oom_ulimit",
        "killed": "rank_sigkill process_killed rank_killed",
        "segfault": "segfault rank_sigsegv segmentation_fault",
        "bus error": "bus_error sigbus process_crash_sigbus",
        "abort": "rank_sigabrt rank_abort process_abort",
        "port": "port_in_use port_conflict",
        "numbers": "nan_loss numerical_error loss_nan nonfinite_gradients nan_input nan_one_rank nan_grad_one_rank",
        "credentials": "expired_credentials credentials_expired credentials_refused credentials_wrong",
        "collective mismatch": "collective_mismatch collective_mismatch_hang skipped_collective"
        " rank_skips_collective missed_barrier collective_mismatch_deadlock rank_missing_in_barrier",
        "loop left": "rank_leaves_loop rank_left_early silent_early_exit",
        "disk full": "disk_full checkpoint_disk_full no_space shared_disk_full disk_full_local disk_full_tmp",
        "open files": "too_many_open_files ulimit_nofile fd_limit",
        "labels": "bad_label label_out_of_range bad_token_index",
        "pauses": "gc_pauses node_pauses job_wide_pauses slow_now_and_then",
        "node absent": "node_absent node_missing late_node",
        "machine list": "machine_list_mismatch wrong_machine_list",
        "shared memory": "dev_shm_too_small shm_full shm_too_small",
        "divergence": "divergence loss_divergence",
        "names": "dns dns_failure",
        "device link": "nvlink nvlink_error",
        "shapes": "shape_mismatch shape_error",
        "device busy": "device_busy gpu_occupied",
        "object store": "object_store object_store_unavailable",
        "uneven data": "uneven_data uneven_shards",
        "device memory error": "gpu_ecc ecc_error memory_ue",
        "device lost": "gpu_lost gpu_missing gpu_unavailable",
        "node lost": "node_lost host_lost",
        "mount missing": "missing_mount mount_failure mount_missing",
        "stale mount": "stale_mount stale_nfs",
        "storage server": "nfs_server shared_fs_down storage_outage",
        "quota": "quota quota_exceeded",
        "read only": "read_only_fs readonly_fs",
        "disk": "disk_error disk_failed local_disk_error",
        "eviction": "eviction pod_evicted",
        "heap": "heap_out_of_memory java_heap_oom",
        "leak": "memory_growth memory_leak memory_growth_slowdown",
    }.items()
    for kind in kinds.split()
}
# Kinds of which two jobs need not have the same fault: a bug of one program is not that of another.
_MANY_FAULTS = frozenset({
    *("program_bug", "program_error", "hang", "program_hang", "slowdown", "slow_everything"),
    *("slow_job", "collective_hang", "hang_unlocated", "assertion"),
})  # fmt: skip
# Kinds of jobs that nobody would teach: a person, the scheduler or the plan ended them, and nothing was at fault.
_NO_FAULTS = frozenset({
    *("cancelled", "time_limit", "preemption", "operator_interrupt", "terminal_hangup"),
    *("early_stopping", "exit_duration", "budget_stop"),
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class LibraryAnswer:
    """What a job is told of a library. is_this: in these words, else it only looks alike. likely: 0..1."""

    pattern: str
    is_this: bool
    likely: float


Ask = Callable[[RecallCase, Sequence[Entry]], Sequence[LibraryAnswer]]  # the seeds are asked as well


@dataclass(frozen=True, slots=True)
class Taught:
    """Counts over the failed and the good jobs of a set.

    siblings, first: of jobs whose cause was taught, those told their pattern first. pairs, pair_first: the same with
    one taught job at a time. exact, wrong: patterns of the team that were said to be this, and of another cause.
    strangers, told: all failed jobs with their cause taken out of the library, and those told any pattern of the team.
    likely: how likely each told pattern of the team was said to be, and whether it was right.
    """

    siblings: int
    first: int
    exact: int
    wrong: int
    strangers: int
    told: int
    good: int
    good_told: int
    likely: tuple[Told, ...]
    pairs: int = 0
    pair_first: int = 0
    fault_pairs: int = 0
    fault_first: int = 0


def cause_of(case: RecallCase) -> str:
    """The kind of its label, in the words that labellers agree in."""
    return _SAME.get(case.kind, case.kind)


def was_at_fault(case: RecallCase) -> bool:
    """Whether anything was at fault in jobs of its kind, so that somebody would teach it."""
    return case.kind not in _NO_FAULTS


def is_one_fault(case: RecallCase) -> bool:
    """Whether jobs of its kind have the same fault."""
    return case.kind not in _MANY_FAULTS


def taught(cases: Sequence[RecallCase], chosen: Sequence[RecallCase], ask: Ask) -> Taught:
    """Teach the first job of each cause among ``cases`` and ask the ``chosen`` ones."""
    failed = [case for case in cases if case.kind]
    pairs = list(_pairs(failed, chosen))
    first = [_first(ask(case, [teacher.entry]), teacher.entry.id) for teacher, case in pairs]
    faults = [found for found, (teacher, _) in zip(first, pairs, strict=True) if was_at_fault(teacher)]
    counted = _counted(chosen, ask, {cause: jobs[:1] for cause, jobs in _by_cause(failed).items()})
    return replace(counted, pairs=len(pairs), pair_first=sum(first), fault_pairs=len(faults), fault_first=sum(faults))


def joined(cases: Sequence[RecallCase], chosen: Sequence[RecallCase], ask: Ask) -> Taught:
    """Teach every job: each has joined the pattern of its cause. Who asks has not; pairs are not counted."""
    return _counted(chosen, ask, _by_cause([case for case in cases if case.kind]))


def _counted(chosen: Sequence[RecallCase], ask: Ask, library: Mapping[str, Sequence[RecallCase]]) -> Taught:
    """Ask the chosen ones of a library with these jobs of each cause."""
    patterns = {cause: entries_of_pattern(jobs) for cause, jobs in library.items()}
    causes = {case.entry.id: cause for cause, jobs in library.items() for case in jobs}
    siblings = first = told = strangers = 0
    judged: list[tuple[bool, LibraryAnswer]] = []
    for case in chosen:
        if not case.kind:
            continue
        cause, strangers = cause_of(case), strangers + 1
        rest = [entry for name, entries in patterns.items() if name != cause for entry in entries]
        own = entries_of_pattern([job for job in library[cause] if job is not case])
        answers = ask(case, [*rest, *own])
        siblings += bool(own)
        first += bool(own) and bool(answers) and causes.get(answers[0].pattern) == cause
        judged += [(causes[answer.pattern] == cause, answer) for answer in _team(answers, causes)]
        told += bool(_team(ask(case, rest), causes))
    good = [case for case in chosen if not case.kind]
    every = [entry for entries in patterns.values() for entry in entries]
    return Taught(
        siblings=siblings,
        first=first,
        exact=sum(answer.is_this for _, answer in judged),
        wrong=sum(answer.is_this and not right for right, answer in judged),
        strangers=strangers,
        told=told,
        good=len(good),
        good_told=sum(bool(_team(ask(case, every), causes)) for case in good),
        likely=tuple(Told(answer.likely, right) for right, answer in judged),
    )


def in_all(counts: Iterable[Taught]) -> Taught:
    """The counts of several teams, each with a library of its own."""
    every = list(counts)
    names = [field.name for field in fields(Taught) if field.name != "likely"]
    sums = {name: sum(getattr(one, name) for one in every) for name in names}
    return Taught(**sums, likely=tuple(told for one in every for told in one.likely))


def entries_of_pattern(jobs: Sequence[RecallCase]) -> list[Entry]:
    """The pattern that the first of these jobs taught, and the drafts of the others, which joined it."""
    if not jobs:
        return []
    joins = {"status": Status.SUPERSEDED, "superseded_by": jobs[0].entry.id}
    return [jobs[0].entry, *(job.entry.model_copy(update=joins) for job in jobs[1:])]


def _by_cause(failed: Iterable[RecallCase]) -> Mapping[str, Sequence[RecallCase]]:
    found: dict[str, list[RecallCase]] = {}
    for case in failed:
        found.setdefault(cause_of(case), []).append(case)
    return found


def _pairs(failed: Sequence[RecallCase], chosen: Sequence[RecallCase]) -> Iterable[tuple[RecallCase, RecallCase]]:
    wanted = {case.job_id for case in chosen}
    seen: dict[str, int] = {}
    for teacher in failed:
        cause = cause_of(teacher)
        seen[cause] = seen.get(cause, 0) + 1
        if seen[cause] <= PAIRS:
            yield from (
                (teacher, case)
                for case in failed
                if case is not teacher and cause_of(case) == cause and case.job_id in wanted
            )


def _team(answers: Iterable[LibraryAnswer], causes: Mapping[str, str]) -> list[LibraryAnswer]:
    return [answer for answer in answers if answer.pattern in causes]


def _first(answers: Sequence[LibraryAnswer], pattern: str) -> bool:
    return bool(answers) and answers[0].pattern == pattern
