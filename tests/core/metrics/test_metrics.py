"""Metrics beside logs: who leaves its peers, devices, traffic, loss and pace; and who is left in peace."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.metrics import metric_files
from core.metrics.metric_files import read_metrics
from core.model import Action, Diagnosis, MetricEvidence, Scope
from tests.support.jobs import START, at, four_nodes, log_file, raised, steps

EPOCH = START.timestamp()
MINUTE = 60
END = 40 * MINUTE
NODES = range(4)


def with_metrics(job: Job, files: Mapping[str, str]) -> Job:
    return replace(job, metrics=tuple(log_file(f"metrics/{name}", text) for name, text in sorted(files.items())))


def stopped() -> Job:
    """Ends in its last minute after a word of no meaning, which no rule knows."""
    logs = [*steps(40, total=200, seconds=60.0), at(END, "leaving")]
    return four_nodes({}, usual=logs)


def table(name: str, value: Callable[[int, int], float], *, every: int = 15, until: int = END) -> str:
    """A CSV of all nodes; value: of a node and a second."""
    rows = [
        f"{START + timedelta(seconds=second):%Y-%m-%dT%H:%M:%S},node-{node},{name},{value(node, second)}"
        for second in range(0, until, every)
        for node in NODES
    ]
    return "\n".join(["time,who,name,value", *rows, ""])


def wobble(node: int, second: int) -> float:
    """Some noise, the same each time."""
    return math.sin(second * 0.7 + node * 2.1) * 8 + math.sin(second * 0.11 + node) * 4


def told(answer: Diagnosis) -> list[MetricEvidence]:
    return list(answer.metrics)


def test_a_node_that_leaves_its_peers_is_told_and_named() -> None:
    """One node's clock fell ten minutes before the end, and no log tells why: it is named, with file and line."""
    slow = table("DCGM_FI_DEV_SM_CLOCK", lambda node, s: (210 if node == 2 and s > 1800 else 1410) + wobble(node, s))

    answer = diagnose(with_metrics(stopped(), {"clocks.csv": slow}), [])

    assert [one.node for one in answer.nodes] == ["node-2"]
    first = told(answer)[0]
    assert first.who == "node-2"
    assert "until the end" in first.because
    cited = first.lines[0]
    row = slow.splitlines()[cited.line - 1]
    assert cited.file == "metrics/clocks.csv"
    assert "node-2" in row
    assert row.startswith("2026-11-21T04:30")
    assert len(first.times) == len(first.values) == len(first.peers)


@pytest.mark.parametrize("name", ["DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_GPU_TEMP", "node_network_transmit_bytes_total"])
def test_peers_that_only_wobble_are_left_in_peace(name: str) -> None:
    """Noise, offsets from node to node, a short dip, and a node that is cooler than the others are no sign."""

    def value(node: int, second: int) -> float:
        if name.endswith("_total"):
            return second * 1e6 + node * 5e7
        dip = -900 if node == 1 and 600 <= second < 700 and "CLOCK" in name else 0
        cool = -30 if node == 3 and "TEMP" in name else 0
        return 1400 + node * 3 + wobble(node, second) + dip + cool

    answer = diagnose(with_metrics(stopped(), {"m.csv": table(name, value)}), [])

    assert answer.nodes == ()
    assert told(answer) == []


def test_all_nodes_that_change_together_accuse_nobody() -> None:
    """Two of four that differ have a shared cause or another task."""
    half = table("gpu_utilization", lambda node, s: (5 if node < 2 and s > 1200 else 95) + wobble(node, s) / 10)

    answer = diagnose(with_metrics(stopped(), {"m.csv": half}), [])

    assert answer.nodes == ()


def test_a_fault_that_the_logs_know_is_not_laid_on_a_node_by_a_metric() -> None:
    """All ranks raise the same error; a node that is apart is evidence beside it, and nobody is to be taken out."""
    logs = [
        *steps(40, total=200, seconds=60.0),
        *raised("TypeError: loss() takes 2 positional arguments but 3 were given"),
    ]
    apart = table("DCGM_FI_DEV_SM_CLOCK", lambda node, s: 210 if node == 2 and s > 1800 else 1410)

    answer = diagnose(with_metrics(four_nodes({}, usual=logs), {"m.csv": apart}), [])

    assert answer.scope is Scope.JOB
    assert answer.next is not None
    assert answer.next.action is Action.FIX


