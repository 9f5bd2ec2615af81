# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""The command line that the smaller programs share."""

import argparse
from pathlib import Path


def arguments() -> argparse.Namespace:
    """What the job was asked to do."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--config", required=True)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--max-steps", type=int, default=60)
    parser.add_argument("--save-every", type=int, default=25)
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--loader-timeout", type=float, default=0)
    parser.add_argument("--init-timeout", type=float, default=25)
    parser.add_argument("--timeout", type=float, default=12)
    parser.add_argument("--step-ms", type=float, default=110)
    return parser.parse_args()
