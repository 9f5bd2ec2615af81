"""For all tests: an environment without our settings, and golden files that ``--update-golden`` writes anew."""

import gc
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from benchmarks.support.forked_children import Forker
from benchmarks.support.patience import PATIENCE
from bot.commandline.cli import COLLECT_AFTER
from tests.support.fast_tier import LIST, cpu_seconds, function_of, listed, too_dear, written

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Machines are shared and noisy: speed is measured in benchmarks/, no example fails for being slow. What is pushed is
# judged by the same examples everywhere, so that more of them in each run would tell little; HYPOTHESIS_PROFILE=random
# looks for new ones.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("random", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """``pytest --update-golden`` records what the program says now; the diff is for a person to read."""
    parser.addoption("--update-golden", action="store_true", help="write golden files anew instead of comparing")
    parser.addoption("--update-slow", action="store_true", help="write tests/slow_tests.txt anew from what is measured")


# Bots that are started and waited for, commands as README and docs show them, browsers, a season of faults.
# All else is slow when it takes more than .75 s of CPU, its own and its children's, with all its cases: such a test is
# in tests/slow_tests.txt; or when it waits for more than four seconds: such a test has the mark itself.
WHOLE_PROGRAMS = (
    "e2e",
    "e2e_browser",
    "e2e_faults",
    "contract",
    "jobs",
    "test_amplify.py",
    "test_bad_input.py",
    "test_campaign.py",
    "test_cluster.py",
    "test_cluster_tls.py",
    "test_demo.py",
    "test_docs.py",
    "test_page.py",
    "test_programme.py",
    "test_properties.py",
    "test_questions_and_notes.py",
    "test_serve.py",
    "test_watch.py",
    "test_watch_service.py",
)

# Slow as well, in one process and so without a second try: they answer questions about real jobs, test what measures
# us, or read all of the house. Of one test in ten they took 13.8 of 39.6 s of CPU (docs/LOG.md, 2026-11-26).
NOT_BETWEEN_EDITS = ("ask", "benchmarks", "test_door.py", "test_headlines.py", "test_natural.py")


@contextmanager
def first_worker_alone(config: pytest.Config) -> Iterator[None]:
    """In a fresh clone the others wait for it: what pytest and Hypothesis make of each file they need only read then.

    To rewrite the assertions and to look for constants is 58 % of collecting (docs/LOG.md, 2026-11-28).
    """
    worker = getattr(config, "workerinput", {}).get("workerid", "")
    collected = Path(config.option.basetemp or ".").parent / "collected"
    kept = sys.dont_write_bytecode or any(Path(__file__).parent.glob("__pycache__/test_house.*-pytest-*.pyc"))
    end = time.monotonic() + PATIENCE
    while worker not in ("", "gw0") and not kept and not collected.exists() and time.monotonic() < end:
        time.sleep(0.2)
    try:
        yield
    finally:
        if worker == "gw0":
            collected.touch()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """What is collected stays until the end: the garbage collector need not look at it, now or while tests run.

    Of 9.8 s of CPU that collecting took in each process, 2.8 were the collector's; of tests of the core 3 % are.
    """
    gc.disable()
    try:
        with first_worker_alone(session.config):
            return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(COLLECT_AFTER)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole programs are slow, and get a second try. The longest measurement comes first: last, it would run alone.

    The second try is for what the processes of a loaded machine do to each other; the summary names each test that
    needed it, and its cause is to be found. What runs inside one process has one try: same input, same bytes.
    """
    measured = listed()
    for item in items:
        if function_of(item.nodeid) in measured:
            item.add_marker(pytest.mark.slow)
        parts = set(item.path.relative_to(item.config.rootpath).parts)
        if parts & set(NOT_BETWEEN_EDITS):
            item.add_marker(pytest.mark.slow)
        if parts & set(WHOLE_PROGRAMS):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.flaky(reruns=1))
    items.sort(key=lambda item: item.path.name != "test_growth.py")


BEGAN = pytest.StashKey[float]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Its CPU is counted from here, with what it sets up."""
    item.stash[BEGAN] = cpu_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Generator[None, object, object]:
    """The report of its end takes the seconds from a worker to the process that adds up."""
    report = yield
    if call.when == "teardown" and isinstance(report, pytest.TestReport):
        report.user_properties.append(("cpu", cpu_seconds() - item.stash[BEGAN]))
    return report