def test_an_exporter_that_reports_a_broken_device_names_its_node() -> None:
    """DCGM's text: Xid 79 of one GPU; a file a node, without a time."""
    text = (
        "# HELP DCGM_FI_DEV_XID_ERRORS Value of the last XID error encountered.\n"
        "# TYPE DCGM_FI_DEV_XID_ERRORS gauge\n"
        'DCGM_FI_DEV_XID_ERRORS{{gpu="5",UUID="GPU-1",Hostname="node-{node}"}} {xid}\n'
    )
    files = {f"node-{node}.prom": text.format(node=node, xid=79 if node == 1 else 0) for node in NODES}

    answer = diagnose(with_metrics(stopped(), files), [])

    assert [one.node for one in answer.nodes] == ["node-1"]
    assert told(answer)[0].who == "node-1 (gpu 5)"
    assert "Xid 79" in told(answer)[0].because
    assert (told(answer)[0].lines[0].file, told(answer)[0].lines[0].line) == ("metrics/node-1.prom", 3)


def prometheus(name: str, values: Callable[[int, int], float], until: int = END) -> str:
    result = [
        {
            "metric": {"__name__": name, "instance": f"node-{node}:9400"},
            "values": [[EPOCH + second, str(values(node, second))] for second in range(0, until, 15)],
        }
        for node in NODES
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def test_no_traffic_while_iterations_stand_is_told_without_a_culprit() -> None:
    """A job that runs, counts nothing after ten minutes, and whose counters stand: collect stacks; nobody is named."""
    still = prometheus("node_network_transmit_bytes_total", lambda _, s: 1e9 * min(s, 1000))
    job = four_nodes({}, usual=steps(10, total=200, seconds=60.0), status=Status.RUNNING)

    answer = diagnose(with_metrics(job, {"traffic.json": still}), [])

    assert answer.nodes == ()
    assert "no traffic flowed" in answer.headline or "hung" in answer.headline
    assert "iterations stood" in told(answer)[0].because
    assert answer.next is not None
    assert answer.next.action is Action.AGGREGATE


def test_traffic_that_stops_while_iterations_go_on_is_no_finding() -> None:
    """Who counts iterations without traffic trains on one machine, or the metric is of another network."""
    still = prometheus("node_network_transmit_bytes_total", lambda _, s: 1e9 * min(s, 600))

    assert told(diagnose(with_metrics(stopped(), {"traffic.json": still}), [])) == []


def numbers(loss: Callable[[int], float], norm: Callable[[int], float], count: int = 200) -> str:
    rows = [f"{EPOCH + n},{n},{loss(n)},{norm(n)}" for n in range(count)]
    return "\n".join(["_timestamp,_step,run-1 - loss,run-1 - grad_norm", *rows, ""])


BLOOM = {100: (16, 2.6), 101: (145, 3.9), 102: (960, 5.1), 103: (353, 4.4), 104: (379, 4.0), 105: (650, 4.2)}


def bloom(n: int) -> tuple[float, float]:
    """Gradient norm and loss of BLOOM-176B around iteration 31,217: both were back within 35 iterations."""
    norm, loss = BLOOM.get(n, (0.24 + 60 / (n - 100) ** 2, 2.2 + 1.5 / (n - 104)) if 105 < n < 135 else (0.24, 2.2))
    return norm + wobble(0, n) / 1000, loss + wobble(1, n) / 1000


def test_a_spike_of_a_good_run_is_a_warning_and_no_alarm() -> None:
    """BLOOM's spike, which five times the gradient norm would have stopped."""
    csv = numbers(lambda n: bloom(n)[1], lambda n: bloom(n)[0])

    found = told(diagnose(with_metrics(stopped(), {"wandb.csv": csv}), []))

    assert found
    assert all("came back" in one.because for one in found)
    assert "headline" not in found[0].because


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        (lambda n: math.nan if n >= 150 else 2.2, "no finite number from iteration 150"),
        (lambda n: 9.0 + wobble(0, n) / 100 if n >= 120 else 2.2 + wobble(0, n) / 1000, "rose at iteration 120"),
    ],
)
def test_a_loss_that_breaks_is_an_alarm_that_names_nobody(loss: Callable[[int], float], says: str) -> None:
    """Three times no number, or not back after fifty values: a check of the numbers, and no node."""
    answer = diagnose(with_metrics(stopped(), {"wandb.csv": numbers(loss, lambda _: 0.3)}), [])

    assert says in told(answer)[0].because
    assert answer.nodes == ()
    assert answer.next is not None
    assert answer.next.action is not Action.EVICT


def test_who_stopped_a_job_may_have_seen_what_its_metrics_show() -> None:
    """A loss that is no number is no stop of a well job from outside, though the logs count on at their pace."""
    broken = numbers(lambda n: math.nan if n >= 150 else 2.2, lambda _: 0.3)
    end = (START + timedelta(seconds=241)).isoformat()
    job = four_nodes({}, usual=steps(60, seconds=4.0), status=Status.CANCELLED, start=START.isoformat(), end=end)

    answer, well = diagnose(with_metrics(job, {"wandb.csv": broken}), []), diagnose(job, [])

    assert well.scope is Scope.NONE
    assert "no finite number" in answer.headline
    assert answer.next is not None
    assert answer.next.action is Action.CHECK
    assert "bit by bit" in answer.next.because
    assert "stacks" not in answer.next.because + answer.next.then


