# ruff: noqa: E501 notes of people are as long as they are
"""Twenty notes as an engineer on call would write them, the plans that say the same, and the facts that must reach readers.

The jobs are those of examples/; a fact is a piece of text that has to stand in the note.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.support.notes.plans import answer, step


@dataclass(frozen=True, slots=True)
class Natural:
    """A note in somebody's own words, the same as a plan, and its facts."""

    job: str
    words: str
    plan: str
    facts: tuple[str, ...]


def _note(
    job: str,
    words: str,
    happened: Sequence[dict[str, str]],
    facts: Sequence[str],
    *,
    headline: str = "D1.look",
    cause: str = "E1.cause",
    to_do: Sequence[str] = ("C1",),
) -> Natural:
    return Natural(job, words, answer([headline], happened, [cause], to_do), tuple(facts))


NATURAL = (
    _note("f01", "Something SIGKILLed the process on tr-03 after step 37; a second later its peers lost the connection.",
          [step("E1.said"), step("E3.said", "then")],
          ["tr-03", "SIGKILL", "exitcode: -9", "after iteration 37", "1.1 s later", "its peer closed the connection"]),
    _note("f01", "Only tr-03 has the exit code -9. tr-01, tr-02 and tr-04 are victims, leave them in.",
          [step("E1.alone"), step("N.peers")],
          ["Only tr-03 logged E1", "other 3 nodes did not", "tr-04", "they are not at fault"]),
    _note("f01", "Got as far as iteration 37 of 60, and a process there was killed, which is probably why.",
          [step("I1.at", "likely because", "E1")],
          ["Iteration 37", "of 60 planned", "Likely the reason: a process was killed (SIGKILL)"]),
    _note("f01", "This looks like SIGKILL from outside, P1; check dmesg and the memory of tr-03.",
          [step("E1.said")], ["P1", "seen with", "not confirmed by your team", "tr-03's kernel log", "dmesg -T"],
          cause="N1.cause", to_do=("C1", "P1.fix")),
    _note("f02", "tr-02 froze: rank 1 never said a word while the three others timed out after 12 s.",
          [step("N1.why"), step("E1.said")],
          ["tr-02", "Rank 1 on tr-02 never complained", "3 of 4 ranks did", "12000ms", "waited for a peer in vain"],
          cause="N1.cause"),
    _note("f02", "Why tr-02 went quiet is not in the logs.", [step("N1.ended")],
          ["The logs do not tell why", "tr-02", "12 s before the last line of the others"], cause="N1.cause"),
    _note("f02", "No progress for 11 s, which is a hang at this pace; last finished step is 31 of 60.",
          [step("D1.why1"), step("I1.at")], ["no progress for 11 s", "up to 8.0 s are usual", "Iteration 31", "of 60 planned"],
          cause="N1.cause"),
    _note("f03", "Weak hint only: rank 3 on gpu018 is the one that did not stop; 7 of 8 did.", [step("N1.why")],
          ["A hint, no more", "Rank 3 on gpu018", "7 of 8 ranks stopped"], cause="N1.cause"),
    _note("f03", "The job hung for two minutes before Slurm's time limit ended it.", [step("D1.why1"), step("E1.said")],
          ["no progress for 2 min 04 s", "the scheduler stopped the job at its time limit"]),
    _note("f05", "gpu019 is gone, Slurm reported the node failure at iteration 33.",
          [step("E1.said"), step("N1.why2")],
          ["gpu019", "Node failure on gpu019", "after iteration 33", "Ranks 4-5 on gpu019 had no end reported"]),
    _note("f05", "gpu019's log stops 40 s early. See if it has power and network.", [step("N1.ended")],
          ["40 s before the last line of the others", "See whether gpu019 has power, console and network"]),
    _note("f07", "Slurm killed the job because gpu018 failed; the good jobs have no such line.",
          [step("N1.why1"), step("E1.unseen")],
          ["failed node gpu018", "None of the 2 successful jobs", "Node failure on gpu018"]),
    _note("f07", "Start with gpu018, ranks 2 and 3.", [step("N1.why2")], ["gpu018 with ranks 2-3", "first suspect", "4 nodes"],
          headline="N1.who"),
    _note("f07", "The last line of gpu018 is from 13:45:27; the node not answering is the likely reason.",
          [step("N1.ended", "likely because", "E2")], ["13:45:27", "42 s", "Likely the reason: the node stopped answering"]),
    _note("f15", "NaN in the gradients of all four nodes right after the first iteration: no node, look at lr and data.",
          [step("E1.said"), step("D1.nobody")],
          ["4 of 4 nodes", "NaN in local grad norm", "after iteration 1", "No node stands out", "learning rate"]),
    _note("f15", "Both good runs never had it. Skip the batch and restart from the checkpoint before.", [step("E1.unseen")],
          ["None of the 2 successful jobs", "skip that batch", "Restart from a checkpoint before it"],
          cause="P1.cause", to_do=("C1", "P1.fix")),
    _note("f22", "bert-worker-2 read a broken shard: a Unicode error on rank 2 only, the rest died with it 4 s later.",
          [step("E1.said"), step("E2.said", "then")],
          ["bert-worker-2", "UnicodeDecodeError", "Rank 2 on bert-worker-2", "3.7 s later", "its peer closed the connection"]),
    _note("f22", "The other three nodes have no such error. Check the shard that this rank had open.",
          [step("E1.alone")], ["other 3 nodes did not", "file that this rank opened last", "checksum"]),
    _note("f42", "dgx-a03 lost its process to a SIGKILL in training, after 34 of 60.", [step("D1.stage"), step("I1.at")],
          ["dgx-a03", "SIGKILL", "stage training", "Iteration 34", "of 60 planned"]),
    _note("f42", "First sign 13:52:07 on dgx-a03, the job was over 10 s later. The evidence is one node of three.",
          [step("E1.first"), step("J1.ended"), step("N1.who")], ["13:52:07", "10 s after the first sign", "one of 3 nodes"]),
)  # fmt: skip