@pytest.hookimpl(trylast=True)  # the workers of pytest-xdist have ended
def pytest_sessionfinish(session: pytest.Session) -> None:
    """The fast tier as a whole fails when it became dear; ``--update-slow`` writes down what each test took."""
    config = session.config
    if hasattr(config, "workerinput"):
        return
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if config.getoption("--update-slow") and reporter is not None:
        costs: dict[str, float] = {}
        for report in [report for reports in reporter.stats.values() for report in reports]:
            if isinstance(report, pytest.TestReport) and report.when == "teardown":
                seconds: Any = dict(report.user_properties).get("cpu", 0.0)
                name = function_of(report.nodeid)
                costs[name] = costs.get(name, 0.0) + seconds
        LIST.write_text(written(listed(), costs), encoding="ascii")
    trouble = too_dear(cpu_seconds(), words=config.getoption("markexpr"), places=config.option.file_or_dir)
    if trouble and session.exitstatus == pytest.ExitCode.OK and reporter is not None:
        reporter.write_line(trouble, red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """How many processes ``--numprocesses=auto`` means: one for each core, and one more where whole programs run.

    Those tests wait for half of their time: two processes kept two cores busy for 68 % of it (docs/LOG.md, "The suite:
    where its time goes").
    """
    waits = "not slow" not in config.getoption("markexpr")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + waits


class _Unsynced(sqlite3.Connection):
    """A database that does not wait for the disk at each write; all else is as the program asks for it."""

    def execute(self, sql: str, *words: Any) -> sqlite3.Cursor:
        return super().execute("PRAGMA synchronous=OFF" if sql.startswith("PRAGMA synchronous") else sql, *words)


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """The browser of this machine, for the tests of a file."""
    from benchmarks.support.chromium import chromium  # noqa: PLC0415 only tests of pages need playwright

    with chromium() as running:
        yield running


@pytest.fixture(scope="session", autouse=True)
def unsynced() -> Iterator[None]:
    """No test cuts the power: what a killed process wrote is there, synced or not; a disk takes 1 to 20 ms for each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", partial(sqlite3.dbapi2.connect, factory=_Unsynced))
        yield


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home folder for each test. ``mktemp`` lists all folders to find a number: of 4,000 homes that took 7.7 s."""
    root = tmp_path_factory.mktemp("homes")
    return (root / str(number) for number in count())


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, homes: Iterator[Path]) -> None:
    """No setting, home folder or cache of the person who runs the tests reaches them."""
    for name in os.environ:
        if name.startswith(("FIRSTFAULT_", "XDG_", "SLACK_", "OPENAI_", "AWS_")):
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    home = next(homes)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))


@pytest.fixture(scope="session")
def forker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forker]:
    """A process that has what children of bots load and compute first; its own caches are nobody's."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("HOME", str(tmp_path_factory.mktemp("forker")))
        environment.delenv("XDG_CACHE_HOME", raising=False)
        running = Forker(
            "bot.jobs.tasks:load",
            "tests.support.warmed_children:warm",
            "benchmarks.support.hasty_bot",
            "tests.support.workers",
        )
    with running:
        yield running


@pytest.fixture(scope="module")
def forked(forker: Forker) -> Iterator[None]:
    """Children of bots in this process need not load their packages, each for itself."""
    with forker.used():
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], str]:
    """Compare a text with the golden file of that path, whose text it returns."""
    update = bool(request.config.getoption("--update-golden"))

    def check(path: Path, text: str) -> str:
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        assert path.exists(), f"{path.name} is missing: run pytest --update-golden and read the diff"
        with path.open(encoding="utf-8", newline="") as file:
            recorded = file.read()
        assert text == recorded
        return recorded

    return check
