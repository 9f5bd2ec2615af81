"""Which labelled jobs have the same fault, by what their labellers wrote and nothing of what Firstfault says of them.

Labellers call one cause by several words, and put faults under one word that nobody would take for the same: a label
out of range and a damaged archive are both "bad data". Who runs jobs takes two for the same fault where the cause is
one, the same part of the job is at fault, and either both print the same trace or neither prints any.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.quality.labels import Truth

WORDS = 3  # in a row that two traces share to be the same: "address already in use"; two are "rank error", "exit code"
_WORD = re.compile(r"[a-z]{2,}")
# Words of several labellers for the same cause. Those of the blind sets were put together by their names alone.
_SAME: Mapping[str, str] = {
    kind: name
    for name, kinds in {
        "checkpoint corrupt": "corrupt_checkpoint checkpoint_corrupt corrupted_checkpoint bad_checkpoint"
        " checkpoint_corruption",
        "bad data": "bad_data_shard bad_data bad_data_file corrupt_data corrupt_data_file corrupt_data_shard"
        " corrupt_record corrupt_shard data_file_truncated bad_sample data_corrupt data_corruption"
        " bad_data_record",
        "loader hang": "data_loader_hang dataloader_hang dataloader_stall data_loader_stall stuck_data_loader"
        " dataloader_deadlock data_iterator_hang input_hang dataloader_worker_stuck"
        " hang_dataloader",
        "data read hang": "stuck_data_read hang_reading_data data_read_hang shard_read_hang read_hang"
        " storage_read_hang"
        " hang_read",
        "loader worker killed": "dataloader_worker_killed worker_killed data_loader_killed data_worker_killed",
        "rank hang": "rank_sigstop_hang rank_frozen rank_hang host_stall hang_sigstop node_sigstop_hang worker_frozen"
        " node_hang rank_stuck_hang node_silent_hang pipeline_rank_hang node_silent node_unresponsive"
        " process_stopped rank_freeze host_freeze host_hang node_not_responding worker_stuck"
        " process_frozen_hang"
        " hang_rank hang_rank_frozen hang_rank_stuck process_frozen host_frozen",
        "deadlock": "deadlock deadlock_in_code code_deadlock deadlock_user_code lock_deadlock thread_deadlock"
        " pipeline_deadlock user_code_deadlock python_lock python_lock_hang",
        "lock": "stale_lock stuck_lock lock_wait stale_build_lock lock_hang lock_never_released stale_lock_hang",
        "link": "link_down link_loss network_drop link_silent_drop network_partition network_loss ib_link_down"
        " network_lost network_unreachable"
        " dead_link_hang nic_stopped",
        "slow network": "slow_network slow_link slow_nic slow_network_card slow_network_unlocated network_slow"
        " slow_link_node slow_network_node nic_degraded degraded_link"
        " slow_communication link_degraded slow_node_uplink shared_slow_network",
        "slow loader": "slow_loader slow_dataloader slow_data_loader slow_data_loading slow_data_loading_node"
        " slow_data_loading_on_node slow_data_node slow_data slow_input fail_slow_data"
        " slow_data_path"
        " slow_node_data slow_rank_data slow_input_host slow_input_node slow_read_node",
        "slow node": "slow_node slow_rank straggler cpu_throttled_node slow_nodes slow_node_noisy_neighbour"
        " slow_node_throttling host_slow rank_slow slow_gpu gpu_throttle gpu_throttled npu_throttle"
        " cpu_throttle slow_gpu_power_brake slow_gpu_node slow_node_degraded slow_node_from_start"
        " slow_node_thermal gpu_straggler gpu_fail_slow noisy_neighbour cpu_contention gpu_thermal"
        " gpu_thermal_throttle gpu_thermal_throttling cpu_thermal_throttle cpu_thermal_throttling"
        " thermal_throttle cpu_throttled gpu_power_cap power_cap power_brake gpu_clock_low gpu_clock_drop"
        " low_clocks cpu_frequency_low fail_slow_cpu fail_slow_gpu fail_slow_node fail_slow_thermal"
        " slow_node_clock slow_node_power"
        " straggler_gpu slow_host slow_host_cpu slow_cpu slow_cpu_node slow_cpu_throttle slow_compute_node"
        " slow_compute_rank slow_node_compute slow_gpu_clock slow_gpu_thermal",
        "slow storage": "slow_storage slow_shared_storage storage_stalls storage_stall storage_slow shared_storage_slow"
        " shared_storage_stall slow_storage_node"
        " slow_storage_all shared_slow_storage slow_shared_data",
        "slow checkpoint": "slow_checkpoint slow_checkpoint_node slow_checkpoints slow_checkpoint_storage",
        "slow drift": "slow_drift gradual_slowdown",
        "storage hang": "storage_hang dead_mount_hang checkpoint_hang hang_in_checkpoint shared_storage_hang stuck_save"
        " storage_stall_hang checkpoint_hang_one_rank checkpoint_save_hang host_io_hang fs_hang"
        " filesystem_hang lustre_hang nfs_hang nfs_hang_one_node local_storage_hang node_storage_hang"
        " checkpoint_write_hang disk_hang io_hang mount_dead nfs_mount_dead checkpoint_store_blocked"
        " hang_storage hang_checkpoint_storage checkpoint_store_hang nfs_hang_all gpfs_hang_all",
        "missing file": "missing_file missing_file_on_node data_path file_missing_on_node",
        "permission": "permission_denied checkpoint_permission permission storage_access",
        "address": "wrong_address wrong_master_addr wrong_coordinator_address wrong_coordinator",
        "settings": "wrong_config wrong_config_key wrong_config_value wrong_argument bad_argument bad_config"
        " config_error wrong_setting invalid_parameter environment_variable wrong_env wrong_environment"
        " missing_environment",
        "library": "import_error missing_library wrong_library library_version version_mismatch missing_module"
        " library_mismatch package_mismatch dependency_version dependency_mismatch import_error_on_node"
        " import_error_node",
        "host memory": "oom_kill host_oom cgroup_oom_kill host_memory_exhausted",
        "worker memory": "worker_memory_limit worker_memory host_memory_limit",
        "ulimit memory": "memory_limit_ulimit oom_ulimit",
        "killed": "rank_sigkill process_killed rank_killed",
        "segfault": "segfault rank_sigsegv segmentation_fault",
        "bus error": "bus_error sigbus process_crash_sigbus",
        "abort": "rank_sigabrt rank_abort process_abort",
        "port": "port_in_use port_conflict port_clash",
        "numbers": "nan_loss numerical_error loss_nan nonfinite_gradients nan_input nan_one_rank nan_grad_one_rank",
        "credentials": "expired_credentials credentials_expired credentials_refused credentials_wrong auth_failure",
        "collective mismatch": "collective_mismatch collective_mismatch_hang skipped_collective"
        " rank_skips_collective missed_barrier collective_mismatch_deadlock rank_missing_in_barrier"
        " mismatched_collective barrier_missing_rank",
        "loop left": "rank_leaves_loop rank_left_early silent_early_exit",
        "disk full": "disk_full checkpoint_disk_full no_space shared_disk_full disk_full_local disk_full_tmp"
        " storage_full full_cache_disk"
        " local_disk_full disk_full_node",
        "open files": "too_many_open_files ulimit_nofile fd_limit",
        "labels": "bad_label label_out_of_range bad_token_index",
        "pauses": "gc_pauses node_pauses job_wide_pauses slow_now_and_then",
        "node absent": "node_absent node_missing late_node"
        " node_not_joined node_missing_at_start rendezvous_missing_node",
        "machine list": "machine_list_mismatch wrong_machine_list",
        "shared memory": "dev_shm_too_small shm_full shm_too_small shared_memory_full",
        "divergence": "divergence loss_divergence loss_diverged",
        "names": "dns dns_failure cluster_dns dns_node",
        "device link": "nvlink nvlink_error nvlink_fatal",
        "shapes": "shape_mismatch shape_error",
        "device busy": "device_busy gpu_occupied gpu_busy tpu_busy tpu_in_use",
        "object store": "object_store object_store_unavailable object_store_outage",
        "uneven data": "uneven_data uneven_shards",
        "device memory error": "gpu_ecc ecc_error memory_ue gpu_ecc_error device_ecc device_memory_fault hbm_ecc"
        " cuda_ecc",
        "device lost": "gpu_lost gpu_missing gpu_unavailable gpu_xid79 gpu_fell_off_bus",
        "node lost": "node_lost host_lost node_dead node_fail host_unreachable node_not_ready node_unreachable"
        " node_down",
        "mount missing": "missing_mount mount_failure mount_missing",
        "stale mount": "stale_mount stale_nfs nfs_stale",
        "storage server": "nfs_server shared_fs_down storage_outage fs_outage shared_filesystem_outage storage_down"
        " storage_service_down",
        "quota": "quota quota_exceeded storage_quota disk_quota checkpoint_quota",
        "read only": "read_only_fs readonly_fs",
        "disk": "disk_error disk_failed local_disk_error",
        "eviction": "eviction pod_evicted disk_pressure_eviction evicted_disk_pressure evicted_disk evicted",
        "heap": "heap_out_of_memory java_heap_oom",
        "leak": "memory_growth memory_leak memory_growth_slowdown",
        "accelerator hang": "gpu_hang kernel_hang device_hang gpu_driver_hang gsp_timeout gpu_stuck gpu_gsp_hang",
        "lockup": "kernel_soft_lockup soft_lockup cpu_soft_lockup host_lockup",
        "slow disk": "disk_slow slow_disk slow_read slow_local_io slow_local_disk slow_disk_node",
        "network retries": "ib_retry_exceeded rdma_cqe",
        "slow service": "slow_service service_slow slow_data_service",
        "link flaps": "link_flap link_flapping network_flapping ib_link_flap nic_flap",
        "node_power_loss": "node_power_loss power_loss",
        "reboot": "node_reboot host_reboot",
        "preemption": "preemption preempted spot_preemption",
        "operator": "operator_interrupt operator_stop",
        "memory module": "dimm_ue memory_ecc memory_errors memory_error_storm",
        "storage eviction": "fs_eviction lustre_evicted lustre_eviction storage_evicted storage_client_evicted",
        "memory pressure": "memory_pressure host_memory_pressure",
        "device bus": "pcie_fatal pcie_error pcie_link_errors",
    }.items()
    for kind in kinds.split()
}
# Causes of which two jobs need not have the same fault: a bug of one program is not that of another.
_MANY_FAULTS = frozenset({
    *("program_bug", "program_error", "hang", "program_hang", "slowdown", "slow_everything"),
    *("slow_job", "collective_hang", "hang_unlocated", "assertion", "index_error", "user_key_error", "shape_bug"),
    *("hang_unknown", "hang_unexplained", "unknown_hang", "slow_unknown", "slow_unexplained", "code_hang"),
    *("collective_timeout", "collective_timeout_all", "hccl_timeout", "log_ends", "peer_closed", "slow_own_code"),
    *("slow", "slow_all"),
})  # fmt: skip
# Causes of jobs that nobody would teach: a person, the scheduler or the plan ended them, and nothing was at fault.
_NO_FAULTS = frozenset({
    *("cancelled", "time_limit", "preemption", "operator", "terminal_hangup"),
    *("early_stopping", "exit_duration", "budget_stop"),
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """What a labeller wrote of a fault. scopes: who is at fault; traces: words of the lines that tell it, in runs."""

    cause: str
    scopes: frozenset[str]
    stage: str | None
    traces: frozenset[tuple[str, ...]]
    prints: bool

    @property
    def was_at_fault(self) -> bool:
        """Whether anything was at fault in jobs of its cause, so that somebody would teach it."""
        return self.cause not in _NO_FAULTS

    @property
    def is_one(self) -> bool:
        """Whether jobs of its cause have the same fault."""
        return self.cause not in _MANY_FAULTS


def fault_of(truth: Truth) -> Fault:
    """The fault of a job that failed, by its label."""
    told = [label.text for label in truth.labels if label.role == "root"]
    runs = frozenset(run for text in told for run in _runs(text))
    return Fault(cause_named(truth.kind or ""), truth.scopes, truth.stage, runs, bool(told))


def cause_named(kind: str) -> str:
    """The kind of a label, in the words that labellers agree in."""
    return _SAME.get(kind, kind)


def same_fault(one: Fault, other: Fault) -> bool:
    """Whether who runs jobs would take two faults for the same one; see the head of this file.

    Where a labeller says that the logs cannot tell who is at fault, nobody can say so.
    """
    if one.cause != other.cause or not (one.is_one and one.was_at_fault):
        return False
    if one.scopes != other.scopes or "unknown" in one.scopes or one.prints != other.prints:
        return False
    return bool(one.traces & other.traces) if one.prints else one.stage == other.stage


def _runs(text: str) -> list[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return [tuple(words[at : at + WORDS]) for at in range(len(words) - WORDS + 1)]
