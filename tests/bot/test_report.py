"""The page: self-contained, escaped, complete; and its plots."""

import dataclasses
import hashlib
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from bot.report import iterations, plotted, suspects, timeline
from bot.report.citations import MAX_LINES, cited_places
from bot.report.matrix import MAX_ROWS, node_matrix
from bot.report.page import MAX_FRAME, render_report
from bot.report.plotted import ticks
from core.diagnose import diagnose
from core.job import Job, Manifest
from core.logs.context import Excerpt, lines_around
from core.model import (
    Action,
    Activity,
    ActivityLane,
    Cost,
    Diagnosis,
    FirstPlot,
    Line,
    NextStep,
    Pictures,
    Series,
    StackBar,
)
from tests.support import diagnoses
from tests.support.jobs import at as stamped
from tests.support.jobs import four_nodes
from tests.support.link_down import at

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """The tags of a page, its attributes and its visible text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.text = self.script = ""
        self.open: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count and keep."""
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """As in SVG: open and closed at once."""
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        """Every tag is closed in turn."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Keep what is neither style nor script."""
        if "script" in self.open:
            self.script += data
        elif "style" not in self.open:
            self.text += data


def render(diagnosis: Diagnosis) -> str:
    """The page of a diagnosis whose logs are gone, but for the lines that it cites."""
    return render_report(
        diagnosis, lines_around(Job(Manifest(diagnosis.job), ()), cited_places(diagnosis)), version="0.1.0"
    )


@pytest.fixture(scope="module", params=list(diagnoses.ALL))
def page(request: pytest.FixtureRequest) -> Page:
    """The page of every kind of diagnosis."""
    return Page(render(diagnoses.ALL[request.param]()))


def test_the_page_needs_nothing_from_outside(page: Page) -> None:
    """One script, no picture, no style sheet, no address: it works offline and tells nobody that it was opened."""
    assert not page.open
    assert page.tags["script"] == 1
    assert not {"img", "link", "iframe", "object", "embed", "base", "image", "foreignobject"} & set(page.tags)
    assert not re.search(r"fetch|XMLHttp|sendBeacon|import|eval|innerHTML|https?:|WebSocket", page.script)
    for tag, name, value in page.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in {"src", "srcset", "action", "background", "xlink:href"}
        assert name != "href" or value.startswith(("#", "data:application/json,"))  # the latter: a file within
        assert not re.search(r"https?:|//|url\((?!#)", value) or name in {"content", "aria-label"}, (tag, name, value)


def test_the_browser_would_refuse_anything_else(page: Page) -> None:
    """The content security policy forbids what a mistake of ours could let in."""
    policy = next(
        value for tag, name, value in page.attributes if tag == "meta" and name == "content" and "-src" in value
    )
    assert policy.startswith("default-src 'none';")
    digest = b64encode(hashlib.sha256(page.script.encode()).digest()).decode()
    assert re.findall(r"script-src ([^;]+);", policy) == [f"'sha256-{digest}'"]
    assert "form-action 'none'" in policy
    assert "http" not in policy


def test_every_id_is_there_once_and_every_link_leads_somewhere(page: Page) -> None:
    """Links from sentences to evidence and from SVG to its own parts."""
    ids = Counter(value for _, name, value in page.attributes if name == "id")
    assert not [element_id for element_id, count in ids.items() if count > 1]
    assert {value[1:] for _, name, value in page.attributes if name == "href" and value[0] == "#"} <= set(ids)
    used = {found for _, _, value in page.attributes for found in re.findall(r"url\(#([^)]+)\)", value)}
    assert used <= set(ids)


def test_pictures_have_words(page: Page) -> None:
    """Each plot says in text what it shows."""
    labels = [value for tag, name, value in page.attributes if tag == "svg" and name == "aria-label"]
    assert len(labels) == page.tags["svg"]
    assert all(labels)


def test_the_same_diagnosis_gives_the_same_bytes() -> None:
    """No date, no counter, no random id."""
    assert render(diagnoses.node_fault()) == render(diagnoses.node_fault())


