"""The command line: words in, an exit code out. Everything heavy is loaded by the command that needs it."""

import gc
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from bot.commandline import bot_cli, options
from bot.commandline.check_nodes.cli import check_nodes
from bot.commandline.library import cli as library_cli
from bot.commandline.output import open_closed_streams, print_error
from bot.commandline.replay import cli as replay_cli
from bot.commandline.version import version
from core.errors import FirstfaultError

# New objects between two looks for garbage, 700 by default: modules and rules stay until the end, and looking at them
# again and again is a tenth of the CPU of a small diagnosis (docs/LOG.md, 2026-11-28)
COLLECT_AFTER = 50_000

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: nothing heavy to load, and the same in every terminal
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


app.add_typer(library_cli.app, name="library")
app.add_typer(replay_cli.app, name="replay")
app.command("check-nodes")(check_nodes)


@app.callback()
def firstfault(
    *,
    show_version: Annotated[  # noqa: ARG001 its callback has done it
        bool,
        typer.Option(
            "--version", is_eager=True, callback=lambda wanted: _print_version(wanted=wanted), help="Print the version."
        ),
    ] = False,
    env_file: Annotated[
        Path | None,
        typer.Option(
            "--env-file",
            metavar="FILE",
            help="Settings of this file, below those of the environment. [FIRSTFAULT_ENV_FILE]",
        ),
    ] = None,
) -> None:
    """Find the first fault behind a failed training job.

    \b
    firstfault diagnose f07                   an example job
    firstfault diagnose ./logs/job-1437825    a folder with logs
    firstfault diagnose train.log             one log file
    firstfault diagnose f07 --html f07.html   a page with plots
    firstfault ask f07 why did it die         a question about a job
    firstfault watch 1437825                  a job that still runs
    firstfault events f07 | less              every line, with its event
    firstfault history llama-7b               where a run's time went
    """  # noqa: D301 click reads the control byte
    if env_file is not None:
        os.environ["FIRSTFAULT_ENV_FILE"] = str(env_file.absolute())  # for child processes too


@app.command()
def diagnose(  # noqa: PLR0913 a command has as many arguments as it has options
    job: options.Job,
    *,
    jobs: options.Jobs = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object (docs/diagnosis.schema.json).")] = False,
    html: options.Page = None,
    pdf: options.Sheets = None,
    perfetto: options.Trace = None,
    speedscope: options.Stacks = None,
    method: options.Ranking = options.Method.FIRSTFAULT,
    workers: options.Workers = None,
    memory: options.Memory = None,
    scheduler: options.Scheduler = None,
    insecure: options.Insecure = False,
    no_cache: options.NoCache = False,
    no_baseline: options.NoBaseline = False,
    no_model: options.NoModel = False,
    flows: options.Flows = None,
    topology: options.Topology = None,
    metrics: options.Prometheus = None,
) -> None:
    """Say where to look first: events, nodes, stage and iteration.

    \b
    firstfault diagnose 1437825 --jobs s3://training/jobs
    firstfault diagnose 1437825 --json | jq -r .headline
    firstfault diagnose ./1437825 --html report.html

    JOB with a / in it is a path. Without one it is a job id below --jobs; if there is no such job and --jobs was not
    given, a file or folder of that name here is taken. A job folder is compared with the successful jobs beside it, or
    with those below --jobs.

    Exit codes: 0 diagnosed, 1 nothing conclusive, 2 wrong use or no such job.
    """  # noqa: D301 click reads the control byte
    given = {"--html": html, "--pdf": pdf, "--perfetto": perfetto, "--speedscope": speedscope}
    if json and (beside := next((name for name, file in given.items() if file is not None), "")):
        raise typer.BadParameter("takes no --json beside it; run it twice", param_hint=beside)
    from bot.commandline import job_commands as commands  # noqa: PLC0415 loads what --help must not
    from bot.fetch.jobs import Request  # noqa: PLC0415

    how = Request(job, jobs, method.value, workers, memory, scheduler, insecure=insecure, paths=True)
    more = replace(how, flows=flows, topology=topology, metrics=metrics)
    request = replace(more, use_cache=not no_cache, use_baseline=not no_baseline)
    files = commands.Files(html, pdf, perfetto, speedscope)
    raise typer.Exit(commands.diagnose(request, json=json, files=files, use_model=not no_model, version=version()))