def test_two_values_that_are_no_number_are_none_yet() -> None:
    """A scaler skips such a step."""
    csv = numbers(lambda n: math.nan if n in (90, 91) else 2.2, lambda _: 0.3)

    assert told(diagnose(with_metrics(stopped(), {"wandb.csv": csv}), [])) == []


def test_a_pace_that_falls_for_good_is_told_with_its_numbers() -> None:
    """149 to 140 TFLOPs, as in BLOOM's log, from one iteration on; 2 % are no fall."""
    csv = "\n".join(["step,tflops", *(f"{n},{(149 if n < 60 else 140) + wobble(0, n) / 20}" for n in range(120))])
    even = "\n".join(["step,tflops", *(f"{n},{(149 if n < 60 else 146) + wobble(0, n) / 20}" for n in range(120))])

    slower, same = (told(diagnose(with_metrics(stopped(), {"p.csv": text}), [])) for text in (csv, even))

    assert [one.metric for one in slower] == ["tflops"]
    assert "went from 149" in slower[0].because
    assert "iteration 60" in slower[0].because
    assert same == []


def paced(status: Status, extra: Mapping[str, str]) -> Diagnosis:
    """A job of which only its metrics tell that an iteration takes a fifth longer from the sixtieth on."""
    csv = "\n".join(["step,step_time", *(f"{n},{(10 if n < 60 else 12) + wobble(0, n) / 200}" for n in range(120))])
    job = four_nodes({}, usual=[at(0, "starting"), at(END, "logging every hour")], status=status)
    return diagnose(with_metrics(job, {"pace.csv": csv} | dict(extra)), [])


def test_a_slowdown_that_only_metrics_show_leads_to_stacks_or_to_the_node() -> None:
    """A running job: who holds it up is asked of all ranks, or of the one node that its clock names."""
    clocks = table("DCGM_FI_DEV_SM_CLOCK", lambda node, s: (900 if node == 2 and s > 1200 else 1410) + wobble(node, s))

    nobody, named = paced(Status.RUNNING, {}), paced(Status.RUNNING, {"clocks.csv": clocks})

    assert nobody.next is not None
    assert named.next is not None
    assert nobody.next.action is Action.AGGREGATE
    assert "became slower" in nobody.headline
    assert [suspect.node for suspect in named.nodes] == ["node-2"]
    assert named.next.nodes == ("node-2",)
    assert named.next.action in (Action.CHECK, Action.EVICT)


def test_nodes_that_became_slower_together_are_a_slower_job() -> None:
    """Each reports its own throughput, and waits for the slow one: nobody leaves the others."""
    tokens = table("tokens_per_sec", lambda node, s: (5000 if s < 1500 else 4000) + 3 * wobble(node, s))
    job = four_nodes({}, usual=[at(0, "starting"), at(END, "logging every hour")], status=Status.RUNNING)

    answer = diagnose(with_metrics(job, {"tokens.csv": tokens}), [])

    assert answer.nodes == ()
    assert "as on 4 of 4" in told(answer)[0].because
    assert answer.next is not None
    assert answer.next.action is Action.AGGREGATE


def test_a_slower_pace_does_not_make_a_failure_of_what_somebody_stopped() -> None:
    """It is told beside the stop."""
    csv = "\n".join(["step,tflops", *(f"{n},{(149 if n < 60 else 140) + wobble(0, n) / 20}" for n in range(120))])
    end = (START + timedelta(seconds=241)).isoformat()
    job = four_nodes({}, usual=steps(60, seconds=4.0), status=Status.CANCELLED, start=START.isoformat(), end=end)

    answer = diagnose(with_metrics(job, {"p.csv": csv}), [])

    assert answer.scope is Scope.NONE
    assert [one.metric for one in told(answer)] == ["tflops"]


def test_what_cannot_be_told_is_said() -> None:
    """Broken files, machines that are not in the job, nodes without metrics, clocks that do not meet."""
    files = {
        "a.json": '{"status": "success"',
        "b.csv": "colour,shape\nred,round\n",
        "c.csv": "time,who,name,value\n2026-11-21T04:10:00,node-0,temp,40\n2026-11-21T04:10:00,n99,temp,40\n",
    }
    reasons = " ".join(one.reason for one in diagnose(with_metrics(stopped(), files), []).skipped)
    late = table("temp", lambda node, s: 40 + s * (node == 2)).replace("2026-11-21", "2026-11-25")
    apart = diagnose(with_metrics(stopped(), {"m.csv": late}), [])

    for part in ("a.json is broken JSON", "b.csv holds no metric", "n99", "no metrics of 3 of 4 nodes", "too few"):
        assert part in reasons
    assert any("do not meet" in one.reason for one in apart.skipped)
    assert apart.nodes == ()


