"""The story of a note: evidence, a draft, its check, one repair; else the note is written by code."""

from collections.abc import Sequence

import prompts
from bot.chat.model import ChatModel, Message, ModelUnavailable, OnText, Usage
from bot.known import KnownFault
from bot.note import fixed
from bot.note.by_code import category_of, draft_by_code, without
from bot.note.check import VERDICT, Court, Refusal, check
from bot.note.clauses import without_cites
from bot.note.draft import MAX_CITES, BrokenDraft, Draft, Sentence, read_draft
from bot.note.evidence import BUDGET, EvidenceList, collect
from bot.note.note import Author, Note
from core.model import Diagnosis

MAX_TOKENS = 1_200  # of a draft; the longest true one of the tests has 284
MAX_TOLD = 12  # refusals that a repair is told
_MAX_ECHO = 6_000  # characters of a broken answer that the model is shown again


def write_note(
    diagnosis: Diagnosis,
    known: Sequence[KnownFault] = (),
    model: ChatModel | None = None,
    *,
    redact_addresses: bool = False,
    budget: int = BUDGET,
    on_text: OnText | None = None,
) -> Note:
    """A note that the evidence holds, by the model if it can, by code if not."""
    evidence = collect(diagnosis, known, budget=budget, redact_addresses=redact_addresses)
    if model is None:
        return _by_code(evidence, diagnosis)
    session = _Session(model, evidence, diagnosis, on_text)
    try:
        session.ask(Message("user", prompts.render("note", evidence=evidence.text)))
        if session.clean:
            return session.note(Author.MODEL)
        session.ask(Message("user", prompts.render("repair", problems="\n".join(session.problems[:MAX_TOLD]))))
    except ModelUnavailable as trouble:
        session.fail(trouble)
    return session.best()


class _Session:
    """One conversation with a model: what it was asked, what it drafted, what was refused, what it cost."""

    def __init__(self, model: ChatModel, evidence: EvidenceList, diagnosis: Diagnosis, on_text: OnText | None) -> None:
        self._model, self._evidence, self._diagnosis, self._on_text = model, evidence, diagnosis, on_text
        self._messages: list[Message] = []
        self._drafts: list[tuple[Draft, tuple[Refusal, ...]]] = []
        self._refused: list[str] = []
        self._usage = Usage()
        self._unavailable = ""
        self.problems: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether nothing of the last answer was refused."""
        return not self.problems

    def ask(self, question: Message) -> None:
        """One answer, read and checked."""
        self._messages.append(question)
        reply = self._model.answer(tuple(self._messages), schema=Draft, max_tokens=MAX_TOKENS, on_text=self._on_text)
        self._usage += reply.usage
        self._messages.append(Message("assistant", reply.text[:_MAX_ECHO]))
        try:
            draft = self._completed(read_draft(reply.text))
        except BrokenDraft as broken:
            self.problems = broken.problems
        else:
            refused = check(draft, self._evidence, self._diagnosis)
            self._drafts.append((draft, refused))
            self.problems = tuple(f"{one.field}: \u201c{one.sentence}\u201d: {one.reason}" for one in refused)
        self._refused += self.problems

    def fail(self, trouble: ModelUnavailable) -> None:
        """The model gave no answer."""
        self._unavailable = trouble.message
        self._usage += trouble.usage

    def best(self) -> Note:
        """The last draft whose headline and cause hold, without what is refused; else the note by code."""
        for draft, refused in reversed(self._drafts):
            kept = without(draft, self._evidence, self._diagnosis)
            holds = not any(one.field in VERDICT for one in refused)
            if holds and kept.happened and not check(kept, self._evidence, self._diagnosis):
                return self._note(kept, Author.REPAIRED)
        return self._note(draft_by_code(self._evidence, self._diagnosis), Author.CODE)

    def note(self, author: Author) -> Note:
        """The last draft as a note."""
        return self._note(self._drafts[-1][0], author)

    def _completed(self, draft: Draft) -> Draft:
        """Ids out of the text into the citations, copies cited right, and what code alone may say in its place."""
        court = Court(self._evidence, self._diagnosis)
        lists = {
            field: [court.recited(field, _cited(one)) for one in getattr(draft, field)]
            for field in ("happened", "check_first", "fix", "open_questions")
        }
        update = {
            "headline": court.recited("headline", _cited(draft.headline)),
            "cause": court.recited("cause", _cited(draft.cause)),
            **lists,
        }
        update["category"] = category_of(self._evidence, self._diagnosis)
        if self._diagnosis.scope in fixed.SCOPES:
            update["headline"] = fixed.headline(self._evidence, self._diagnosis)
            update["cause"] = fixed.cause(self._evidence, self._diagnosis)
        return draft.model_copy(update=update)

    def _note(self, draft: Draft, author: Author) -> Note:
        return _note(draft, author, self._model.name, tuple(self._refused), self._usage, self._unavailable)


def _by_code(evidence: EvidenceList, diagnosis: Diagnosis) -> Note:
    return _note(draft_by_code(evidence, diagnosis), Author.CODE, "", (), Usage(), "")


def _note(draft: Draft, author: Author, model: str, refused: tuple[str, ...], usage: Usage, unavailable: str) -> Note:
    return Note(
        author=author,
        model=model,
        headline=draft.headline,
        cause=draft.cause,
        happened=tuple(draft.happened),
        check_first=tuple(draft.check_first),
        fix=tuple(draft.fix),
        category=draft.category,
        open_questions=tuple(draft.open_questions),
        refused=refused,
        usage=usage,
        unavailable=unavailable,
    )


def _cited(sentence: Sentence) -> Sentence:
    text, ids = without_cites(sentence.text)
    if not ids or not text:
        return sentence
    return Sentence(text=text, cites=list(dict.fromkeys((*sentence.cites, *ids)))[:MAX_CITES])
