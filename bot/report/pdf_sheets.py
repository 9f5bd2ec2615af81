"""Sheets of a phone's width in one PDF: lines of text and pictures below each other, as many sheets as they need.

matplotlib writes it, with its own font, so that a sheet looks the same everywhere; text stays text, to be searched.
"""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import matplotlib as mpl
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.image import imread
from matplotlib.textpath import text_to_path

from bot.report.style import PALETTE, POINTS, canvas, drawing
from bot.text.harmless import harmless

# Inches. A phone shows a page as wide as its screen, 390 CSS pixels of which 16 are 10.6 points of this width.
WIDTH, HEIGHT, MARGIN = 3.6, 7.2, 0.2
MAX_SHEETS = 24  # what is longer, nobody reads on a phone: the page has it
_LEADING = 1.32  # of the size, from line to line
_METADATA = {"Creator": None, "Producer": None, "CreationDate": None}  # else other bytes each time


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Words in one look. size: points. indent: inches. above: points of space before it."""

    text: str
    size: float = 10.5
    bold: bool = False
    fixed: bool = False
    colour: str = "ink"
    indent: float = 0.0
    above: float = 3.0


@dataclass(frozen=True, slots=True)
class Plate:
    """A picture as wide as the sheet's column, as PNG."""

    png: bytes
    above: float = 8.0


Item = Paragraph | Plate


def to_pdf(items: Iterable[Item], *, title: str) -> bytes:
    """The items as a PDF; the same items give the same bytes."""
    buffer = io.BytesIO()
    about = {"Title": harmless(title, 300), **_METADATA}
    letters = mpl.rc_context({"pdf.fonttype": 42})  # and not their outlines
    with drawing(), letters, PdfPages(buffer, metadata=about) as book:
        for sheet in _sheets(items):
            book.savefig(sheet)
    return buffer.getvalue()


def _sheets(items: Iterable[Item]) -> Iterator[Figure]:
    sheet, at, number = _blank(), MARGIN, 1
    for piece, height in _pieces(items):
        if at + height > HEIGHT - MARGIN and at > MARGIN:
            yield sheet
            number += 1
            if number > MAX_SHEETS:
                return
            sheet, at = _blank(), MARGIN
        if isinstance(piece, Plate):
            _place(sheet, piece, at, height)
        elif piece.text:
            where = 1 - (at + height - piece.size * (_LEADING - 1) / POINTS) / HEIGHT
            sheet.text(
                (MARGIN + piece.indent) / WIDTH,
                where,
                piece.text,
                color=PALETTE[piece.colour],
                fontproperties=_font(piece.size, bold=piece.bold, fixed=piece.fixed),
                va="baseline",
                parse_math=False,
            )
        at += height
    yield sheet


def _pieces(items: Iterable[Item]) -> Iterator[tuple[Item, float]]:
    """Lines that fit, and pictures, each with its height in inches."""
    for item in items:
        if isinstance(item, Plate):
            rows, columns = imread(io.BytesIO(item.png)).shape[:2]
            whole = (WIDTH - 2 * MARGIN) * rows / columns
            yield item, min(whole, HEIGHT - 2 * MARGIN) + item.above / POINTS
            continue
        above = item.above
        for line in _lines(item):
            shown = Paragraph(line, item.size, item.bold, item.fixed, item.colour, item.indent)
            yield shown, (item.size * _LEADING + above) / POINTS
            above = 0.0


def _lines(paragraph: Paragraph) -> Iterator[str]:
    """The text in lines no wider than the column; a word that is wider alone is broken."""
    room = (WIDTH - 2 * MARGIN - paragraph.indent) * POINTS
    line = ""
    for word in _words(paragraph, room):
        longer = f"{line} {word}" if line else word
        if line and _wide(longer, paragraph.size, paragraph.bold, paragraph.fixed) > room:
            yield line
            line = word
        else:
            line = longer
    if line:
        yield line


def _words(paragraph: Paragraph, room: float) -> Iterator[str]:
    for word in paragraph.text.split():
        left = word
        while _wide(left, paragraph.size, paragraph.bold, paragraph.fixed) > room and len(left) > 1:
            fits = max(1, int(len(left) * room / _wide(left, paragraph.size, paragraph.bold, paragraph.fixed)))
            while fits > 1 and _wide(left[:fits], paragraph.size, paragraph.bold, paragraph.fixed) > room:
                fits -= 1
            yield left[:fits]
            left = left[fits:]
        yield left


def _blank() -> Figure:
    sheet = canvas(WIDTH, HEIGHT)
    sheet.set_facecolor(PALETTE["paper"])
    return sheet


def _place(sheet: Figure, plate: Plate, at: float, height: float) -> None:
    drawn = height - plate.above / POINTS
    pixels = imread(io.BytesIO(plate.png))
    wide = min(WIDTH - 2 * MARGIN, drawn * pixels.shape[1] / pixels.shape[0])
    axes = sheet.add_axes((MARGIN / WIDTH, 1 - (at + height) / HEIGHT, wide / WIDTH, drawn / HEIGHT))
    axes.imshow(pixels, aspect="auto", interpolation="none")
    axes.set_axis_off()


@lru_cache(maxsize=64)
def _font(size: float, *, bold: bool, fixed: bool) -> FontProperties:
    family = "DejaVu Sans Mono" if fixed else "DejaVu Sans"
    return FontProperties(family=family, size=size, weight="bold" if bold else "normal")


@lru_cache(maxsize=16_384)
def _wide(text: str, size: float, bold: bool, fixed: bool) -> float:  # noqa: FBT001 the key of a cache
    """How wide a text is in this font, in points."""
    width, _, _ = text_to_path.get_text_width_height_descent(text, _font(size, bold=bold, fixed=fixed), ismath=False)
    return float(width)
