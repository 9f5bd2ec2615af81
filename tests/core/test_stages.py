"""Stages: which line opens which one, how long it lasts, and that failures open none."""

import pytest

from core.course.stages import STAGES, stage_of_frames
from core.diagnose import diagnose
from core.job import Job
from core.model import Stage
from tests.support.jobs import at, example, four_nodes, job, lines, parse

INIT, DATA, MODEL, TRAIN = Stage.INITIALIZATION, Stage.DATA_LOADING, Stage.MODEL_LOADING, Stage.TRAINING
EVAL, SAVE, LOAD, UNKNOWN = Stage.EVALUATION, Stage.CHECKPOINT_SAVING, Stage.CHECKPOINT_LOADING, Stage.UNKNOWN

OPENERS = [
    # Megatron
    (INIT, "using world size: 8, data-parallel size: 8"),
    (INIT, "------------------------ arguments ------------------------"),
    (INIT, "> setting random seeds to 1234 ..."),
    (INIT, "[rank3] initialized process group: rank 3/8"),
    (MODEL, "building GPT model ..."),
    (MODEL, " > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 264448"),
    (MODEL, "[after model, optimizer, and learning rate scheduler are built] datetime: 2026-11-21 03:53:33"),
    (DATA, "> building train, validation, and test datasets for GPT ..."),
    (DATA, "    reading document index..."),
    (TRAIN, "training ..."),
    (TRAIN, "[before the start of training step] datetime: 2026-11-21 03:53:34"),
    (TRAIN, " iteration        1/     120 | consumed samples: 8 | lm loss: 5.5E+00 |"),
    (EVAL, "Evaluating on 64 samples"),
    (EVAL, "Evaluating iter 1/4"),
    (SAVE, "saving checkpoint at iteration      50 to /opt/ckpt"),
    (LOAD, " loading checkpoint from /opt/ckpt at iteration 50"),
    # DeepSpeed
    (INIT, "[2026-11-21 04:49:40,123] [INFO] [comm.py:652:init_distributed] Initializing TorchBackend in DeepSpeed"),
    (MODEL, "[2026-11-21 04:49:40,123] [INFO] [logging.py:96:log_dist] [Rank 0] DeepSpeed Basic Optimizer = AdamW"),
    (MODEL, "[2026-11-21 04:49:40,123] [INFO] [config.py:996:print] DeepSpeedEngine configuration:"),
    (TRAIN, "[2026-11-21 04:49:40,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, lr=[0.001]"),
    (SAVE, "[2026-11-21 04:49:40,123] [INFO] [torch_checkpoint_engine.py:21:save] [Torch] Saving /opt/x.pt..."),
    (LOAD, "[2026-11-21 04:49:40,123] [INFO] [torch_checkpoint_engine.py:27:load] [Torch] Loading checkpoint from /x"),
    # Hugging Face
    (INIT, "11/21/2026 03:47:22 - WARNING - __main__ - Process rank: 0, device: cuda:0, distributed training: True"),
    (MODEL, "11/21/2026 03:47:22 - INFO - __main__ - Training new model from scratch - Total size=124.44M params"),
    (MODEL, "Loading checkpoint shards:  33%|###       | 1/3 [00:02<00:05]"),
    (DATA, "Running tokenizer on dataset (num_proc=4):  10%|#         | 1000/10000 [00:01<00:09]"),
    (TRAIN, "***** Running training *****"),
    (TRAIN, "{'loss': 5.6, 'grad_norm': 3.5, 'learning_rate': 1e-4, 'epoch': 0.1}"),
    (EVAL, "***** Running Evaluation *****"),
    (EVAL, "{'eval_loss': 5.6, 'eval_runtime': 3.5, 'epoch': 0.1}"),
    (SAVE, "Saving model checkpoint to /tmp/out/checkpoint-50"),
    (LOAD, "Resuming from checkpoint /tmp/x"),
    # NeMo, Lightning, MLPerf
    (INIT, "[NeMo I 2025-04-30 16:35:21 megatron_init:253] Rank 0 has data parallel group : [0, 1]"),
    (INIT, "GPU available: True (cuda), used: True"),
    (INIT, ':::MLLOG {"time_ms": 1727699318686, "key": "init_start", "value": null, "metadata": {}}'),
    (MODEL, ':::MLLOG {"time_ms": 1727699318686, "key": "opt_name", "value": "adam", "metadata": {}}'),
    (DATA, ':::MLLOG {"time_ms": 1727699318686, "key": "train_samples", "value": 3, "metadata": {}}'),
    (TRAIN, ':::MLLOG {"time_ms": 1727699318686, "key": "run_start", "value": null, "metadata": {}}'),
    (TRAIN, "Epoch 0:  10%|#         | 10/100 [00:02<00:18]"),
    (EVAL, ':::MLLOG {"time_ms": 1727699318686, "key": "eval_start", "value": null, "metadata": {}}'),
    (EVAL, "Validation DataLoader 0:  10%|#         | 10/100 [00:02<00:18]"),
    (SAVE, "Async checkpoint save for step 10 finalized"),
    (LOAD, "Restoring states from the checkpoint path at /x"),
    # torchrun, MindSpore and others
    (INIT, "W1121 03:53:22.123000 77 torch/distributed/run.py:792] Setting OMP_NUM_THREADS environment variable"),
    (INIT, "node-00:77:99 [0] NCCL INFO NCCL version 2.21.5+cuda12.4"),
    (TRAIN, "epoch: 1 step: 12, loss is 5.5"),
    (TRAIN, "iter 12: loss 5.5, time 211ms"),
    (SAVE, "Start to save checkpoint 12"),
    (LOAD, "load checkpoint from x.ckpt"),
    # torchtitan, MaxText, Composer, scripts
    (INIT, "[titan] - root - INFO - Building 1-D device mesh with ['dp_shard'], [8]"),
    (INIT, "Initializing distributed environment"),
    (MODEL, "[titan] - root - INFO - Building llama3 debugmodel with TransformerModelArgs(dim=256)"),
    (MODEL, "[titan] - root - INFO - Applied FSDP to the model"),
    (MODEL, "Loading model weights from /models/llama"),
    (DATA, "[titan] - root - INFO - Preparing c4_test dataset from tests/assets/c4_test"),
    (DATA, "Building dataloader"),
    (DATA, "Loading dataset from /mnt/train"),
    (TRAIN, "[titan] - root - INFO - Training starts at step 1"),
    (TRAIN, "Start training"),
    (TRAIN, "Train Epoch: 1 [640/60000 (1%)]   Loss: 2.3"),
    (EVAL, "Running validation"),
    (EVAL, "Start evaluation at step 100"),
    (SAVE, "Saving the checkpoint (or staging if async is enabled)."),
    (SAVE, "writing checkpoint step-100 to /mnt"),
    (LOAD, "Loading the checkpoint at step 500."),
    (LOAD, "Resuming training from /ckpt/step_100"),
    (LOAD, "restoring optimizer state"),
]