def test_hostile_text_is_only_text() -> None:
    """Tags, templates and control bytes of a log line are shown, not obeyed."""
    source = render(diagnoses.hostile())
    assert source.count("<script") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in source
    assert "{{ 7*7 }}" in Page(source).text
    assert not set("\x1b\x00\x08\x9b\u202e\u202c") & set(source)
    assert source.encode("utf-8")
    assert len(source) < 200_000


def test_the_page_says_what_the_terminal_says() -> None:
    """Headline, confidence, suspects, checks, evidence with its lines, coverage, baseline, method and version."""
    text = " ".join(Page(render(diagnoses.node_fault())).text.split())
    for words in (
        "Look at node-01 first",
        "established",
        "act on it",
        "1 of 4 nodes",
        "ranks 2-3",
        "The link of node-01: cable",
        "2026-11-21, UTC",
        "logs/node-01/ip-monitor.log:7",
        "32 times",
        "25 files, 1,166 lines, 208 kB, 8 of 8 ranks",
        "with 3 successful jobs: s01, s03, s04",
        "the job folder has no dumps/",
        "Firstfault 0.1.0, method firstfault",
    ):
        assert words in text


def test_a_cited_line_is_shown_once_and_in_context() -> None:
    """Neighbouring citations share one excerpt; what a suspect repeats of an event is not shown again."""
    fault = diagnoses.node_fault()
    name = "logs/node-01/ip-monitor.log"
    around = tuple(Line(name, number, f"line {number}") for number in range(1, 20))
    agent = "logs/node-01/torchrun.log"
    excerpts = {(file, at): Excerpt(file, at, around) for file, at in ((name, 7), (agent, 8), (agent, 9), (agent, 10))}
    source = render_report(fault, excerpts, version="0.1.0")
    assert source.count(f"{name}:7<") == 1
    assert source.count(f"{agent}:8, 9, 10<") == 1
    assert re.search(r'class="line cited" id="E1.1.7"><a class="number" href="#E1.1.7">7</a><code>line 7<', source)
    assert re.search(r'class="line" id="E1.1.6"><a class="number" href="#E1.1.6">6</a><code>line 6<', source)


def test_a_claim_of_many_lines_shows_a_few() -> None:
    """An event of all ranks does not fill the page; the rest is counted."""
    job_wide = diagnoses.job_wide()
    assert len([place for place in cited_places(job_wide) if "stderr" in place[0]]) == MAX_LINES
    crowd = dataclasses.replace(job_wide.events[0], lines=tuple(Line("logs/a", 100 * n, "x") for n in range(1, 1_000)))
    assert "and 991 more cited lines" in render(dataclasses.replace(job_wide, events=(crowd,)))


def test_dumped_stacks_are_shown_as_the_tree_that_they_are() -> None:
    """Indents are kept, foreign text is text, a long frame is cut; without dumps there is no such section."""
    hostile = "  <script>\x1b[2J\u202ealert(1) (b.py:2)  [rank 2]"
    tree = ("main (a.py:1)  [ranks 0-3]", "  recv (b.py:2)  [ranks 0-1]", hostile, f"  {'f' * 900} (c.py:3)  [rank 3]")
    source = render(dataclasses.replace(diagnoses.node_fault(), stacks=tree))

    assert "Where the processes stand" in Page(source).text
    (tree_shown,) = re.findall(r'<pre class="stacks".*?</pre>', source, re.DOTALL)
    shown = Page(tree_shown).text.strip("\n").split("\n")
    assert shown[:3] == ["main (a.py:1)  [ranks 0-3]", "  recv (b.py:2)  [ranks 0-1]",
                         "  <script>alert(1) (b.py:2)  [rank 2]"]  # fmt: skip
    assert len(shown) == len(tree)
    assert len(shown[3]) <= MAX_FRAME
    assert shown[3].startswith("  f")
    assert shown[3].endswith("[rank 3]")
    assert "stand</h2>" not in render(diagnoses.node_fault())


