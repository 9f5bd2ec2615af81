"""`make bench`: every benchmark that writes a document is in it, or it is said why not."""

import pytest

from benchmarks import __main__ as everything
from benchmarks.__main__ import ELSEWHERE, ROOT, STEPS, main
from benchmarks.quality.report import marks

BENCHMARKS = ROOT / "benchmarks"


def _writing() -> set[str]:
    """The benchmarks that have an option to write, as they are named behind ``python -m benchmarks``."""
    files = [path.relative_to(BENCHMARKS) for path in BENCHMARKS.rglob("*.py") if '"--write",' in path.read_text()]
    dotted = {".".join(path.with_suffix("").parts).removesuffix(".__main__") for path in files}
    return dotted - {"__main__"}


def test_no_benchmark_that_writes_is_forgotten() -> None:
    """A table that nobody writes anew is soon a lie."""
    assert _writing() == {*STEPS, *ELSEWHERE}


def test_the_documents_have_room_for_what_is_written() -> None:
    """Each step that names a document finds its marks there."""
    for name, words in STEPS.items():
        for document in (word for word in words if word.endswith(".md")):
            begin, end = marks(name)
            text = (ROOT / document).read_text(encoding="utf-8")
            assert begin in text
            assert end in text


def test_the_docstring_tells_of_every_step() -> None:
    """Whoever starts all of it reads how long each takes."""
    assert [name for name in STEPS if f"\n    {name} " not in str(everything.__doc__)] == []


def test_an_unknown_name_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, and nothing was run."""
    with pytest.raises(SystemExit) as ended:
        main(["nope"])

    assert ended.value.code == 2
    assert "nope" in capsys.readouterr().err
