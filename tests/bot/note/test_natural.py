"""Natural notes reach the user as plans, with their facts; what a lie plans does not, and true free words are kept."""

import pytest

from bot.fetch.jobs import Request
from bot.investigate import Answer, investigate
from bot.note.claims import claims_of
from bot.note.free_sentences import kept
from bot.note.note import Author, plain
from bot.settings import Settings
from tests.support.notes.free import FALSE, TRUE
from tests.support.notes.lies import lies_about
from tests.support.notes.natural import NATURAL, Natural
from tests.support.notes.plans import noted, outside
from tests.support.places import EXAMPLES

JOBS = sorted({sample.job for sample in NATURAL})


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    """The example jobs of the notes, diagnosed once."""
    settings = Settings(cache=tmp_path_factory.mktemp("cache"), library=tmp_path_factory.mktemp("library"))
    return {job: investigate(Request(job, jobs=str(EXAMPLES), workers=1), settings) for job in JOBS}


@pytest.mark.parametrize("note", NATURAL, ids=lambda note: note.words[:40])
def test_a_natural_note_reaches_its_reader_with_its_facts(note: Natural, answers: dict[str, Answer]) -> None:
    """What a person would say can be planned, and every fact of it is in what is shown."""
    answer = answers[note.job]

    shown = noted(answer.diagnosis, note.plan, *answer.known)

    text = "\n".join(plain(shown))
    assert shown.author is Author.MODEL
    assert [fact for fact in note.facts if fact not in text] == []


@pytest.mark.parametrize("job", JOBS)
def test_there_are_enough_claims_and_not_too_many(job: str, answers: dict[str, Answer]) -> None:
    """Fifteen to forty, each once, and each with what it stands on."""
    claims = claims_of(answers[job].diagnosis, answers[job].known).every

    assert 15 <= len(claims) <= 40
    assert len({claim.id for claim in claims}) == len(claims)
    assert all(
        claim.cites and claim.says.endswith((".", "?", "\u201d.", ")")) for claim in claims if claim.id != "D1.look"
    )


@pytest.mark.slow
def test_no_lie_is_shown_outside_the_block(answers: dict[str, Answer]) -> None:
    """Two hundred lies: ids that are none, claims where they do not belong, false joins, invented free words."""
    lies = [(job, lie) for job in JOBS for lie in lies_about(answers[job].diagnosis, answers[job].known)]
    own = {job: "\n".join(plain(noted(answers[job].diagnosis, "", *answers[job].known))) for job in JOBS}  # by code
    through = []
    for job, lie in lies:
        note = noted(answers[job].diagnosis, lie.plan, *answers[job].known)
        text = "\n".join(plain(note))
        if any(text.count(words) > own[job].count(words) for words in lie.forbidden):
            through.append((job, lie.kind, lie.forbidden))

    assert len(lies) >= 200
    assert through == []


@pytest.mark.parametrize("job", JOBS)
def test_free_words_never_change_what_is_shown(job: str, answers: dict[str, Answer]) -> None:
    """The same plan with another reading is the same note but for the block."""
    answer = answers[job]
    lies = lies_about(answer.diagnosis, answer.known)
    free = {outside(noted(answer.diagnosis, lie.plan, *answer.known)).model_dump_json() for lie in lies if lie.free}

    assert len(free) == 1


def test_most_true_free_sentences_are_kept(answers: dict[str, Answer]) -> None:
    """At least four of five."""
    sentences = [(job, text) for job, texts in TRUE.items() for text in texts]
    held = [text for job, text in sentences if kept([text], claims_of(answers[job].diagnosis, answers[job].known))[0]]

    assert len(sentences) >= 40
    assert len(held) >= 0.8 * len(sentences)


@pytest.mark.parametrize("text", FALSE)
def test_a_sentence_that_names_what_nobody_saw_is_dropped(text: str, answers: dict[str, Answer]) -> None:
    """Each by itself; the true one beside it stays."""
    claims = claims_of(answers["f01"].diagnosis, answers["f01"].known)

    shown, dropped = kept([text, "tr-03 lost a process."], claims)

    assert shown == ("tr-03 lost a process.",)
    assert len(dropped) == 1
