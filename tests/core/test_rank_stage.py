"""The stage of a failure: by what broke, where neither a traceback nor a line names one."""

import pytest

from core.diagnose import diagnose
from core.job import Status
from core.model import Stage
from tests.support.jobs import four_nodes, job, lines, steps

START = ("NCCL version 2.27.3", "***** Running training *****")
NO_DATA = "FileNotFoundError: [Errno 2] No such file or directory: '{}'"


@pytest.mark.parametrize(
    ("path", "stage"),
    [
        ("/mnt/dataset/part-3.bin", Stage.DATA_LOADING),
        ("/mnt/shared/data_phase2", Stage.DATA_LOADING),
        ("/mnt/shared/corpus_text_document.idx", Stage.DATA_LOADING),
        ("/opt/app/settings.yaml", Stage.TRAINING),
    ],
)
def test_before_the_first_iteration_a_missing_data_set_fails_the_loading_of_data(path: str, stage: Stage) -> None:
    """MLPerf says that the run begins before it opens its data."""
    said = lines(*START, NO_DATA.format(path))

    assert diagnose(job({"train.log": said}), []).stage is stage


def test_before_the_first_iteration_the_fault_tells_more_than_the_clock() -> None:
    """A checkpoint that does not fit fails when it is loaded, whatever the last line was about."""
    said = lines(*START, "RuntimeError: Error(s) in loading state_dict for GPTModel: size mismatch for wte.weight")

    assert diagnose(job({"train.log": said}), []).stage is Stage.CHECKPOINT_LOADING


def test_after_an_iteration_a_missing_shard_fails_the_training() -> None:
    """The loop was at work: when it failed says more than what it asked for."""
    said = lines(*START, *steps(6), NO_DATA.format("/mnt/dataset/part-3.bin"))

    assert diagnose(job({"train.log": said}), []).stage is Stage.TRAINING


@pytest.mark.parametrize(
    ("said", "stage"),
    [
        ("[ERROR] HCCL: error cqe status[12], retry exceeded", Stage.TRAINING),
        ("ModuleNotFoundError: No module named 'apex'", Stage.INITIALIZATION),
    ],
)
def test_where_no_line_names_a_stage_the_fault_tells(said: str, stage: Stage) -> None:
    """A transfer fails while ranks talk, an import before they do."""
    assert diagnose(four_nodes({1: [said]}), []).stage is stage


IN_TRAIN = (
    "Traceback (most recent call last):",
    '  File "/opt/run.py", line 9, in {}',
    '    loader = make(config["shards"])',
    "KeyError: 'shards'",
)


@pytest.mark.parametrize("function", ["train", "train_loop"])
def test_who_counts_no_iteration_where_good_jobs_do_has_not_trained(function: str) -> None:
    """Many programs do all of their work in a function of that name, from settings on."""
    failed = job({"train.log": lines("hello", *IN_TRAIN).format(function)}, settings_id="a")
    good = job({"train.log": lines("hello", *steps(9))}, settings_id="a", status=Status.COMPLETED)

    assert diagnose(failed, [good]).stage is Stage.INITIALIZATION
    assert diagnose(failed, []).stage is Stage.TRAINING


@pytest.mark.parametrize(
    ("said", "stage"),
    [
        ("OSError: [Errno 122] Disk quota exceeded: '/lustre/run/step50/__0_0.distcp'", Stage.CHECKPOINT_SAVING),
        ("RuntimeError: Sicherung 50 fehlgeschlagen", Stage.CHECKPOINT_SAVING),
        ("RuntimeError: cannot read the last checkpoint", Stage.TRAINING),
        ("torch.utils.checkpoint.CheckpointError: recomputed values have other metadata", Stage.TRAINING),
    ],
)
def test_after_an_iteration_an_error_that_speaks_of_a_checkpoint_fails_its_saving(said: str, stage: Stage) -> None:
    """In any language that the rules know; activations that are computed again are none, nor is what is loaded."""
    assert diagnose(job({"train.log": lines(*START, *steps(6), said)}), []).stage is stage
