# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""An emulated accelerator: it takes time for a step, and it can be lost (its device file goes away)."""

import os
import time
from pathlib import Path

LOST = (
    "CUDA error: unspecified launch failure\n"
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
    "incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
)


class Accelerator:
    """The device of this rank."""

    def __init__(self, local_rank: int, milliseconds: float) -> None:
        self._file = Path(os.environ.get("DEVICE_DIR", "/dev")) / f"accel{local_rank}"
        self._seconds = milliseconds / 1000

    def launch(self) -> None:
        """Do the work of one step; a device that is gone says so when it is used."""
        time.sleep(self._seconds)
        self.synchronize()

    def synchronize(self) -> None:
        """Wait for the device."""
        if not self._file.exists():
            raise RuntimeError(LOST)
