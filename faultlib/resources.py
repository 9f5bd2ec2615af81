"""Which resource of a machine or a cluster a fault is about, by the names that kernels, drivers and clients give it.

"Storage failed" is said of a disk and of a file server, "the accelerator reported a hardware error" of its memory and
of its connection to the machine: two such faults are alike only where the resource is the same one. No name here is
that of a training program.
"""

import re
from enum import StrEnum

from core.failure_kinds import Kind


class Resource(StrEnum):
    """What a trace of hardware, storage or the system is about."""

    DEVICE_MEMORY = "the memory of an accelerator"
    DEVICE_BUS = "the connection of an accelerator to its machine"
    DEVICE_LINK = "the links between accelerators"
    FILE_SERVER = "a shared file system"
    OBJECTS = "an object store"
    DISK = "the disk of a machine"
    NETWORK = "the network"
    HOST_MEMORY = "the memory of a machine"  # which ran out
    MEMORY_MODULE = "a memory module of a machine"


# The more special first: the first that a trace names is its resource. Xids: catalogue of NVIDIA (48, 63, 64, 92, 94
# and 95 are of memory, 79 is a device that is gone, 74 is NVLink). Others are names of Linux's drivers and of clients.
_NAMES = (
    (
        Resource.DEVICE_MEMORY,
        re.compile(
            r"(?<![a-z])(?:ecc|hbm)(?![a-z])|row remap|\bxid\b[^\n]{0,40}\b(?:48|63|64|92|94|95)\b|double bit"
            r"|uncorrectable|page retire",
            re.IGNORECASE,
        ),
    ),
    (Resource.DEVICE_BUS, re.compile(r"fallen off|\bxid\b[^\n]{0,40}\b79\b", re.IGNORECASE)),
    (Resource.DEVICE_LINK, re.compile(r"nvlink|nvswitch|xgmi|hccs|\bxid\b[^\n]{0,40}\b74\b", re.IGNORECASE)),
    (
        Resource.FILE_SERVER,
        re.compile(
            r"(?<![a-z])(?:nfs|lustre|ptlrpc|gpfs|mmfs|beegfs|ceph|cifs|weka|fsx|juicefs|gcsfuse|s3fs)"
            r"|stale file|transport endpoint",
            re.IGNORECASE,
        ),
    ),
    (Resource.OBJECTS, re.compile(r"(?<![a-z])s3(?![a-z])|bucket|botocore|gs://|object stor", re.IGNORECASE)),
    (
        Resource.DISK,
        re.compile(
            r"(?<![a-z])(?:nvme\d|sd[a-z](?![a-z])|ata\d|ext4|xfs|md\d|raid|scsi|smart)|medium error|buffer i/o",
            re.IGNORECASE,
        ),
    ),
    (
        Resource.NETWORK,
        re.compile(
            r"(?<![a-z])(?:mlx\d|ib\d|bond\d|eth\d|eno\d|enp\d|hsn\d|rdma|roce|net/ib)|link (?:is )?down|carrier"
            r"|no route to host|network is unreachable",
            re.IGNORECASE,
        ),
    ),
    (
        Resource.HOST_MEMORY,
        re.compile(r"oom-?kill|out of memory: killed|memory cgroup|oomkilled", re.IGNORECASE),
    ),
    (Resource.MEMORY_MODULE, re.compile(r"edac|dimm", re.IGNORECASE)),
)
_OF_KIND = {Kind.HOST_MEMORY: Resource.HOST_MEMORY, Kind.MEMORY_LIMIT: Resource.HOST_MEMORY}
_SHOWN = 4_000  # characters at the end of a trace, where an exception says what it is


def resource_of(text: str, kind: Kind) -> Resource | None:
    """The resource that a trace names, or that traces of its kind are about; None where neither tells."""
    named = next((resource for resource, names in _NAMES if names.search(text[-_SHOWN:])), None)
    return named or _OF_KIND.get(kind)