def test_stacks_are_bars_as_wide_as_processes_stand_in_them() -> None:
    """Of four ranks one stands elsewhere: its bar is a quarter, below the frame that all share; the text stays."""
    bars = (
        StackBar(0, 0, 4, "main (a.py:1)", "ranks 0-3"),
        StackBar(1, 0, 3, "recv (b.py:2)", "ranks 0-2"),
        StackBar(1, 3, 1, "<b>load</b> (c.py:3)", "rank 3"),
    )
    fault = diagnoses.node_fault()
    pictures = dataclasses.replace(fault.pictures, stacks=bars)
    source = render(dataclasses.replace(fault, pictures=pictures, stacks=("main (a.py:1)  [ranks 0-3]",)))

    assert re.findall(r'style="--d:(\d);left:([\d.]+)%;width:([\d.]+)%"', source) == [
        ("0", "0.00", "100.00"), ("1", "0.00", "75.00"), ("1", "75.00", "25.00"),
    ]  # fmt: skip
    assert "&lt;b&gt;load" in source
    assert '<pre class="stacks"' in source


@pytest.mark.slow
def test_who_fell_silent_is_shown_first_where_that_was_found() -> None:
    """Of a hang the heat map comes before all else, of a slow job its pace; of others neither."""
    fault = diagnoses.node_fault()
    lanes = (ActivityLane("rank 0", (9, 9), at(9)), ActivityLane("rank 2", (9, 0), at(4)))
    pictures = dataclasses.replace(fault.pictures, activity=Activity(at(0), at(9), lanes, lane_of=8, every=3))

    def shown(first: FirstPlot) -> list[str]:
        source = render(dataclasses.replace(fault, pictures=dataclasses.replace(pictures, first_plot=first)))
        return re.findall(r"<h2>([^<]+?) ?<", source)

    assert shown(FirstPlot.SILENCE)[0] == "Who fell silent when"
    assert shown(FirstPlot.PACE)[0] == "How the pace changed"
    assert "Who logged when" in shown(FirstPlot.NONE)[1:]
    page = Page(render(dataclasses.replace(fault, pictures=pictures)))
    assert "A row stands for 8: it is the one of them that fell silent first." in page.text
    assert "One of 3 lines was counted." in page.text
    assert ("tr", "class", "suspect-row") in page.attributes


def slowed(say: Callable[[int, int], str]) -> Diagnosis:
    """A job of four ranks whose steps take seven times as long from step 41 on; say: a rank's line of a step."""
    clocks = [0.3 * n + 1.8 * max(0, n - 40) for n in range(1, 61)]
    order = stamped(clocks[-1] + 0.5, "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:02:00 ***")
    says = {rank: [stamped(clock, say(rank, n)) for n, clock in enumerate(clocks, 1)] for rank in range(4)}
    return diagnose(four_nodes(says, others={"slurm.out": [order]}), [])


def test_a_loss_is_not_called_a_pace() -> None:
    """A slow job whose lines tell no time of a step has its numbers where those of any job are."""
    silent = slowed(lambda _rank, n: f"step {n} loss: {2.5 - n / 100:.2f}")
    timed = slowed(
        lambda _rank, n: (
            f"iteration {n}/60 | elapsed time per iteration (ms): {300.0 if n <= 40 else 2100.0} | lm loss: 2.5 |"
        )
    )

    headings = [re.findall(r"<h2>([^<]+?) ?<", render(found)) for found in (silent, timed)]

    assert "slow" in silent.headline
    assert "slow" in timed.headline
    assert "Iterations" in headings[0]
    assert [names[0] == "How the pace changed" for names in headings] == [False, True]


def test_the_next_step_and_its_reason_are_two_sentences() -> None:
    """No capital behind a colon, on the page and on the sheets of a phone."""
    step = NextStep(Action.EVICT, "It slowed the job down.", Cost(None, ""), "", "", ("dgx-18",))
    source = render(dataclasses.replace(diagnoses.node_fault(), next=step))

    assert '<p class="next"><b>Next: evict dgx-18.</b> It slowed the job down.</p>' in source