@app.command()
def ask(
    job: options.Job,
    question: Annotated[list[str], typer.Argument(metavar="QUESTION", help="In your own words.")],
    *,
    jobs: options.Jobs = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    no_cache: options.NoCache = False,
    no_baseline: options.NoBaseline = False,
) -> None:
    """Answer a question about a job, in five lines that cite its logs.

    \b
    firstfault ask f07 "what did gpu018 log before the crash?"
    firstfault ask f07 compare gpu018 and gpu019
    firstfault ask f07 is there an Xid anywhere

    Exit codes: 0 answered, 1 not in the logs, 2 wrong use or no such job.
    """  # noqa: D301 click reads the control byte
    from bot.commandline import ask_command  # noqa: PLC0415 loads what --help must not
    from bot.fetch.jobs import Request  # noqa: PLC0415

    request = Request(job, jobs, use_cache=not no_cache, use_baseline=not no_baseline, paths=True)
    raise typer.Exit(ask_command.ask(request, " ".join(question), json=json))


@app.command()
def watch(
    job: options.Job,
    *,
    jobs: options.Jobs = None,
    every: Annotated[
        float, typer.Option("--every", min=0.1, max=3600, metavar="SECONDS", help="Least seconds between two looks.")
    ] = 1.0,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a finding, and one for the diagnosis.")] = False,
    workers: options.Workers = None,
    no_cache: options.NoCache = False,
    no_baseline: options.NoBaseline = False,
    no_model: options.NoModel = False,
) -> None:
    """Follow a running job: say when it hangs or fails, and why.

    \b
    firstfault watch 1437825 --jobs s3://training/jobs
    firstfault watch ./1437825 --every 5
    firstfault watch 1437825 --json | while read -r finding; do page-me "$finding"; done

    What silence is, the job itself tells: the pace of its iterations, the usual pauses of each rank, what the others
    do meanwhile (docs/how-to/watch.md). Ctrl-C ends the watch, never the job.

    Exit codes: 0 the job completed, 1 it failed or was stopped, 2 wrong use or no such job, 130 Ctrl-C.
    """  # noqa: D301 click reads the control byte
    from bot.commandline.watch.command import Output  # noqa: PLC0415
    from bot.commandline.watch.command import watch as run  # noqa: PLC0415
    from bot.fetch.jobs import Request  # noqa: PLC0415 loads what --help must not

    request = Request(job, jobs, workers=workers, use_cache=not no_cache, use_baseline=not no_baseline, paths=True)
    raise typer.Exit(run(request, every=every, output=Output(json, use_model=not no_model, version=version())))


@app.command()
def events(  # noqa: PLR0913 a command has as many arguments as it has options
    job: options.Job,
    *,
    jobs: options.Jobs = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="One JSON object a row.")] = False,
    workers: options.Workers = None,
    memory: options.Memory = None,
    scheduler: options.Scheduler = None,
    insecure: options.Insecure = False,
    no_cache: options.NoCache = False,
    no_baseline: options.NoBaseline = False,
) -> None:
    """List every line with its event, node, rank, stage and template.

    \b
    firstfault events 1437825 | grep 9b1f60c2a4d87e35
    firstfault events 1437825 --jsonl > lines.jsonl

    JOB and the exit codes are as in "firstfault diagnose".
    """  # noqa: D301 click reads the control byte
    from bot.commandline import job_commands as commands  # noqa: PLC0415 loads what --help must not
    from bot.fetch.jobs import Request  # noqa: PLC0415

    how = Request(job, jobs, workers=workers, memory=memory, scheduler=scheduler, insecure=insecure, paths=True)
    request = replace(how, use_cache=not no_cache, use_baseline=not no_baseline)
    raise typer.Exit(commands.events(request, jsonl=jsonl))


