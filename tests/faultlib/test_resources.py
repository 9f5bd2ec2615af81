"""Which resource a trace names, in the words of kernels, drivers and clients."""

import pytest

from core.failure_kinds import Kind
from faultlib.resources import Resource, resource_of


@pytest.mark.parametrize(
    ("line", "resource"),
    [
        ("kernel: nfs: server 10.1.4.2 not responding, still trying", Resource.FILE_SERVER),
        (
            "Lustre: 2819:0:(client.c:2310:ptlrpc_expire_one_request()) @@@ Request sent has timed out",
            Resource.FILE_SERVER,
        ),
        ("nvme nvme2: I/O 417 QID 12 timeout, aborting", Resource.DISK),
        ("kernel: Buffer I/O error on dev sdb1, logical block 0", Resource.DISK),
        ("NVRM: Xid (PCI:0000:cb:00): 95, pid=1, Uncontained", Resource.DEVICE_MEMORY),
        ("NVRM: Xid (PCI:0000:cb:00): 79, GPU has fallen off the bus.", Resource.DEVICE_BUS),
        ("NVRM: Xid (PCI:0000:cb:00): 74, NVLink: fatal error", Resource.DEVICE_LINK),
        ("mlx5_core 0000:5e:00.0 ib2: Link down", Resource.NETWORK),
        ("EDAC MC1: 1 UE memory scrubbing error on DIMM#0", Resource.MEMORY_MODULE),
        ("botocore.exceptions.ClientError: SlowDown", Resource.OBJECTS),
        ("ValueError: operands could not be broadcast together", None),
    ],
)
def test_a_resource_is_told_by_its_names(line: str, resource: Resource | None) -> None:
    """Two storages are two resources, and so are an accelerator's memory and its bus."""
    assert resource_of(line, Kind.ERROR) is resource


def test_a_kind_tells_a_resource_where_no_name_does() -> None:
    """A container's platform says OOM in its own words."""
    assert resource_of("Error: container ended", Kind.MEMORY_LIMIT) is Resource.HOST_MEMORY
    assert resource_of("Error: container ended", Kind.ERROR) is None
