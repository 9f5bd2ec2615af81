"""The pages of the site: docs/ and the results of the benchmarks in one folder, links between them made anew.

``python -m tests.docs.site FOLDER`` (``make docs``) lays them out for mkdocs. Standard library only: its venv
has mkdocs and nothing of ours.
"""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = "benchmarks/results"
_CODE = re.compile(
    r"(?<!`)(``?)(?!`)([^`\n]*<![^`\n]*)\1(?!`)"
)  # mkdocs takes "<![" of an expression for markup, and ends
_LINK = re.compile(r"(\]\(|src=\")([^)\s\"]+)")


def lay_out(folder: Path) -> None:
    """Make the folder anew: ``docs/`` at its top, the results below ``results/``."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    shutil.copytree(ROOT / RESULTS, folder / "results")
    for page in folder.rglob("*.md"):
        text = _CODE.sub(_spelt, page.read_text(encoding="utf-8"))
        page.write_text(_relinked(text, page.relative_to(folder)), encoding="utf-8")


def _spelt(span: re.Match[str]) -> str:
    """A code span with each sign as a number, so that nobody takes it for another thing."""
    signs = (sign if sign.isalnum() or sign == " " else f"&#{ord(sign)};" for sign in span[2].replace("\\|", "|"))
    return f"<code>{''.join(signs)}</code>"


def _relinked(text: str, page: Path) -> str:
    """The page with each link to a file of the other folder as it is in the site."""
    depth = len(page.parts) - 1
    home = Path(RESULTS) if page.parts[0] == "results" else Path("docs", *page.parts[:-1])

    def link(found: re.Match[str]) -> str:
        target = _normal(home / found[2])
        for there, here in ((f"{RESULTS}/", "results/"), ("docs/", "")):
            if "://" not in found[2] and not found[2].startswith("#") and target.startswith(there):
                return f"{found[1]}{'../' * depth}{here}{target.removeprefix(there)}"
        return found[0]

    return _LINK.sub(link, text)


def _normal(path: Path) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
    return "/".join(parts)


if __name__ == "__main__":
    lay_out(Path(sys.argv[1]))