def test_the_table_of_nodes_and_events_is_small() -> None:
    """A thousand nodes are some rows and one for the others; suspects come first."""
    huge = diagnoses.huge()
    event = dataclasses.replace(huge.events[0], id="E2", nodes=("gpu-17-09",))
    wide = dataclasses.replace(huge, events=(dataclasses.replace(huge.events[0], nodes=tuple(
        bar.node for bar in huge.pictures.nodes)), event))  # fmt: skip
    matrix = node_matrix(wide)

    assert matrix is not None
    assert len(matrix.rows) == MAX_ROWS
    assert [row.suspect for row in matrix.rows[:3]] == [True, True, False]
    assert matrix.rows[-1].name == "1,009 others"
    assert matrix.rows[-1].cells == ("on 1,009", "")


def test_plots_are_drawn_only_from_data() -> None:
    """No empty axes: without numbers there is no picture."""
    nothing = diagnoses.inconclusive()
    assert suspects.suspects_figure(nothing, 7) is None
    assert timeline.timeline_figure(nothing, 7) is None
    assert iterations.iterations_figure(nothing, 7) is None
    assert "<svg" not in render(nothing)


def test_a_thousand_nodes_stay_readable() -> None:
    """Suspects have bars and lanes of their own, the others share one."""
    huge = diagnoses.huge()
    alone, others = plotted.split(huge.pictures.nodes, ["gpu-17-09", "gpu-17-10"])
    assert [bar.node for bar in alone[:2]] == ["gpu-17-09", "gpu-17-10"]
    assert len(alone) <= plotted.MAX_BARS
    assert len(alone) + len(others) == 1_024
    roles = {event.id: event.role for event in huge.events}
    lanes = timeline.lanes(huge, huge.pictures.marks, roles)
    assert len(lanes) <= timeline.MAX_LANES
    assert lanes[0].label == "gpu-17-09"
    assert lanes[-1].label == "1,018 others"
    assert len(render(huge)) < 400_000


def test_a_long_series_keeps_its_peaks() -> None:
    """Thinning for the plot loses no outlier."""
    series = Series("x", tuple(range(50_000)), tuple(100.0 if n == 33_333 else n % 7 for n in range(50_000)))
    numbers, values = iterations.thinned(series)
    assert len(numbers) < 1_000
    assert (33_333, 100.0) in zip(numbers, values, strict=True)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (232.4, "232"), (11_200.0, "11.2k"), (3e19, "3e+19"), (-0.00002, "-2e-5"), (float("nan"), "nan")],
)
def test_numbers_on_an_axis_are_short(value: float, shown: str) -> None:
    """Labels fit beside the plot."""
    assert iterations.short(value) == shown


def test_labels_of_a_flat_series_differ() -> None:
    """Two equal labels on one axis would say nothing."""
    flat = Series("loss", (1, 2), (12.701, 12.704))
    fault = dataclasses.replace(diagnoses.node_fault(), pictures=Pictures(series=(flat,)))
    source = render(fault)
    assert "12.701" in source
    assert "12.704" in source


@pytest.mark.parametrize("span_seconds", [0, 3, 90, 7_200, 86_400 * 3, 86_400 * 400])
def test_times_on_an_axis_are_round_and_few(span_seconds: int) -> None:
    """From three seconds to a year there are at most eight labels."""
    first = at(0)
    shown = ticks(first, first + span_seconds * 1_000_000, 8)
    assert len(shown) <= 9
    assert all(first <= time <= first + span_seconds * 1_000_000 for time, _ in shown)


def test_names_in_any_script_are_drawn_without_a_word() -> None:
    """A glyph that matplotlib's font lacks is no warning on a person's terminal."""
    fault = diagnoses.node_fault()
    bars = tuple(dataclasses.replace(bar, node=f"日本-{number}") for number, bar in enumerate(fault.pictures.nodes))
    pictures = dataclasses.replace(fault.pictures, nodes=bars)
    assert "日本-3" in render(dataclasses.replace(fault, pictures=pictures))


def test_values_that_are_no_numbers_do_not_break_a_plot() -> None:
    """NaN, infinity and 1e300 are marked, not drawn."""
    broken = diagnoses.hostile()
    assert iterations.iterations_figure(broken, 7) is not None
    assert "1 not finite" not in iterations.describe(
        dataclasses.replace(broken, pictures=diagnoses.node_fault().pictures)
    )
    assert "2 not finite" in iterations.describe(broken)
