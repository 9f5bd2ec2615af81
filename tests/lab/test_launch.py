"""What is started for a job, without starting it: commands, Slurm's files, a journal's mounts."""

from dataclasses import replace
from pathlib import Path

import pytest

from lab import journal, launch, slurm
from lab.cluster import Cluster
from lab.errors import LabError
from lab.fault_kinds import FAULTS, HEALTHY
from lab.files import lay_out, write_corpus
from lab.make import missing_for
from lab.model import Fault, PlannedJob, Site
from lab.processes import EXITED
from lab.run import Progress
from lab.settings import SETTINGS


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data that all jobs read."""
    folder = tmp_path_factory.mktemp("lab")
    write_corpus(folder / "corpus")
    return folder


def site_of(group: str, tmp_path: Path, fault: Fault = HEALTHY, seed: int = 5) -> Site:
    settings = SETTINGS[group]
    node = settings.nodes[1]
    plan = PlannedJob("lab05-001", fault.kind, group, seed, node, settings.ranks(node)[0], 20, ())
    cluster = Cluster(settings.nodes, 0, netns=True, controller=slurm.CONTROLLER)  # never opened
    return Site(plan, fault, cluster, tmp_path / "work", tmp_path / "logs", Path("/venv/bin/python"))


def test_slurm_is_configured_for_the_jobs_own_nodes(tmp_path: Path, scratch: Path) -> None:
    """Configuration, state, key and logs lie in the job's folder; every machine has the same key, for itself alone."""
    site = site_of("loguru-srun", tmp_path)
    lay_out(site, scratch)

    folder = slurm.folder_of(site)
    text = (folder / "slurm.conf").read_text(encoding="utf-8")
    keys = [folder / f"{node.name}.key" for node in site.cluster.machines]
    assert f"FirstJobId={site.plan.number}" in text
    assert all(f"NodeName={node.name} NodeAddr={node.address} " in text for node in site.cluster.nodes)
    places = [line.partition("=")[2] for line in text.splitlines() if "=/" in line]
    assert len(places) == 6
    assert all(place.startswith(f"{folder}/") for place in places)
    assert len({key.read_bytes() for key in keys}) == 1
    assert {key.stat().st_mode & 0o777 for key in keys} == {0o600}


def test_a_journal_has_an_identity_and_a_place(tmp_path: Path, scratch: Path) -> None:
    """Each node's journald finds a machine id of its own, and writes where it outlives the node."""
    site = site_of("accelerate-journal", tmp_path)
    lay_out(site, scratch)

    identities = {(site.work / f"{name}-machine-id").read_text(encoding="utf-8") for name in site.settings.nodes}
    assert len(identities) == len(site.settings.nodes)
    assert all(len(identity) == 33 for identity in identities)
    assert any(str(site.work / f"{site.plan.node}-journal") in line for line in site.node.mounts)
    assert journal.wrapped(["x", "-y"])[-2:] == ["x", "-y"]


@pytest.mark.parametrize("group", [name for name, settings in SETTINGS.items() if settings.launcher == "torchrun"])
def test_torchrun_is_told_where_the_others_are(group: str, tmp_path: Path) -> None:
    """Every node names the same place to meet, and as many nodes as there are."""
    site = site_of(group, tmp_path)
    words = [" ".join(launch.torchrun(site, node)) for node in site.settings.nodes]

    assert all(f"--nnodes {len(site.settings.nodes)} " in text for text in words)
    assert all(site.settings.nodes[0] in text.split(site.settings.program.script)[0] for text in words)
    assert all(f"--node-rank {index} " in text for index, text in enumerate(words)) == site.settings.static


def test_what_hangs_has_time(tmp_path: Path) -> None:
    """A job that is to be ended from outside has no time-out that would end it before, and no end of its own."""
    hang, ends = site_of("plain-ranks", tmp_path, FAULTS["rank_sigstop_hang"]), site_of("plain-ranks", tmp_path)

    assert " --timeout 1800" in " ".join(launch.program(hang, hang.plan.node))
    assert " --timeout 12" in " ".join(launch.program(ends, ends.plan.node))
    assert hang.iterations > 10 * ends.iterations


