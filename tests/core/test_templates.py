"""Templates: which messages are one event, and that an event's id depends on nothing but its text."""

import random
import string
from hashlib import blake2b

import pytest
from drain3.drain import Drain
from hypothesis import given
from hypothesis import strategies as st

from core.events.template import template_id
from core.logs.blocks import BLOCK_MARK
from core.logs.telling_words import guard
from core.parsing.templates import SIMILARITY, WILDCARD, find_templates
from tests.support.jobs import job, lines, parse, raised


def events(*texts: str) -> list[str]:
    """The event of each of these lines, in a job that says them."""
    table = parse(job({"a.log": lines(*texts)})).table
    return [table.templates[event].id for event in table.event.tolist()]


def templates(*texts: str) -> list[str]:
    """The template of each of these lines."""
    table = parse(job({"a.log": lines(*texts)})).table
    return [table.templates[event].text for event in table.event.tolist()]


@pytest.mark.parametrize("text", ["iteration <NUM>", "", "日本語 <NUM>", "x" * 3000])
def test_an_id_is_a_hash_of_the_text(text: str) -> None:
    """Anybody can compute the id of a template, in any job and any version of ours."""
    assert template_id(text) == blake2b(text.encode(), digest_size=8).hexdigest()
    assert find_templates({text: 1})[text].id == template_id(text)


def test_a_block_has_another_id_than_a_line_of_the_same_words() -> None:
    """An exception line alone is not the traceback that ends with it."""
    found = find_templates({"ValueError: boom": 3, BLOCK_MARK + "ValueError: boom": 2})

    line, block = found["ValueError: boom"], found[BLOCK_MARK + "ValueError: boom"]
    assert line.text == block.text == "ValueError: boom"
    assert (line.block, block.block) == (False, True)
    assert (line.id, block.id) == (template_id("ValueError: boom"), template_id(BLOCK_MARK + "ValueError: boom"))


MESSAGES = st.lists(
    st.sampled_from(
        [
            *(f"connected to peer {name} over the fabric" for name in "abcdefgh"),
            *(f"saving checkpoint to /data/{name}/last in {unit}" for name in "abcd" for unit in ("s", "ms")),
            *(f"worker failed with exit code {code}" for code in (1, 9)),
            BLOCK_MARK + "OSError: [Errno <NUM>] x",
            "",
        ]
    ),
    unique=True,
    min_size=1,
)


@given(MESSAGES.flatmap(lambda texts: st.tuples(st.just(texts), st.permutations(texts))), st.data())
def test_the_order_of_messages_changes_no_template(orders: tuple[list[str], list[str]], data: st.DataObject) -> None:
    """Files may be read in any order, by any number of workers."""
    one, other = orders
    counts = {text: data.draw(st.integers(1, 5)) for text in one}

    assert find_templates(counts) == find_templates({text: counts[text] for text in other})


@given(MESSAGES)
def test_every_message_has_a_template_with_its_own_id(texts: list[str]) -> None:
    """No message is lost, and equal ids mean equal texts."""
    found = find_templates(dict.fromkeys(texts, 1))

    assert set(found) == set(texts)
    by_id = {template.id: template for template in found.values()}
    assert len({template.text + str(template.block) for template in found.values()}) == len(by_id)


@pytest.mark.parametrize(
    ("said", "one", "other"),
    [
        ("push to the gateway failed: [Errno {}] Connection refused", "111", "113"),
        ("worker 3 of the pool ended with exit code {}", "1", "137"),
        ("local_rank: 1 (pid: 77) failed, exitcode: {}, on this node", "-9", "-15"),
        ("NVRM: Xid (PCI:0000:4e:00): {}, GPU reported a fault here", "79", "94"),
        ("got completion with status={} opcode 129 from the peer", "12", "5"),
        ("process 77 of the group was ended by signal {} just now", "9", "15"),
        ("request to the store at 10.0.0.1 returned http {} again", "404", "503"),
        ("2026-11-21 04:00:00 {} heartbeat of the node is late now", "ERROR", "WARNING"),
        ("2026-11-21 04:00:00 {} heartbeat of the node is late now", "INFO", "WARNING"),
        ("netlink: eth0 <BROADCAST,MULTICAST> mtu 1500 qdisc state {}", "UP", "DOWN"),
        ("checkpoint of iteration 50 on this rank ended: {}", "success", "failure"),
        ("step 7 of the loop on this rank: the loss was {}", "3.5", "nan"),
        (':::MLLOG {{"namespace": "", "time_ms": 17, "key": "{}", "value": 1, "a": 2, "b": 3}}', "run_start", "seed"),
    ],
)
def test_what_tells_faults_apart_is_never_merged(said: str, one: str, other: str) -> None:
    """Errno, exit code, signal, Xid, status, level and outcome are the clue, however alike the rest is."""
    apart = events(said.format(one), said.format(other))

    assert apart[0] != apart[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("loaded shard 17 in 3.25 s", "loaded shard 4 in 1e-3 s"),
        ("2026-11-21 04:00:00,123 INFO up", "2026-11-22 05:01:02,999 INFO up"),
        ("connected to 10.0.0.1:29400", "connected to 192.168.17.3:1"),
        ("buffer at 0x7f00aa is free", "buffer at 0x12 is free"),
        ("rdzv id 2f6c1e9a77 joined", "rdzv id 9a0b44c1de joined"),
        ("uuid 123e4567-e89b-12d3-a456-426614174000", "uuid 00000000-e89b-12d3-a456-426614174abc"),
        ("wrote attempt_0/f07_hx9em2rcp7/log", "wrote attempt_0/f09_k2j4l6p8/log"),
        ("sizes of 4, 8, 15, 16 and 23", "sizes of 4, 8, 15, 16, 23, 42 and 1"),
        ("resources: 45%|####      | 9/20", "resources: 90%|#########  | 18/20"),
    ],
)
def test_what_only_counts_measures_or_names_is_one_event(one: str, other: str) -> None:
    """Numbers, times, addresses and generated ids differ in every run and say nothing about the kind of event."""
    together = events(one, other)

    assert together[0] == together[1]


