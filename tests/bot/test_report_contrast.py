"""The colours of the report can be read by everybody: WCAG 2.2, 1.4.3 (4.5 to 1 for text), light and dark."""

import re
from itertools import product

import pytest

from tests.support.places import ROOT

AA = 4.5  # https://www.w3.org/TR/WCAG22/#contrast-minimum, for text below 24 pixels
TEXT = ("ink", "muted", "root", "propagated", "teardown", "benign", "link")
PAPER = ("paper", "tint", "cited", "track")
STYLES = (ROOT / "bot" / "report" / "page.css").read_text(encoding="utf-8")


def palettes() -> dict[str, dict[str, str]]:
    """The light colours, and the dark ones that take their place."""
    light, dark, *_ = (
        dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", STYLES, re.DOTALL)
    )
    return {"light": light, "dark": {**light, **dark}}


def luminance(colour: str) -> float:
    """Relative luminance as WCAG defines it, 0 to 1."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(("mode", "text", "paper"), [*product(("light", "dark"), TEXT, PAPER)])
def test_text_stands_out(mode: str, text: str, paper: str) -> None:
    """Each colour of text on each ground that text stands on."""
    colours = palettes()[mode]
    lighter, darker = sorted((luminance(colours[text]), luminance(colours[paper])), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= AA


def test_no_text_is_made_paler() -> None:
    """Opacity would undo what the palette promises; shapes may have it."""
    assert re.findall(r"(?<![-\w])opacity:", STYLES) == []