@pytest.mark.parametrize(
    ("group", "kind", "seed", "minutes"),
    [
        ("loguru-srun", "time_limit", 4, 1),
        ("loguru-srun", "rank_sigstop_hang", 5, 2),
        ("loguru-srun", "rank_sigstop_hang", 4, 0),
        ("loguru-srun", "cancelled", 5, 0),
        ("loguru-srun", "rank_sigkill", 5, 0),
        ("plain-ranks", "time_limit", 5, 0),
    ],
)
def test_a_time_limit_ends_every_other_hang_under_slurm(
    group: str, kind: str, seed: int, minutes: int, tmp_path: Path
) -> None:
    """The others are cancelled; where there is no Slurm, the lab ends them."""
    assert site_of(group, tmp_path, FAULTS[kind], seed).minutes == minutes


def test_a_hang_is_ended_once_and_not_before_it_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time without a new iteration counts, and only after the fault was made."""
    site = site_of("plain-ranks", tmp_path, FAULTS["rank_sigstop_hang"])
    log = site.log(site.plan.node, site.plan.rank)
    now = [100.0]
    monkeypatch.setattr("lab.run.time.monotonic", lambda: now[0])
    progress = Progress(site, 0.0)
    log.write_text("step 3/4000 | loss 1.0\n", encoding="utf-8")

    told = [progress.look(), progress.due()]
    now[0] += 60
    told += [progress.due()]  # nothing was done to it yet
    progress.struck = now[0]
    log.write_text("step 4/4000 | loss 1.0\n", encoding="utf-8")
    told += [progress.look(), progress.due()]
    now[0] += 60
    told += [progress.look(), progress.due(), progress.due()]

    assert told == [3, False, False, 4, False, 4, True, False]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("2026-11-22 08:00:00,1 WARN exited: train (exit status 1; not expected)", ("1", None)),
        ("2026-11-22 08:00:00,1 WARN exited: train (terminated by SIGKILL; not expected)", (None, "SIGKILL")),
        ("2026-11-22 08:00:00,1 INFO exited: train (exit status 0; expected)", ("0", None)),
        ("2026-11-22 08:00:00,1 WARN stopped: train (terminated by SIGTERM)", (None, "SIGTERM")),
    ],
)
def test_supervisord_says_how_its_program_ended(line: str, code: tuple[str | None, str | None]) -> None:
    """Its own log is the only one that knows."""
    found = EXITED.search(line)

    assert found is not None
    assert found.groups() == code


def test_a_group_that_cannot_be_made_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing daemon or module leaves out its group, with a sentence."""
    monkeypatch.setattr("lab.make._has", lambda _, module: module != "lightning")
    monkeypatch.setattr("lab.slurm.available", lambda: False)
    monkeypatch.setattr("lab.journal.available", lambda: False)

    said = {name: missing_for(settings, Path("python"), netns=True) for name, settings in SETTINGS.items()}

    assert said["plain-ranks"] == said["mega-pods"] == ""
    assert "lightning" in said["lightning-srun"]
    assert "Slurm" in said["loguru-srun"]
    assert "journald" in said["accelerate-journal"]


def test_a_freeze_needs_a_process(tmp_path: Path) -> None:
    """A rank that is gone cannot be struck: the job is made again."""
    with pytest.raises(LabError, match="has no process"):
        site_of("plain-ranks", tmp_path).freeze()


def test_a_job_has_the_number_of_its_seed() -> None:
    """Slurm is told which number comes first, so that a set can be planned."""
    plan = PlannedJob("j", "none", "loguru-srun", 7, "", -1, 0, ())

    assert plan.number == 1007
    assert replace(plan, seed=8).number != plan.number