def test_lines_are_those_of_the_file() -> None:
    """Blank rows, missing fields and words in place of numbers shift no line."""
    text = "time,who,name,value\n100,a,x,1\n\n200,a,x,oops\n300,a,x\n400,a,x,4,rest\n500000000000,3,x,+Inf\n"

    found = read_metrics([log_file("metrics/x.csv", text)]).metrics

    assert [(one.who, one.lines.tolist(), one.values.tolist()) for one in found] == [
        ("a", [2, 6], [1.0, 4.0]),
        ("rank 3", [7], [math.inf]),
    ]
    assert found[1].times.tolist() == [500_000_000 * 1_000_000]


def test_the_order_of_files_changes_nothing() -> None:
    """The same evidence whichever file comes first."""
    files = [
        log_file(f"metrics/{node}.csv", f"time,who,name,value\n{EPOCH},node-{node},temp,{node}\n") for node in NODES
    ]
    one, other = (diagnose(replace(stopped(), metrics=tuple(order)), []) for order in (files, files[::-1]))

    assert one == other


@pytest.mark.parametrize("who", ["rank zero", "rank " + "9" * 5000, "rank ²"])
def test_a_rank_without_a_number_is_a_name_like_any_other(who: str) -> None:
    """It ended the whole diagnosis with a traceback."""
    rows = "".join(f"{START + timedelta(seconds=15 * n):%Y-%m-%dT%H:%M:%S},{who},util,{n}\n" for n in range(60))

    answer = diagnose(with_metrics(stopped(), {"a.csv": f"time,who,name,value\n{rows}"}), [])

    assert answer.skipped


def test_infinite_and_huge_values_are_no_warning_of_a_library(recwarn: pytest.WarningsRecorder) -> None:
    """A reader of standard error was shown lines of numpy; nothing is told of what has no difference."""
    rows = "".join(f"{n},{value},{value},{value}\n" for n, value in enumerate(["1e308", "-1e308", "inf", "-inf"] * 40))

    diagnose(with_metrics(stopped(), {"a.csv": f"step,loss,grad_norm,step_time\n{rows}"}), [])

    assert [str(one.message) for one in recwarn] == []


def test_tables_of_too_many_columns_or_series_are_left_out() -> None:
    """A million columns took minutes and gigabytes; what is left out is told."""
    columns = "step," + ",".join(f"loss{n}" for n in range(5000)) + "\n1" + ",1" * 5000 + "\n"
    series = "time,who,name,value\n" + "".join(f"{EPOCH},node-1,m{n},1\n" for n in range(200_001))

    read = read_metrics(with_metrics(stopped(), {"a.csv": columns, "b.csv": series}).metrics)

    assert read.metrics == ()
    assert ["columns" in one or "series" in one for one in read.problems] == [True, True]


def test_more_files_than_anybody_needs_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty thousand small ones took a quarter of a minute; what is left out is told."""
    assert metric_files.MAX_FILES == 4096
    monkeypatch.setattr(metric_files, "MAX_FILES", 96)
    read = read_metrics(with_metrics(stopped(), {f"{n}.csv": "step,loss\n1,2\n" for n in range(100)}).metrics)

    assert len(read.metrics) == 96
    assert read.problems == ("Of 100 files in metrics/ the first 96 were read.",)


@pytest.mark.parametrize("mark", ["# scrape {:%Y-%m-%dT%H:%M:%SZ}", "# ts {:.0f}"], ids=["a date", "seconds"])
def test_scrapes_below_each_other_have_the_time_of_the_comment_above(mark: str) -> None:
    """``while sleep 60; do echo "# scrape $(date)"; curl :9400/metrics; done`` on each machine."""
    files = {}
    for node in NODES:
        scrapes = []
        for second in range(0, END, 60):
            moment = START + timedelta(seconds=second)
            reasons = 64 if node == 2 and second > 1800 else 0
            scrapes.append(mark.format(moment if "%Y" in mark else moment.timestamp()))
            scrapes.append(f'DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{{gpu="0",Hostname="node-{node}"}} {reasons}')
        files[f"node-{node}.prom"] = "\n".join([*scrapes, ""])

    answer = diagnose(with_metrics(stopped(), files), [])

    assert [one.node for one in answer.nodes] == ["node-2"]
    assert "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS is far from that of its peers" in answer.headline
