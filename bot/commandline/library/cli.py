"""``firstfault library``: words in, an exit code out; as ``bot.commandline.cli``."""

from pathlib import Path
from typing import Annotated

import typer

from bot.commandline import options

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Fault patterns that people confirmed: search, review, share.

    \b
    firstfault library search "loss is nan after resume"
    firstfault library show xid-79
    firstfault library draft f07 > node-lost.toml      then edit it
    firstfault library import link-down.toml --approve
    firstfault library export ./patterns              for review in git
    """,
)

PatternArgument = Annotated[str, typer.Argument(metavar="PATTERN", help="Id of a pattern, as list shows it.")]
WhoOption = Annotated[str | None, typer.Option("--who", metavar="NAME", help="Who does this; else the user's name.")]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON in place of a table.")]


@app.command("search")
def search(
    words: Annotated[
        list[str], typer.Argument(metavar="WORDS", help="What happened, in your own words or a log line.")
    ],
    *,
    limit: Annotated[int, typer.Option("--limit", min=1, max=50, metavar="N", help="At most so many.")] = 5,
    json: JsonOption = False,
) -> None:
    """Find patterns by words or by a log line; none is an answer."""
    from bot.commandline.library import command as commands  # noqa: PLC0415 loads what --help must not

    raise typer.Exit(commands.search(" ".join(words), limit=limit, json=json))


@app.command("list")
def list_(
    *,
    status: Annotated[
        str | None, typer.Option("--status", metavar="STATUS", help="draft, approved, superseded or retired.")
    ] = None,
    seeds: Annotated[bool, typer.Option("--seeds/--no-seeds", help="Public patterns too.")] = True,
    json: JsonOption = False,
) -> None:
    """List the patterns, the team's own first."""
    from bot.commandline.library import command as commands  # noqa: PLC0415

    raise typer.Exit(commands.list_patterns(status=status, seeds=seeds, json=json))


@app.command("show")
def show(
    pattern: PatternArgument,
    *,
    toml: Annotated[bool, typer.Option("--toml", help="As export writes it.")] = False,
    versions: Annotated[
        bool, typer.Option("--versions", help="What each version changed, and who changed it.")
    ] = False,
) -> None:
    """Show a pattern with its life: who did what and when, and the jobs that it was seen in."""
    from bot.commandline.library import command as commands  # noqa: PLC0415

    raise typer.Exit(commands.versions(pattern) if versions else commands.show(pattern, toml=toml))


@app.command("draft")
def draft(job: options.Job, *, jobs: options.Jobs = None) -> None:
    """Write the pattern of a job as text, to be edited and imported; nothing is stored."""
    from bot.commandline.library import command as commands  # noqa: PLC0415

    raise typer.Exit(commands.draft(job, jobs))


@app.command("import")
def import_(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files, or folders of .toml files.")],
    *,
    approve: Annotated[bool, typer.Option("--approve", help="Confirm what comes in as a draft.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check only.")] = False,
    who: WhoOption = None,
) -> None:
    """Take patterns in: all of them or, when one has a mistake, none. Mistakes are told by file and line."""
    from bot.commandline.library import command as commands  # noqa: PLC0415

    raise typer.Exit(commands.import_paths(paths, approve=approve, dry_run=dry_run, who=who))


@app.command("export")
def export(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Made if it is not there.")],
    *,
    seeds: Annotated[bool, typer.Option("--seeds/--no-seeds", help="Public patterns too.")] = False,
) -> None:
    """Write one text a pattern, with its life; import gives the same library back."""
    from bot.commandline.library import command as commands  # noqa: PLC0415

    raise typer.Exit(commands.export(folder, seeds=seeds))


@app.command("approve")
def approve(
    pattern: PatternArgument,
    *,
    how: Annotated[
        str, typer.Option("--how", metavar="TEXT", help="How it was confirmed, in one line; kept with the pattern.")
    ] = "",
    why: Annotated[str, typer.Option("--why")] = "",
    who: WhoOption = None,
) -> None:
    """Confirm a draft: from now on jobs are matched against it."""
    from bot.commandline.library import command as commands  # noqa: PLC0415

    raise typer.Exit(commands.approve(pattern, who=who, why=why, how=how))


@app.command("answer")
def answer(
    pattern: PatternArgument,
    job: Annotated[str, typer.Argument(metavar="JOB", help="Id of the job that it was shown for.")],
    *,
    right: Annotated[
        bool | None, typer.Option("--right/--wrong", help="This was it, or this was not it; neither withdraws it.")
    ] = None,
    who: WhoOption = None,
) -> None:
    """Say whether a pattern that was shown for a job was right: it changes how likely the pattern is said to be."""
    from bot.commandline.library import command as commands  # noqa: PLC0415

    raise typer.Exit(commands.answer(pattern, job, right=right, who=who))


@app.command("check")
def check(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files, or folders of .toml files.")],
) -> None:
    """Check exported patterns without a library, for a team's CI; 1 when something is wrong."""
    from bot.commandline.library import command as commands  # noqa: PLC0415

    raise typer.Exit(commands.check(paths))


@app.command("merge")
def merge(
    pattern: PatternArgument,
    into: Annotated[str, typer.Argument(metavar="INTO", help="The pattern that stays.")],
    *,
    why: Annotated[str, typer.Option("--why", metavar="REASON")] = "",
    who: WhoOption = None,
) -> None:
    """Make one of two patterns for the same fault; the first is superseded by the second."""
    from bot.commandline.library import command as commands  # noqa: PLC0415

    raise typer.Exit(commands.merge(pattern, into, who=who, why=why))


@app.command("retire")
def retire(
    pattern: PatternArgument,
    *,
    why: Annotated[str, typer.Option("--why", metavar="REASON", help="Kept with the pattern.")],
    who: WhoOption = None,
) -> None:
    """Take a pattern out of use; it is kept, and approve brings it back."""
    from bot.commandline.library import command as commands  # noqa: PLC0415

    raise typer.Exit(commands.retire(pattern, who=who, why=why))


@app.command("stats")
def stats(*, json: JsonOption = False) -> None:
    """Count what the library holds, and say how its index is."""
    from bot.commandline.library import command as commands  # noqa: PLC0415

    raise typer.Exit(commands.stats(json=json))


@app.command("report")
def report(*, jobs: options.Jobs = None, json: JsonOption = False) -> None:
    """Tell which faults cost most and which came back, and which patterns to retire, merge or correct."""
    from bot.commandline.library import report as reports  # noqa: PLC0415

    raise typer.Exit(reports.report(jobs, json=json))
