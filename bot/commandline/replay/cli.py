"""``firstfault replay``: words in, an exit code out; as ``bot.commandline.cli``."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Find a faulty node by running the job in groups: who runs with whom, and what it means.

    \b
    firstfault replay plan nodes.txt --command "srun -w {nodelist} -N {nnodes} replay.sh" > plan.json
    firstfault replay read plan.json results.csv
    """,
)


@app.command("plan")
def plan(
    nodes: Annotated[
        Path, typer.Argument(metavar="NODES", help="A file with a node a line; neighbours hold pipelines.")
    ],
    *,
    pipeline: Annotated[int, typer.Option("--pipeline", min=1, metavar="N", help="Nodes that one pipeline takes.")] = 1,
    chance: Annotated[
        float,
        typer.Option("--chance", min=0.01, max=1, metavar="P", help="That a run with the faulty node shows the fault."),
    ] = 0.5,
    runs: Annotated[
        int | None, typer.Option("--runs", min=1, metavar="N", help="Of each group; else by --chance.")
    ] = None,
    command: Annotated[
        str,
        typer.Option("--command", metavar="WORDS", help="With {nodelist}, {hostfile}, {nnodes}, {dp}, {group}, {run}."),
    ] = "",
) -> None:
    """Print a plan: two phases of groups, so that no two nodes share a group twice.

    \b
    firstfault replay plan nodes.txt --pipeline 4 > plan.json
    jq -r '.groups[] | select(.phase == 1) | .nodelist' plan.json

    Nothing is run. The groups of a phase may run side by side; a run has failed by its exit code, by a loss that is no
    number, or by the bits of its loss (docs/how-to/replay.md). Exit codes: 0 planned, 2 wrong use.
    """  # noqa: D301 click reads the control byte
    from bot.commandline.replay.command import plan_for  # noqa: PLC0415 loads what --help must not

    raise typer.Exit(plan_for(nodes, pipeline=pipeline, chance=chance, runs=runs, command=command))


@app.command("read")
def read(
    plan_file: Annotated[Path, typer.Argument(metavar="PLAN", help="What plan printed.")],
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="CSV group,run,exit_code, or a folder of jobs.")],
    *,
    third: Annotated[
        Path | None, typer.Option("--third", metavar="FILE", help="Write the third round there, where one is needed.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object (docs/replay.schema.json).")] = False,
) -> None:
    """Say which nodes the results point to, and how likely each is.

    \b
    firstfault replay read plan.json results.csv
    firstfault replay read plan.json ./jobs --third third.json

    A folder holds a job folder a run, called GROUP.RUN like 1-3.2: each is diagnosed, and a run without a fault passed.
    Exit codes: 0 nodes are named, 1 nothing conclusive, 2 wrong use.
    """  # noqa: D301 click reads the control byte
    from bot.commandline.replay.command import read_for  # noqa: PLC0415 loads what --help must not

    raise typer.Exit(read_for(plan_file, results, third=third, json=json))
