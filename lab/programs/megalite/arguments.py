# mypy: ignore-errors
"""The command line and the configuration file."""

import argparse
import json
from pathlib import Path

from megalite.model import ModelConfig


def parse_args() -> argparse.Namespace:
    """What the job was asked to do."""
    parser = argparse.ArgumentParser(description="megalite arguments", allow_abbrev=False)
    parser.add_argument("--config", required=True)
    parser.add_argument("--train-iters", type=int, default=60)
    parser.add_argument("--micro-batch-size", type=int, default=2)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--tensor-model-parallel-size", type=int, default=1)
    parser.add_argument("--data-path", required=True)
    parser.add_argument("--num-workers", type=int, default=1)
    parser.add_argument("--dataloader-timeout", type=float, default=0)
    parser.add_argument("--save", type=Path, required=True)
    parser.add_argument("--load", type=Path)
    parser.add_argument("--save-interval", type=int, default=25)
    parser.add_argument("--eval-interval", type=int, default=20)
    parser.add_argument("--eval-iters", type=int, default=2)
    parser.add_argument("--init-timeout-seconds", type=float, default=25)
    parser.add_argument("--distributed-timeout-seconds", type=float, default=12)
    parser.add_argument("--step-ms", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1234)
    return parser.parse_args()


def model_config(path: str) -> ModelConfig:
    """The model as the configuration file describes it."""
    return ModelConfig(**json.loads(Path(path).read_text(encoding="utf-8"))["model"])


def print_args(args: argparse.Namespace) -> None:
    """The table of arguments that every log begins with."""
    rows = [f"  {name} {'.' * (44 - len(name))} {value}" for name, value in sorted(vars(args).items())]
    print("------------------------ arguments ------------------------", *rows, sep="\n", flush=True)  # noqa: T201
    print("-------------------- end of arguments ---------------------", flush=True)  # noqa: T201
