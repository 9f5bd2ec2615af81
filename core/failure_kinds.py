"""The kinds of failure that rules may name (rules/facts; facts.md). A rule of any other kind is refused."""

from enum import StrEnum


class Kind(StrEnum):
    """What a message is about, in the words that an answer uses."""

    NONE = ""  # harmless: about nothing that matters

    # ended from outside, and what looks like it
    TIME_LIMIT = "time limit"
    PREEMPTION = "preemption"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    END_OF_JOB = "end of the job"

    # the machine and its parts
    ACCELERATOR = "accelerator"
    DEVICE_BUSY = "device busy"
    DEVICE_MEMORY = "device memory"
    MACHINE = "machine"
    SLOW_MACHINE = "slow machine"
    HOST_MEMORY = "host memory"
    MEMORY_LIMIT = "memory limit"
    NETWORK_LINK = "network link"
    NETWORK_PLUGIN = "network plugin"
    RDMA_TRANSPORT = "RDMA transport"
    NODE_LOST = "node lost"
    NODE_RESTARTED = "node restarted"
    STORAGE = "storage"
    DISK_FULL = "disk full"
    SYSTEM_LIMIT = "system limit"

    # the platform around the job
    NOT_SCHEDULED = "not scheduled"
    EVICTED = "evicted"
    PLATFORM = "platform"
    REMOTE_SERVICE = "remote service"
    LICENSE = "license"

    # processes that died
    KILLED = "killed"
    ABORTED = "aborted"
    CRASH = "crash"
    DATA_LOADER = "data loader"
    TERMINATED = "terminated"
    SILENT_EXIT = "silent exit"
    STOOD_APART = "stood apart"
    DEADLOCK = "deadlock"
    LAST_WORDS = "last words"

    # what processes say of each other
    PEER_LOST = "peer lost"
    PEER_SILENT = "peer silent"
    STORE_LOST = "store lost"
    RENDEZVOUS = "rendezvous"
    ADDRESS = "address"
    UNREACHABLE = "unreachable"
    PORT_IN_USE = "port in use"
    COLLECTIVE_MISMATCH = "collective mismatch"
    MPI = "MPI"

    # program, settings, data
    SOFTWARE = "software"
    SETTINGS = "settings"
    MODEL_MISMATCH = "model mismatch"
    DATA = "data"
    CORRUPT_FILE = "corrupt file"
    MISSING_FILE = "missing file"
    PERMISSION = "permission"
    NUMERICS = "numerics"
    NO_CONVERGENCE = "no convergence"

    # judged without a rule
    EXCEPTION = "exception"
    ERROR = "error"
    WARNING = "warning"


# What a program raises over its own code, numbers and data: that one rank was the first to do so tells where it broke,
# not that its machine did it. Labelled jobs with the same exceptions blame now the node, now the program (docs/LOG.md).
OF_THE_PROGRAM = frozenset({Kind.EXCEPTION, Kind.DATA, Kind.NUMERICS, Kind.DEVICE_MEMORY})


class StopWord(StrEnum):
    """What a line says of how processes are brought to an end."""

    TOLD = "told"  # the speaker itself got the order to stop, mostly SIGTERM
    ASKS = "asks"  # the speaker asks processes to stop, as launchers and schedulers do when another one has failed
    FORCES = "forces"  # the speaker kills a process that did not stop when it was asked to


# Errors by number (Xid) that mean a broken device in the catalogue of NVIDIA: double bit errors, NVLink,
# a GPU that is gone, uncontained memory errors. Others, 13, 31 and 43 above all, come from programs too.
BROKEN_XIDS = frozenset({48, 64, 74, 79, 95})
