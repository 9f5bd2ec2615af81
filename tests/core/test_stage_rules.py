"""Stage rules on tracebacks of real programs: what was being built, loaded or run when it broke."""

import pytest

from core.course.stages import stage_of_frames
from core.model import Stage

# the functions of the traceback, outermost first
MEGATRON_MODEL = ("pretrain", "setup_model_and_optimizer", "get_model", "model_provider")
MEGATRON_TOKENIZER = ("initialize_megatron", "set_global_variables", "build_tokenizer", "from_pretrained")
MEGATRON_DATA = ("pretrain", "build_train_valid_test_data_iterators", "_build_index_mappings")
TUNER_DATA = ("launch", "train", "get_dataset", "load_dataset_builder")
TUNER_TOKENIZER = ("train", "from_pretrained")
RESUMED = ("main", "train", "load_state_dict")
STEP = ("train", "_inner_training_loop", "training_step", "backward")
SAVED = ("train", "_maybe_log_save_evaluate", "_save_checkpoint", "save_checkpoint")


@pytest.mark.parametrize(
    ("functions", "stage"),
    [
        (MEGATRON_MODEL, Stage.INITIALIZATION),
        (MEGATRON_TOKENIZER, Stage.INITIALIZATION),
        (MEGATRON_DATA, Stage.DATA_LOADING),
        (TUNER_DATA, Stage.DATA_LOADING),
        (TUNER_TOKENIZER, Stage.MODEL_LOADING),
        (RESUMED, Stage.CHECKPOINT_LOADING),
        (STEP, Stage.TRAINING),
        (SAVED, Stage.CHECKPOINT_SAVING),
    ],
)
def test_the_functions_of_a_traceback_name_the_stage(functions: tuple[str, ...], stage: Stage) -> None:
    """A function `train` around everything does not hide what was being loaded."""
    lines = [f'  File "x.py", line {n}, in {name}' for n, name in enumerate(functions)]

    assert stage_of_frames(lines) is stage


@pytest.mark.parametrize(
    ("code", "stage"),
    [
        ("torch.save(state, path)", Stage.CHECKPOINT_SAVING),
        ("self._save_checkpoint(runner)", Stage.CHECKPOINT_SAVING),
        ("sichern(zustand, schritt)", Stage.CHECKPOINT_SAVING),
        ("y = model(x)", None),
    ],
)
def test_what_the_innermost_frame_calls_names_the_stage(code: str, stage: Stage | None) -> None:
    """Functions of C leave no frame of their own; the code of outer frames is older."""
    outer = ['  File "train.py", line 9, in main', "    saved = save_all(x)"]
    lines = ["Traceback (most recent call last):", *outer, '  File "train.py", line 3, in one', f"    {code}"]

    assert stage_of_frames([*lines, "OSError: [Errno 28] No space left on device"]) is stage
