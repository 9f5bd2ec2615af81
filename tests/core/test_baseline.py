"""The baseline: which successful jobs are compared with, what of them counts, and that the cache can be trusted."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.support.memory_cache import MemoryCache
from core.baseline import MAX_BASELINE, OTHER_WORDS, choose_baseline, normal, profile_job
from core.cache import ByteCache
from core.job import Job, Manifest, Status
from core.parsing.templates import find_templates
from tests.support.jobs import at, example, job, lines, log_file, parse, steps

SOFTWARE = {"torch": "2.13.0", "python": "3.11.7"}


def manifest(job_id: str, **said: Any) -> Manifest:
    """A successful job with settings mg4x2, unless something else is said."""
    known: dict[str, Any] = {"status": Status.COMPLETED, "settings_id": "mg4x2"}
    return Manifest(job_id, **(known | said))


FAILED = manifest("f1", status=Status.FAILED)


def test_successful_jobs_with_the_same_settings_id_are_the_baseline() -> None:
    """The settings id alone decides, whatever else differs."""
    others = [
        manifest("s2", model="another", framework="another"),
        manifest("s1"),
        manifest("s3", settings_id="ds4x1"),
        manifest("s4", settings_id=None),
    ]

    assert choose_baseline(FAILED, others) == ("s1", "s2")


def test_a_job_is_never_compared_with_itself() -> None:
    """A job that completed explains all of its own lines."""
    assert choose_baseline(manifest("s1"), [manifest("s1"), manifest("s2")]) == ("s2",)


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.COMPLETED])
def test_only_jobs_that_completed_are_compared_with(status: Status) -> None:
    """What a failed, cancelled or running job says is not normal, nor is that of a job of which nothing is known."""
    assert choose_baseline(FAILED, [manifest("x", status=status)]) == ()


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        ({}, True),
        ({"model": "gpt-7b"}, False),
        ({"framework": "deepspeed"}, False),
        ({"extra": {"software": SOFTWARE | {"torch": "2.12.0"}}}, False),
        ({"extra": {}}, False),
        ({"world_size": 512}, True),
        ({"settings_id": "mg4x2"}, False),
    ],
)
def test_without_a_settings_id_model_framework_and_software_decide(other: dict[str, Any], alike: bool) -> None:
    """The scale does not matter; a job that has an id has said with whom it may be compared."""
    said = {"settings_id": None, "model": "gpt-tiny", "framework": "megatron", "extra": {"software": SOFTWARE}}

    chosen = choose_baseline(manifest("f1", **said, status=Status.FAILED), [manifest("s1", **(said | other))])

    assert chosen == (("s1",) if alike else ())


def test_jobs_that_say_nothing_of_themselves_are_not_alike() -> None:
    """Two manifests without model and framework are equal in nothing but their silence."""
    assert choose_baseline(manifest("f1", settings_id=None), [manifest("s1", settings_id=None)]) == ()


def test_jobs_of_the_same_size_come_first_and_there_are_not_too_many() -> None:
    """More successful jobs would only cost time."""
    others = [manifest(f"s{n:02d}", world_size=8 if n % 2 else 16) for n in range(30)]

    chosen = choose_baseline(replace(FAILED, world_size=8), others)

    assert chosen == tuple(f"s{n:02d}" for n in range(1, 2 * MAX_BASELINE, 2))


@given(st.permutations([manifest(f"s{n}", world_size=8 * (n % 3)) for n in range(12)]))
def test_the_order_of_jobs_changes_nothing(others: list[Manifest]) -> None:
    """A bucket lists its folders in an order of its own."""
    assert choose_baseline(FAILED, others) == choose_baseline(FAILED, others[::-1])


def texts(one: Job) -> dict[str, int]:
    return profile_job(one, cache=None, workers=1, progress=None).texts()


def test_failed_attempts_of_a_restarted_job_are_left_out() -> None:
    """A job that succeeded at its second try holds a complete failure in its first."""
    restarted = job(
        {
            "node-0/run/attempt_0/0/stderr.log": lines("starting", "RuntimeError: Connection closed by peer"),
            "node-0/run/attempt_1/0/stderr.log": lines("starting", "done"),
            "node-0/slurmd.log": lines("RuntimeError: told by the daemon"),
        }
    )

    assert texts(restarted) == {"starting": 1, "done": 1, "RuntimeError: told by the daemon": 1}


def test_what_is_normal_is_the_most_that_one_speaker_said() -> None:
    """A rank of a larger job says no more than one of a small job: counts are by speaker, not by job."""
    good = [
        job({f"rank_{n}.log": lines(*["retrying"] * times) for n, times in enumerate((1, 3, 2, 1))}, job_id="s1"),
        job({f"rank_{n}.log": lines(*["retrying"] * times) for n, times in enumerate((1, 2, 5, 1))}, job_id="s2"),
    ]
    profiles = [profile_job(one, cache=None, workers=1, progress=None) for one in good]
    templates = find_templates({"retrying": 1})

    usual = normal(profiles, templates)

    event = templates["retrying"].id
    assert usual.anywhere == {event: 5}
    assert max(count for (_, named), count in usual.most.items() if named == event) == 5
    assert usual.jobs == 2


def test_what_everybody_always_says_is_known() -> None:
    """Its absence will be a sign; what one speaker of one job left out is not always said."""
    said = {"s1": (["up", "ready"], ["up", "ready"]), "s2": (["up", "ready"], ["up"])}
    profiles = [
        profile_job(job({f"node-{n}/slurmd.log": lines(*own) for n, own in enumerate(daemons)}, job_id=job_id),
                    cache=None, workers=1, progress=None)
        for job_id, daemons in said.items()
    ]  # fmt: skip
    templates = find_templates({"up": 1, "ready": 1})

    usual = normal(profiles, templates)

    assert set(usual.always.values()) == {frozenset({templates["up"].id})}


def test_another_program_sets_no_pace() -> None:
    """Model and framework are the same; what counts its iterations is not, so its pauses are no habit of this job."""
    good = parse(job({"rank_0.log": lines(*(at(9 * n, f"tick {n} done") for n in range(20)))})).job
    ours = job({"rank_0.log": lines(*(at(n, f"step {n} loss 2.5") for n in range(20)))})
    same = job({"rank_0.log": lines(*(at(2 * n, f"step {n} loss 2.5") for n in range(20)))})

    beside_another, beside_the_same = parse(ours, good).usual, parse(ours, same).usual

    assert beside_another is not None
    assert beside_another.pace is None
    assert beside_the_same is not None
    assert beside_the_same.pace is not None
    assert beside_the_same.pace.progress == 2.0


class CountingCache:
    """A cache that tells how often it was asked and given something."""

    def __init__(self) -> None:
        self.kept = MemoryCache()
        self.keys: list[str] = []
        self.puts = 0
        self.folder = None

    def get(self, key: str) -> bytes | None:
        self.keys.append(key)
        return self.kept.get(key)

    def put(self, key: str, value: bytes) -> None:
        self.puts += 1
        self.kept.put(key, value)

    def open(self, key: str) -> int | None:
        return self.kept.open(key)

    def keep(self, key: str, descriptor: int) -> None:
        self.kept.keep(key, descriptor)


def profile(one: Job, cache: ByteCache) -> object:
    return profile_job(one, cache=cache, workers=1, progress=None)


def test_a_profile_from_the_cache_equals_one_that_was_read() -> None:
    """A second diagnosis says the same as the first, without reading the good job again."""
    cache, good = CountingCache(), example("s15")

    first = profile(good, cache)
    unreadable = replace(good, logs=tuple(replace(file, open=_must_not_be_opened) for file in good.logs))
    second = profile(unreadable, cache)

    assert second == first == profile(good, MemoryCache())
    assert cache.puts == 1


def _must_not_be_opened() -> Any:
    raise AssertionError("a cached job was read again")


@pytest.mark.parametrize("damaged", [b"", b"\x00garbage", b"x\x9c\x03\x00\x00\x00\x00\x01", "half", "other"])
def test_damaged_cache_bytes_are_ignored(damaged: bytes | str) -> None:
    """The cache may hold anything; the answer stays the same."""
    good = job({"rank_0.log": lines(*steps(3), "done")}, job_id="s1")
    whole = MemoryCache()
    expected = profile(good, whole)
    cache, key = CountingCache(), _key_of(good)
    held = whole.get(key) or b""
    wrong = {"half": held[: len(held) // 2], "other": held[::-1]}
    cache.kept.put(key, damaged if isinstance(damaged, bytes) else wrong[damaged])

    assert profile(good, cache) == expected
    assert cache.puts == 1  # and it is repaired


def _key_of(one: Job) -> str:
    cache = CountingCache()
    profile(one, cache)
    return cache.keys[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda one: replace(one, logs=(log_file("logs/rank_0.log", "other\n"), *one.logs[1:])),
        lambda one: replace(one, logs=(replace(one.logs[0], size=9), *one.logs[1:])),
        lambda one: replace(one, logs=(replace(one.logs[0], stamp="new"), *one.logs[1:])),
        lambda one: replace(one, logs=(replace(one.logs[0], name="logs/rank_7.log"), *one.logs[1:])),
        lambda one: replace(one, logs=one.logs[1:]),
        lambda one: replace(one, manifest=replace(one.manifest, job_id="s9")),
        lambda one: replace(one, manifest=replace(one.manifest, nodes=("a", "b"))),
        lambda one: replace(one, manifest=replace(one.manifest, node_ranks={"a": (0, 1)})),
        lambda one: replace(one, manifest=replace(one.manifest, world_size=64)),
        lambda one: replace(one, manifest=replace(one.manifest, node_addresses={"a": ("10.0.0.1",)})),
    ],
)
def test_whatever_changes_a_profile_changes_its_key(change: Any) -> None:
    """A file that was written since, or a manifest that gives other nodes and ranks, is read anew."""
    one = job({"rank_0.log": lines("a"), "rank_1.log": lines("b")}, job_id="s1")

    assert _key_of(change(one)) != _key_of(one)


def test_what_changes_no_profile_keeps_the_key() -> None:
    """The same files are found again, in whatever order they are listed and wherever they are opened from."""
    one = job({"rank_0.log": lines("a"), "rank_1.log": lines(at(0, "b"))}, job_id="s1")

    assert _key_of(replace(one, problems=("x",))) == _key_of(one)
    assert _key_of(one) == _key_of(job({"rank_1.log": lines(at(0, "b")), "rank_0.log": lines("a")}, job_id="s1"))


@pytest.mark.parametrize(("more", "others"), [(OTHER_WORDS - 1, 0), (OTHER_WORDS, 1)], ids=["settings", "a version"])
def test_how_fast_another_version_trains_is_no_measure(more: int, others: int) -> None:
    """A job that lists many settings before its first iteration of which a good job has none."""
    letters = [f"{first}{second}" for first in "abcdefgh" for second in "stuvwxyz"]
    listed = [f"{name} {name * 2}: {name[::-1]} {name * 3}" for name in letters[:more]]
    good = job({"train.log": lines(*steps(20))}, job_id="s1", status=Status.COMPLETED)

    usual = parse(job({"train.log": lines(*listed, *steps(20, seconds=3.0))}), good).usual

    assert usual is not None
    assert (usual.others, usual.pace is None) == (others, bool(others))