def stages(one: Job) -> dict[str, list[Stage]]:
    """Stage of each row of each file."""
    parsed = parse(one)
    by_file: dict[str, list[Stage]] = {}
    for file, stage in zip(parsed.table.file.tolist(), parsed.stages.tolist(), strict=True):
        by_file.setdefault(parsed.table.files[file].removeprefix("logs/"), []).append(STAGES[stage])
    return by_file


@pytest.mark.parametrize(("stage", "line"), OPENERS)
def test_a_stage_lasts_from_its_line_on(stage: Stage, line: str) -> None:
    """The line that names a stage belongs to it, and so does what follows."""
    assert stages(job({"train.log": lines(line, "anything")})) == {"train.log": [stage, stage]}


@pytest.mark.parametrize("clock", [True, False])
def test_what_stands_above_a_stage_is_not_in_it(clock: bool) -> None:
    """Before the first stage was named it is unknown; also in logs without any clock."""
    said = ["hello", "building GPT model ...", "x", "saving checkpoint at iteration 5", "y"]

    found = stages(job({"train.log": lines(*(at(n, text) if clock else text for n, text in enumerate(said)))}))

    assert found == {"train.log": [UNKNOWN, MODEL, MODEL, SAVE, SAVE]}


@pytest.mark.parametrize(
    "line",
    [
        "[W1121 04:00:00.1 x.cpp:1] failed to shutdown the rendezvous on node-00",
        "ERROR: could not load checkpoint from /opt/ckpt: [Errno 5] Input/output error",
        "RuntimeError: Timed out initializing process group in store based barrier",
        "2026-11-21 04:00:00,000 ERROR Saving model checkpoint to /tmp/x: No space left on device",
        "unable to start: building GPT model ... failed",
        "WARNING: evaluating on 64 samples failed, skipped",
    ],
)
def test_what_goes_wrong_opens_no_stage(line: str) -> None:
    """An error names what it could not do; it happened in the stage that was going on."""
    assert stages(job({"train.log": lines("training ...", line, "x")})) == {"train.log": [TRAIN] * 3}


def test_a_checkpoint_that_was_saved_is_training_again() -> None:
    """What fails after it is no failure of saving."""
    said = lines("saving checkpoint at iteration 50 to /opt/ckpt", "successfully saved checkpoint at iteration 50", "x")

    assert stages(job({"train.log": said})) == {"train.log": [SAVE, TRAIN, TRAIN]}


def test_a_completed_iteration_is_training_again() -> None:
    """After a checkpoint was saved training goes on without saying so; the next iteration tells."""
    said = lines(
        "saving checkpoint at iteration 50 to /opt/ckpt", "iteration: 51 took 3.5 s", "evaluating on 8 samples"
    )

    assert stages(job({"train.log": said})) == {"train.log": [SAVE, TRAIN, EVAL]}


