# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""Causal language modelling with the Trainer of Hugging Face: a small Llama from scratch, nothing is downloaded."""

import argparse
import json
import logging
import os
import sys
import time
from pathlib import Path
from typing import Any

import torch
import transformers
from corpus import Shards
from noise import slow_batch, start_noise
from stacks import dump_stacks_when_ended
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments, set_seed

logger = logging.getLogger(__name__)
LENGTH = 48  # of a sample, as "length" of TINY in lab/settings.py


class ModelArguments:
    """The model as config.json describes it; unknown keys are refused."""

    def __init__(self, hidden_size: int = 64, layers: int = 2) -> None:
        self.hidden_size, self.layers = hidden_size, layers


class Samples:
    """Windows of all shards, as the Trainer wants them."""

    def __init__(self, folder: str, split: str, size: int) -> None:
        self.shards = Shards(folder, split, LENGTH, 0, 1)
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> dict[str, Any]:
        window = self.shards[index][:LENGTH]
        return {"input_ids": window, "labels": window.clone()}


class PaceCallback(TrainerCallback):
    """Gives every step the time that a larger model would take."""

    def __init__(self, step_ms: float, rank: int) -> None:
        self.seconds = step_ms / 1000
        self.rank = rank

    def on_step_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Wait."""
        del args, control, others
        rank, iteration = self.rank, state.global_step + 1
        # <step>
        time.sleep(self.seconds)
        slow_batch(rank, iteration)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--config", required=True)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--output-dir", required=True)
    parser.add_argument("--resume-from", type=Path)
    parser.add_argument("--max-steps", type=int, default=60)
    parser.add_argument("--eval-every", type=int, default=20)
    parser.add_argument("--save-every", type=int, default=25)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--init-timeout", type=float, default=25)
    parser.add_argument("--timeout", type=float, default=12)
    parser.add_argument("--step-ms", type=float, default=110)
    return parser.parse_args()


def main() -> None:
    """The whole job of one rank."""
    args = arguments()
    model_args = ModelArguments(**json.loads(Path(args.config).read_text(encoding="utf-8")))
    training_args = TrainingArguments(
        output_dir=args.output_dir, use_cpu=True, ddp_backend="gloo", ddp_timeout=int(args.timeout) + 6,
        max_steps=args.max_steps, per_device_train_batch_size=2, per_device_eval_batch_size=2, logging_steps=5,
        save_steps=args.save_every, eval_strategy="steps", eval_steps=args.eval_every, warmup_steps=5,
        learning_rate=args.learning_rate, dataloader_num_workers=1, report_to=[], log_level="info",
        save_total_limit=1, seed=42, disable_tqdm=False,
    )  # fmt: skip
    logging.basicConfig(
        format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S",
        handlers=[logging.StreamHandler(sys.stdout)], level=logging.INFO,
    )  # fmt: skip
    transformers.utils.logging.set_verbosity_info()
    transformers.utils.logging.enable_default_handler()
    transformers.utils.logging.enable_explicit_format()
    rank = training_args.process_index
    logger.warning(
        "Process rank: %d, device: %s, distributed training: True, host: %s", rank, training_args.device,
        os.environ["NODE_NAME"],
    )  # fmt: skip
    start_noise(rank, training_args.local_process_index)
    set_seed(training_args.seed)
    torch.set_num_threads(1)
    dump_stacks_when_ended()
    config = LlamaConfig(
        vocab_size=64, hidden_size=model_args.hidden_size, intermediate_size=128, num_attention_heads=4,
        num_hidden_layers=model_args.layers, num_key_value_heads=2, max_position_embeddings=LENGTH,
        bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    logger.info("Training new model from scratch - Total size=%d params", sum(p.numel() for p in model.parameters()))
    trainer = Trainer(
        model=model, args=training_args, train_dataset=Samples(args.data_dir, "train", 4000),
        eval_dataset=Samples(args.data_dir, "valid", 16),
        callbacks=[PaceCallback(args.step_ms, rank)],
    )  # fmt: skip
    kept = sorted(args.resume_from.glob("checkpoint-*")) if args.resume_from else []
    result = trainer.train(resume_from_checkpoint=str(kept[-1]) if kept else None)
    trainer.log_metrics("train", result.metrics)
    logger.info("training finished")


if __name__ == "__main__":
    main()
