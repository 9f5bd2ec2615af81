# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""Entry point, as users of Megatron-LM know it."""

from megalite.training import pretrain

if __name__ == "__main__":
    pretrain()