WORDS = st.sampled_from(
    ["rank", "node", "<NUM>", "up", "down", "a", "b", "timed", "out", "<*>", "ERROR", "[Errno", "7]"]
)
LINES = st.lists(st.lists(WORDS, max_size=12).map(" ".join), unique=True, min_size=1, max_size=30)


@given(LINES, st.data())
def test_the_index_finds_what_drains_tree_finds(texts: list[str], data: st.DataObject) -> None:
    """drain3 itself, with its prefix tree, gives the same templates; it only takes longer."""
    counts = {text: data.draw(st.integers(1, 3)) for text in texts}
    tree = Drain(depth=4, sim_th=SIMILARITY, max_children=4096, param_str=WILDCARD, parametrize_numeric_tokens=False)

    clusters = {
        text: tree.add_log_message(f"{guard(text)} {text}")[0] for text in sorted(counts, key=lambda t: (-counts[t], t))
    }

    found = find_templates(counts)
    for one in texts:
        for other in texts:
            assert (found[one] == found[other]) == (clusters[one] is clusters[other])
        if sum(clusters[one] is clusters[other] for other in texts) > 1:
            assert found[one].text.split() == list(clusters[one].log_template_tokens[1:])


def test_many_different_lines_are_parsed_in_time() -> None:
    """A job that prints its data set must not take minutes: Drain's tree alone needs one for ten thousand lines."""
    chance = random.Random(1)
    texts = {f"sample text: {' '.join(chance.choices(string.ascii_letters, k=10))}": 1 for _ in range(6000)}

    assert len(find_templates(texts)) == len(texts)


def test_a_guard_of_two_words_stays_out_of_the_template() -> None:
    """``timed out`` tells events apart; no part of it leaks into their text."""
    said = [f"waiting for the peer called {name} of this group timed out at last" for name in ("ann", "bob")]

    assert set(templates(*said)) == {"waiting for the peer called <*> of this group timed out at last"}


def test_what_is_no_text_is_one_event() -> None:
    """A core dump called .log has a million different lines, and not one that says something."""
    chance = random.Random(1)
    table = parse(job({"core.log": b"hello\n" + chance.randbytes(100_000) + b"\nbye\n"})).table

    assert len(table) > 300
    assert len(table.templates) < len(table) / 10
    assert {"hello", "bye"} <= {template.text for template in table.templates}


def test_words_that_vary_become_wildcards() -> None:
    """Drain finds the varying word; the template says where it stands."""
    said = [f"all ranks on this node have now joined the process group of {name}" for name in ("data", "model", "pipe")]

    assert set(templates(*said)) == {"all ranks on this node have now joined the process group of <*>"}


def test_a_template_does_not_change_when_a_stranger_is_parsed_too() -> None:
    """One more message that is like none keeps every id: ids can be stored in a library."""
    said = ["iteration 3 done", "saved checkpoint to /data/x", *raised("ValueError: boom")]

    assert events(*said, "quite another message of other length and words")[: len(said)] == events(*said)


def test_a_few_templates_as_they_are() -> None:
    """A reader sees what ids stand for; a change here changes every stored id, so it must be wanted."""
    assert templates(
        "2026-11-21 04:00:00,123 INFO iteration        3/     100 | lm loss: 5.0E+00 |",
        "[rank3]: RuntimeError: [/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.77.0.11]:4321",
        "[E1121 04:00:00.123456789 x.cpp:683] [Rank 3] Watchdog caught collective operation timeout, ran for 600031 ms",
        "NVRM: Xid (PCI:0000:4e:00): 79, pid=1234, GPU has fallen off the bus.",
        "telemetry: push to http://10.77.0.1:9091 failed (4 so far): [Errno 113] No route to host",
        *raised("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."),
    )[:6] == [
        "<TS> INFO iteration <NUM>/ <NUM> | lm loss: <NUM> |",
        "RuntimeError: [/gloo/transport/tcp/pair.cc:<NUM>] Connection closed by peer [<IP>]:<NUM>",
        "[E<TS> x.cpp:<NUM>] [Rank <NUM>] Watchdog caught collective operation timeout, ran for <NUM> ms",
        "NVRM: Xid (PCI:<NUM>:<NUM>e:<NUM>): 79, pid=<NUM>, GPU has fallen off the bus.",
        "telemetry: push to http://<IP> failed (<NUM> so far): [Errno 113] No route to host",
        "OutOfMemoryError: CUDA out of memory. Tried to allocate <NUM> GiB.",
    ]


def test_errors_of_different_types_are_different_events() -> None:
    """Though one function raised both, and most of their words are the same."""
    one, other = (
        guard(f"{BLOCK_MARK}rendezvous.api.{error} in run (dynamic_rendezvous.py)")
        for error in ("RendezvousTimeoutError", "RendezvousClosedError")
    )

    assert one != other
    assert guard("RendezvousTimeoutError in run") == guard("RendezvousClosedError in run")  # words of a line may vary


def test_signals_by_their_names_are_messages_of_their_own() -> None:
    """Paddle init.cc: one process crashed, and all others were ended for that."""
    said = "FatalError: `{}` is detected by the operating system."
    crash, end = events(*[said.format("Segmentation fault")] * 2, *[said.format("Termination signal")] * 9)[:3:2]

    assert crash != end
