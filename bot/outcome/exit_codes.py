"""Exit codes: who ended with which, and the signal that one stands for."""

from signal import Signals

from core.job import Manifest
from core.naming import natural


def codes_of(manifest: Manifest) -> dict[str, int]:
    """Exit codes by job.json, of ranks where it has those, else of nodes."""
    codes = {f"rank {rank}": code for rank, code in manifest.rank_exit_codes.items()} or dict(manifest.exit_codes)
    return {name: code for name, code in sorted(codes.items(), key=lambda item: natural(item[0])) if code is not None}


def described(code: int) -> str:
    """A code with its signal: "137 (SIGKILL)"."""
    name = signal_of(code)
    return f"{code} ({name})" if name else str(code)


def signal_of(code: int) -> str:
    """The signal that an exit code stands for: negative, or 128 and more; empty where it stands for none."""
    number = -code if code < 0 else code - 128
    try:
        return Signals(number).name if number > 0 else ""
    except ValueError:
        return ""