@app.command()
def history(  # noqa: PLR0913 a command has as many arguments as it has options
    run: Annotated[str, typer.Argument(metavar="RUN", help="Name of a run, its folder, one of its jobs, or a CSV.")],
    *,
    jobs: options.Jobs = None,
    name: Annotated[
        str | None, typer.Option("--run", metavar="NAME", help="Which run of the folder RUN, as job.json calls it.")
    ] = None,
    incidents: Annotated[
        list[Path] | None,
        typer.Option(
            "--incidents",
            metavar="FILE",
            help="Faults of nodes: a CSV, or what sinfo -R, sacctmgr or kubectl printed; may come several times.",
        ),
    ] = None,
    iteration_seconds: Annotated[
        float | None,
        typer.Option(
            "--iteration-seconds", min=1e-6, max=1e6, metavar="N", help="Where points of a CSV are too sparse to tell."
        ),
    ] = None,
    window: Annotated[
        str, typer.Option("--window", metavar="TIME", help="Also the share in sliding windows of 30m, 1h or 7d.")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="One JSON object (docs/history.schema.json).")] = False,
    html: options.Page = None,
    no_cache: options.NoCache = False,
) -> None:
    """Say where a run's time went, by cause, and what to change.

    \b
    firstfault history llama-7b --jobs s3://training/jobs
    firstfault history ./jobs --run llama-7b --json | jq .ettr
    firstfault history progress.csv --iteration-seconds 105.2

    A run is all jobs whose job.json has the same "run", one job whose logs hold several attempts, or a CSV of times and
    iterations (docs/how-to/history.md). Exit codes: 0 told, 2 wrong use or no such run.
    """  # noqa: D301 click reads the control byte
    from bot.commandline.history_command import tell, window_of  # noqa: PLC0415 loads what --help must not
    from bot.history.gather import HistoryRequest  # noqa: PLC0415

    wanted = HistoryRequest(run, jobs, name, iteration_seconds, use_cache=not no_cache, paths=True)
    exit_code = tell(
        wanted, incidents=incidents or (), window=window_of(window), json=json, html=html, version=version()
    )
    raise typer.Exit(exit_code)


@app.command()
def flows(  # noqa: PLR0913 a command has as many arguments as it has options
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Flow records: parquet, CSV, pcap, NetFlow, IPFIX, nfcapd.")
    ],
    *,
    topology: Annotated[
        Path | None,
        typer.Option("--topology", metavar="FILE", help="What is attached to what (docs/how-to/flows.md)."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object (docs/flows.schema.json).")] = False,
    html: options.Page = None,
    perfetto: Annotated[
        Path | None, typer.Option("--perfetto", metavar="FILE", help="Write a trace for ui.perfetto.dev.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="FILE is the folder of a collector: raise alarms until Ctrl-C.")
    ] = False,
    window: Annotated[
        float, typer.Option("--window", min=10, max=86400, metavar="SECONDS", help="Of --follow: judged together.")
    ] = 300,
    every: Annotated[
        float, typer.Option("--every", min=0.1, max=3600, metavar="SECONDS", help="Of --follow: between two looks.")
    ] = 5,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler", metavar="URL", help="Dask scheduler, tls://host:8786, whose workers judge a job each."
        ),
    ] = None,
    insecure: options.Insecure = False,
) -> None:
    """Find jobs, their steps and what slows them down in network flows alone.

    \b
    firstfault flows flows.parquet --topology topology.json
    firstfault flows flows.parquet --topology topology.json --html flows.html
    firstfault flows nfcapd.202611221200 --topology topology.json --json | jq .findings
    firstfault flows --follow /var/flows --topology topology.json

    Nothing runs in the jobs: switches or hosts export the flows (docs/how-to/flows.md tells how). What the records are
    too coarse for is told, not guessed.

    Exit codes: 0 answered, 1 no job in the records, 2 wrong use or unreadable input; of --follow 130 after Ctrl-C.
    """  # noqa: D301 click reads the control byte
    from bot.commandline.flows import command  # noqa: PLC0415 loads what --help must not

    if follow:
        raise typer.Exit(command.followed(file, topology, command.Forms(json, html, perfetto), window, every))
    forms = command.Forms(json, html, perfetto)
    raise typer.Exit(command.flows(file, topology, forms, version=version(), scheduler=scheduler, insecure=insecure))


for _of_the_bot in (bot_cli.serve, bot_cli.demo, bot_cli.check, bot_cli.audit):
    app.command()(_of_the_bot)


def main() -> None:
    """Run a command; the only place that catches what can be told to a person."""
    gc.set_threshold(COLLECT_AFTER)
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that is not UTF-8 still gets its answer
    try:
        app(prog_name="firstfault")
    except FirstfaultError as error:
        print_error(error)
        sys.exit(error.exit_code)


def _print_version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"firstfault {version()}")
        raise typer.Exit
