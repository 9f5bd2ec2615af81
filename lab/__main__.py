"""``python -m lab kinds | make | label | check``."""
# ruff: noqa: T201 - a command line

import argparse
import sys
from pathlib import Path

from lab.check import check
from lab.errors import LabError
from lab.fault_kinds import FAULTS
from lab.make import Order, abilities, label_all, make


def main() -> int:
    """Run one command."""
    options = vars(_parser().parse_args())
    command = options.pop("command")
    try:
        if command == "kinds":
            return _list_kinds()
        if command == "make":
            return make(Order(**options | {"kinds": tuple(options["kinds"]), "settings": tuple(options["settings"])}))
        complaints = label_all(options["out"]) if command == "label" else ()
        return _report((*complaints, *check(options["out"])))
    except LabError as error:
        print(f"error: {error.message}", *([f"hint: {error.hint}"] if error.hint else []), sep="\n", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lab", description="Real small training jobs with real faults.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("kinds", help="list the kinds of faults, and what this machine cannot make")
    maker = commands.add_parser("make", help="make a set of labelled jobs")
    maker.add_argument("--out", type=Path, required=True, help="gets jobs/, truth/ and runs/")
    maker.add_argument("--seed", type=int, required=True, help="decides kinds, nodes, ranks and iterations")
    maker.add_argument("--jobs", type=int, default=40, help="how many, with the successful ones (default: 40)")
    maker.add_argument("--kinds", nargs="*", default=[], help="only these kinds")
    maker.add_argument("--settings", nargs="*", default=[], help="only these groups of settings")
    maker.add_argument("--python", type=Path, default=Path(sys.executable), help="an interpreter that has torch")
    maker.add_argument("--parallel", type=int, default=2, help="jobs at a time (default: 2)")
    maker.add_argument("--loopback", action="store_true", help="no network namespaces, even as root")
    for name, text in (("check", "check the labels of a set"), ("label", "make the labels of a set again")):
        commands.add_parser(name, help=text).add_argument("out", type=Path, metavar="DIR")
    return parser


def _list_kinds() -> int:
    able, anybody = abilities(), {"node": "a node", "rank": "N", "iteration": "N"}
    for fault in FAULTS.values():
        missing = sorted(fault.needs - able)
        what = f"needs {', '.join(missing)}" if missing else fault.summary.format_map(anybody)
        print(f"{fault.kind:26}{fault.scope:6}{what}")
    return 0


def _report(complaints: tuple[str, ...]) -> int:
    print(*complaints, f"{len(complaints)} complaints", sep="\n")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
