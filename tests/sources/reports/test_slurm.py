"""What Slurm's commands print of nodes becomes incidents and verdicts; planned work is no fault of a node."""

from contextlib import suppress
from pathlib import Path

import pytest

from core.checks.check_verdict import CheckOutcome
from core.errors import UnreadableLog
from sources.moments import moment
from sources.reports.hostlist import expand
from sources.reports.report import verdict_of
from sources.reports.report_files import read_incidents, read_reports

# The forms of sinfo ("%20E %9u %19H %N", src/sinfo/opts.c), scontrol (src/api/node_info.c) and sacctmgr.
SINFO = """\
REASON               USER      TIMESTAMP           NODELIST
Not responding       slurm     2026-11-18T10:00:00 gpu[017-018,020]
Low socket*core*thre slurm     2026-11-19T11:45:44 node1
maintenance: BMC fir root      2026-11-19T19:31:07 sched-worker2
"""
SCONTROL = """\
NodeName=gpu017 CoresPerSocket=28
   CPUAlloc=0 CPUEfctv=56 CPUTot=56 CPULoad=0.00
   AvailableFeatures=(null)
   Gres=gpu:8(S:0-1)
   NodeAddr=gpu017 NodeHostName=gpu017
   RealMemory=500000 AllocMem=0 FreeMem=N/A Sockets=2 Boards=1
   State=DOWN+NOT_RESPONDING ThreadsPerCore=1 TmpDisk=0 Weight=20 Owner=N/A MCS_label=N/A
   Partitions=gpu
   BootTime=None SlurmdStartTime=None
   LastBusyTime=2026-11-18T09:58:23 ResumeAfterTime=None
   Reason=Not responding [root@2026-11-18T10:00:00]

NodeName=gpu018 Arch=x86_64 CoresPerSocket=28
   OS=Linux 5.14.0-284.11.1.el9_2.x86_64 #1 SMP
   RealMemory=500000 AllocMem=51200 FreeMem=4011 Sockets=2 Boards=1
   State=MIXED ThreadsPerCore=1 TmpDisk=0 Weight=20 Owner=N/A MCS_label=N/A
   BootTime=2026-10-01T08:00:00 SlurmdStartTime=2026-10-01T08:03:12

NodeName=gpu019 Arch=x86_64 CoresPerSocket=28
   State=IDLE+DRAIN ThreadsPerCore=1 TmpDisk=0 Weight=20 Owner=N/A MCS_label=N/A
   Reason=firmware update of the switch [ops@2026-11-17T08:00:00]

"""
EVENTS = """\
Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User
c1|gpu017|2026-11-10T10:12:00|2026-11-11T08:00:00|DOWN*|Not responding|slurm(450)
c1|gpu018|2026-11-12T10:12:00|Unknown|DRAIN|Node unexpectedly rebooted|root(0)
c1||2026-11-12T00:00:00|Unknown||Cluster registered TRES|
c1|gpu019|2026-11-13T10:12:00|2026-11-13T11:00:00|MAINT|weekly work|ops(1000)
"""
WIDE = """\
   Cluster        NodeName           TimeStart             TimeEnd  State                         Reason       User
---------- --------------- ------------------- ------------------- ------ ------------------------------ ----------
        c1          gpu017 2026-11-10T10:12:00 2026-11-11T08:00:00  DOWN*                 Not responding slurm(450)
        c1                 2026-11-12T00:00:00             Unknown               Cluster registered TRES
"""


def written(folder: Path, text: str) -> str:
    path = folder / "told.txt"
    path.write_text(text, encoding="utf-8")
    return str(path)


def days(text: str) -> float:
    return (moment(text) or 0) / 86_400


def test_sinfo_names_each_node_of_a_list_with_its_reason_and_time(tmp_path: Path) -> None:
    """Three nodes that did not respond; what was taken out for maintenance had no fault."""
    found = read_incidents(written(tmp_path, SINFO))

    assert [(one.node, one.until) for one in found] == [
        (name, None) for name in ("gpu017", "gpu018", "gpu020", "node1")
    ]
    assert {one.day for one in found[:3]} == {days("2026-11-18T10:00:00")}
    assert found[3].kind == "Low socket*core*thre"


def test_scontrol_tells_who_is_out_who_is_well_and_who_was_taken_out_on_purpose(tmp_path: Path) -> None:
    """Failed, passed and unknown: what a person took out for work is no verdict on the node."""
    reports = read_reports(written(tmp_path, SCONTROL))

    verdicts = {node: verdict_of(own) for node, own in reports.items()}
    assert verdicts["gpu017"] == (CheckOutcome.FAILED, "out: Not responding")
    assert verdicts["gpu018"] == (CheckOutcome.PASSED, "")
    assert verdicts["gpu019"] == (CheckOutcome.UNKNOWN, "out on purpose: firmware update of the switch")
    assert [one.node for one in read_incidents(written(tmp_path, SCONTROL))] == ["gpu017"]


def test_events_of_the_accounting_are_a_history_with_ends(tmp_path: Path) -> None:
    """One that is over and one that is not; the cluster's own events and planned ones are none."""
    found = read_incidents(written(tmp_path, EVENTS))

    assert [(one.node, one.day, one.until) for one in found] == [
        ("gpu017", days("2026-11-10T10:12:00"), days("2026-11-11T08:00:00")),
        ("gpu018", days("2026-11-12T10:12:00"), None),
    ]


def test_a_table_of_fixed_width_is_read_as_the_one_with_bars(tmp_path: Path) -> None:
    """Without -P columns are as wide as the dashes below their names, and names stand to the right."""
    assert read_incidents(written(tmp_path, WIDE)) == read_incidents(written(tmp_path, EVENTS))[:1]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("gpu[017-018,020]", ("gpu017", "gpu018", "gpu020")),
        ("a1,b[1-2]-ib", ("a1", "b1-ib", "b2-ib")),
        ("r[1-2]n[01-02]", ("r1n01", "r1n02", "r2n01", "r2n02")),
        ("n0123.savio3", ("n0123.savio3",)),
        ("x[9-1]", ("x[9-1]",)),
        ("x[0-99999999]", ("x[0-99999999]",)),
        ("x[0-9999]y[0-9999]", ("x[0-9999]y[0-9999]",)),
        ("", ()),
    ],
)
def test_lists_of_nodes_unfold_as_slurm_writes_them(text: str, names: tuple[str, ...]) -> None:
    """With leading zeros and several ranges; what would be millions of names stays one."""
    assert expand(text) == names


@pytest.mark.parametrize("text", ["", "hello\n", "{", "[" * 100_000, '{"items": ' + "[" * 100_000, "REASON NODELIST\n"])
def test_what_is_no_report_is_refused_or_empty(text: str, tmp_path: Path) -> None:
    """Never another error than the one that is told."""
    with suppress(UnreadableLog):
        assert read_incidents(written(tmp_path, text)) == ()
