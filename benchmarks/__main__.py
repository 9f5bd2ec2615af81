"""All benchmarks, and their tables into README.md and docs/: `make bench`."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STEPS = (
    ("benchmarks.quality", "--write", str(ROOT / "README.md")),
    ("benchmarks.parsing", "--write", str(ROOT / "docs" / "speed.md")),
)


def main() -> int:
    """Run them one after the other; the first that fails ends it."""
    for step in STEPS:
        done = subprocess.run([sys.executable, "-m", *step], cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
