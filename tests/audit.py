"""``make audit``: what is known of holes in the packages of both lock files; told, too, when nobody could be asked.

pip-audit ends with 0 when its service knows none of the packages, as behind a mirror that has no advisories. So what
was not answered for is counted here.
"""

import json
import subprocess
import sys
from collections.abc import Mapping

LOCKS = ("requirements.lock", "requirements-dev.lock")
# Holes that do not reach us, by their id, each with the reason. None so far.
EXCEPTIONS: Mapping[str, str] = {}


def main() -> int:
    """Print a line a hole and one a lock file; the exit code: 1 with a hole that is no exception."""
    return max(_audit(lock) for lock in LOCKS)


def _audit(lock: str) -> int:
    ignored = [word for one in EXCEPTIONS for word in ("--ignore-vuln", one)]
    command = [sys.executable, "-m", "pip_audit", "--require-hashes", "--disable-pip", "--format", "json", "-r", lock]
    done = subprocess.run([*command, *ignored], capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(f"{lock}: pip-audit gave no answer: {done.stderr.strip()[-200:]}")
        return 0 if "Connect" in done.stderr or "Timeout" in done.stderr else 1
    unknown = [one["name"] for one in found if "skip_reason" in one]
    holes = [(one, hole) for one in found for hole in one.get("vulns", ())]
    for one, hole in holes:
        print(f"{lock}: {one['name']} {one['version']}: {hole['id']}, repaired in {', '.join(hole['fix_versions'])}")
    print(f"{lock}: {len(found) - len(unknown)} of {len(found)} packages were asked about, {len(holes)} holes")
    if len(unknown) == len(found):
        print(f"{lock}: no service of advisories answers here, so nothing is known of any package")
    return 1 if holes else 0


if __name__ == "__main__":
    sys.exit(main())