def test_what_loads_before_training_does_not_load_again_after_an_iteration() -> None:
    """MLPerf counts its samples and libraries name themselves at any time; another run begins anew."""
    said = lines(
        "building GPT model ...", "iteration: 51 took 3.5 s", "NCCL version 2.27.3", "building GPT model ...", "x"
    )

    assert stages(job({"train.log": said})) == {"train.log": [MODEL, TRAIN, TRAIN, TRAIN, TRAIN]}


def test_who_names_no_stage_follows_the_jobs_clock() -> None:
    """Rank 0 prints the markers; what another rank or a daemon says then was said in the same stage."""
    rank_0 = lines(
        at(0, "building GPT model ..."),
        at(10, "***** Running training *****"),
        at(20, "saving checkpoint at iteration 5"),
    )
    daemon = lines(at(-1, "up"), at(5, "a"), at(15, "b"), at(25, "c"))

    found = stages(job({"rank_0.log": rank_0, "node-0/slurmd.log": daemon}))

    assert found["node-0/slurmd.log"] == [UNKNOWN, MODEL, TRAIN, SAVE]


def test_who_names_its_stages_keeps_its_own_time() -> None:
    """Clocks of nodes differ; within a file the order of lines decides."""
    early = lines(
        at(0, "building GPT model ..."),
        at(1, "***** Running training *****"),
        at(2, "saving checkpoint at iteration 5"),
    )
    late = lines(
        at(100, "building GPT model ..."),
        at(101, "***** Running training *****"),
        at(102, "saving checkpoint at iteration 5"),
        at(1, "x"),
    )

    found = stages(job({"rank_0.log": early, "rank_1.log": late}))

    assert found["rank_0.log"] == [MODEL, TRAIN, SAVE]
    assert found["rank_1.log"] == [MODEL, TRAIN, SAVE, SAVE]


def test_what_carries_whole_seconds_on_is_not_before_the_line_above_it() -> None:
    """Megatron's clock has microseconds, that of a monitor beside it seconds, and what saves has none."""
    rank_0 = lines(
        "[2026-11-21 03:53:34.511] iteration: 6 took 3.5 s",
        "[2026-11-21 03:53:34] | MnRtt/Rnk: 3948.46ms/2",
        "saving checkpoint at iteration 6 to /opt/ckpt",
    )
    controller = lines("[2026-11-21T03:59:34.000] Time limit exhausted for JobId=5")

    assert stages(job({"train.log": rank_0, "slurmctld.log": controller}))["slurmctld.log"] == [SAVE]


def test_without_a_marker_the_stage_is_unknown() -> None:
    """Nothing is guessed."""
    assert stages(job({"a.log": lines("hello", at(3, "world"))})) == {"a.log": [UNKNOWN, UNKNOWN]}


@pytest.mark.parametrize(
    ("functions", "stage"),
    [
        (["main", "pretrain", "train", "save_checkpoint_and_time", "save_checkpoint"], SAVE),
        (["main", "train", "evaluate_and_print_results", "evaluate", "forward_step"], EVAL),
        (["main", "pretrain", "train", "train_step", "backward"], TRAIN),
        (["main", "setup_model_and_optimizer", "load_checkpoint"], LOAD),
        (["main", "train", "build_train_valid_test_data_iterators"], DATA),
        (["main", "build_train_valid_test_data_iterators"], DATA),
        (["main", "get_model", "model_provider"], INIT),
        (["main", "train", "from_pretrained"], MODEL),
        (["main", "initialize_megatron", "parse_args"], INIT),
        (["main", "<module>", "f"], None),
    ],
)
def test_a_traceback_names_its_stage_by_its_functions(functions: list[str], stage: Stage | None) -> None:
    """Saving, loading and evaluating all happen inside the training loop: the innermost of them counts."""
    frames = [f'  File "/opt/x.py", line {n}, in {function}' for n, function in enumerate(functions)]

    assert stage_of_frames(["Traceback (most recent call last):", *frames, "ValueError: x"]) is stage


def test_a_real_job_has_all_its_stages() -> None:
    """A successful lab job went through each of them, in the order of a training run."""
    parsed = parse(example("s01"))
    seen = list(dict.fromkeys(STAGES[stage] for stage in parsed.stages.tolist()))

    assert set(seen) >= {INIT, DATA, MODEL, TRAIN, EVAL, SAVE}
    assert parsed.stages.dtype.itemsize == 1


@pytest.mark.parametrize(("times", "stage"), [(6, Stage.TRAINING), (3, Stage.INITIALIZATION)])
def test_what_most_say_again_and_again_with_other_numbers_is_a_loop(times: int, stage: Stage) -> None:
    """In words that nobody knows, and that count nothing; a few times may be what is set up."""
    loss = [f"passe, perte 0.{(37 * k * k) % 100:02}, lots en cache" for k in range(times)]
    said = {n: [at(k, text) for k, text in enumerate(loss)] for n in range(4)}
    said[2].append(at(9, "OSError: [Errno 24] Too many open files"))

    assert diagnose(four_nodes(said), []).stage is stage
