"""``firstfault check-nodes``: words in, an exit code out; as ``bot.commandline.cli``."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bot.commandline.check_nodes.run import NodeRunner

AtOnce = Annotated[
    str,
    typer.Option("--at-once", metavar="N", help="Nodes that are busy with checks at a time, or all; else a tenth."),
]
Verdicts = Annotated[
    list[Path] | None,
    typer.Option("--verdicts", metavar="FILE", help="What sinfo -R, scontrol or kubectl printed; may come often."),
]


def check_nodes(  # noqa: PLR0913 a command has as many arguments as it has options
    nodes: Annotated[
        Path, typer.Argument(metavar="NODES", help="A file with a node a line, perhaps with its address.")
    ],
    *,
    run: Annotated[bool, typer.Option("--run", help="Run them; without it only what would run is told.")] = False,
    through: Annotated[
        str, typer.Option("--through", metavar="WAY", help="local, ssh, srun, kubectl, or words with {node}.")
    ] = "ssh",
    check: Annotated[
        list[str] | None, typer.Option("--check", metavar="NAME", help="Only this one; may come several times.")
    ] = None,
    heavy: Annotated[
        bool, typer.Option("--heavy", help="Also those that take a node for a quarter of an hour.")
    ] = False,
    python: Annotated[str, typer.Option("--python", metavar="PATH", help="On the nodes, with torch.")] = "python3",
    backend: Annotated[str, typer.Option("--backend", metavar="NAME", help="Of pairs: gloo or nccl.")] = "gloo",
    megabytes: Annotated[
        float, typer.Option("--megabytes", min=0.1, max=4096, metavar="N", help="Of a gather.")
    ] = 16.0,
    seconds: Annotated[
        float, typer.Option("--seconds", min=1, max=600, metavar="N", help="Until a gather counts as failed.")
    ] = 30.0,
    at_once: AtOnce = "",
    verdicts: Verdicts = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Run checks on nodes that you name: tools that exist, pairs, bits.

    \b
    firstfault check-nodes suspects.txt
    firstfault check-nodes suspects.txt --run --check gpu-errors --check pairs
    firstfault check-nodes suspects.txt --run --through srun
    sinfo -R | firstfault check-nodes suspects.txt --verdicts /dev/stdin

    Nothing runs without --run, and nothing is done to a node that fails. A check that times out, crashes or is not
    installed is unknown, not failed. A site's own checks stand in the file that FIRSTFAULT_CHECKS names
    (docs/how-to/checks.md). Exit codes: 0 all passed, or nothing was run; 1 something failed or is unknown; 2 wrong
    use.
    """  # noqa: D301 click reads the control byte
    from bot.commandline.check_nodes.command import check_nodes as start  # noqa: PLC0415 loads what --help must not
    from bot.commandline.check_nodes.node_checks import NodeChecks  # noqa: PLC0415
    from bot.commandline.check_nodes.node_file import nodes_in  # noqa: PLC0415
    from bot.commandline.check_nodes.pairs import PairSettings  # noqa: PLC0415
    from bot.settings import load_settings  # noqa: PLC0415

    if backend not in ("gloo", "nccl"):
        raise typer.BadParameter("is gloo or nccl", param_hint="--backend")
    runner = _runner(through)
    how = PairSettings(python, backend, megabytes, seconds)
    named = nodes_in(nodes)
    side_by_side = _side_by_side(at_once, len(named))
    site = load_settings().checks
    wanted = NodeChecks(
        named, runner, tuple(check or ()), heavy, how, side_by_side, Path(site) if site else None, tuple(verdicts or ())
    )
    raise typer.Exit(start(wanted, run=run, json=json))


def _runner(through: str) -> "NodeRunner":
    """How a command reaches a node: one of the known ways, or the words of the person with ``{node}`` in them."""
    from bot.commandline.check_nodes.run import NodeAccess, NodeRunner  # noqa: PLC0415 loads what --help must not

    if through in {way.value for way in NodeAccess}:
        return NodeRunner(NodeAccess(through))
    if "{node}" not in through:
        raise typer.BadParameter("is local, ssh, srun, kubectl, or words with {node}", param_hint="--through")
    try:
        return NodeRunner(prefix=tuple(shlex.split(through)))
    except ValueError as error:  # a quote that is not closed
        raise typer.BadParameter(f"cannot be split into words: {error}", param_hint="--through") from error


def _side_by_side(at_once: str, nodes: int) -> int | None:
    """How many nodes are checked at a time; None leaves it to the command."""
    if at_once not in ("", "all") and not (at_once.isdecimal() and 1 <= int(at_once[:6]) <= nodes):
        raise typer.BadParameter(f"is all, or a number of 1 to {nodes}", param_hint="--at-once")
    return nodes if at_once == "all" else int(at_once or 0) or None
