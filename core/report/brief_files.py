"""The decision brief as files: HTML that needs nothing else, and a PDF set by Typst (an extra).

Both are made from `core.report.brief.brief_content`, and the same report gives the same bytes. HTML: `brief.html`,
which prints on two A4 pages. PDF: `brief.typ`, set in one process, without a network, with the fonts that the extra
brings; texts are handed over as data and never read as markup; the type becomes smaller until all of it fits on two
pages, and no time of making stands in it. It is tagged for screen readers (PDF/UA-1).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from html import unescape
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from ..base.errors import FairLeakError
from ..charts import LIGHT
from .brief import ANNEX, DENSITIES, WORD_LIMIT, Content, Signed, brief_content
from .page import COLOURS, environment
from .report import Report

HTML_NAME = "brief.html"
PDF_NAME = "brief.pdf"
"""Names of the files."""

MISSING = "The decision brief as PDF needs the package typst and two fonts; install what requirements-pdf.txt lists."

_FONTS = ("fontpkg_source_sans_3", "fontpkg_source_serif_4")
"""Packages whose folder "files" holds the fonts of the PDF."""

_SCALES = (1.0, 0.96, 0.92, 0.88, 0.84, 0.8, 0.76, 0.72, 0.68, 0.64, 0.6, 0.55, 0.5, 0.45, 0.4)
_ROOM = 760.0
"""Sizes of type on a page of HTML, and the height in points that is left on one."""

_BROKEN = 16
"""Letters after which a word may be broken."""

_PAPER = {"edge": "#A3A8B0", "beyond": "#E9C8C3"}
"""Colours of the brief alone: what is drawn in grey, and what lies beyond a limit."""

Signatures = Sequence[Signed]


def has_typst() -> bool:
    """Whether the packages that set the PDF are installed."""
    return all(find_spec(name) is not None for name in ("typst", *_FONTS))


def brief_html(
    report: Report, signatures: Signatures = (), *, review: str = "", annex: str = ANNEX
) -> str:
    """Return a report's brief as a page of HTML, with the signatures recorded for it, or lines to sign on.

    `review` is the day of the next review by the register, `annex` the name of the report's files without ending.
    """
    return _html(_content(report, signatures, review, annex), report.fingerprint)


def brief_pdf(
    report: Report, signatures: Signatures = (), *, review: str = "", annex: str = ANNEX
) -> bytes:
    """Return a report's brief as a PDF of two pages; FairLeakError if the extra is not installed."""
    if not has_typst():
        raise FairLeakError(MISSING)
    import typst

    content = _content(report, signatures, review, annex) | {"colours": _colours()}
    try:  # only the fonts of the extra, so that a brief is the same everywhere
        pages = typst.compile(
            Path(str(files(__package__) / "brief.typ")),
            sys_inputs={"brief": json.dumps(content, ensure_ascii=False)},
            font_paths=[Path(str(files(name) / "files")) for name in _FONTS],
            ignore_system_fonts=True,
            pdf_standards=["ua-1"],
        )
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        raise FairLeakError(
            f"The decision brief (PDF) could not be set by typst: {reason}."
        ) from None
    assert isinstance(pages, bytes)
    return pages


def brief_file(
    report: Report,
    signatures: Signatures = (),
    *,
    ending: str,
    review: str = "",
    annex: str = ANNEX,
) -> bytes:
    """Return a report's brief as a file that ends in ".html" or ".pdf"; FairLeakError for a PDF without the extra."""
    if ending == ".pdf":
        return brief_pdf(report, signatures, review=review, annex=annex)
    return brief_html(report, signatures, review=review, annex=annex).encode("utf-8")


def _printed_word_count(text: str) -> int:
    """Return the words of a text at most, where long ones are broken at the end of a line."""
    return sum(-(-len(word) // _BROKEN) for word in text.split() if re.search(r"\w", word))


def _content(report: Report, signatures: Signatures, review: str, annex: str) -> Content:
    """Return the content that keeps to the most words, as full as can be."""
    for dense in range(len(DENSITIES)):
        content = brief_content(report, signatures, review=review, dense=dense, annex=annex)
        if _printed_word_count(_visible(_html(content, report.fingerprint))) <= WORD_LIMIT:
            break
    return content


def _html(content: Content, fingerprint: str) -> str:
    template = environment().get_template("brief.html")
    return template.render(
        brief=content, colours=_colours(), fingerprint=fingerprint, scales=_scales(content)
    )


def _scales(content: Content) -> tuple[float, float]:
    """Return the size of the type on each page of HTML, 1 for 9.9 pt: the largest at which all of it fits on paper.

    Heights are estimated for fonts as wide as DejaVu Sans, as a page does not know which fonts its reader has.
    """
    return _largest(content, _height_of_first), _largest(content, _height_of_second)


def _largest(content: Content, height: Callable[[Content, float], float]) -> float:
    fitting = (scale for scale in _SCALES if height(content, 9.9 * scale) <= _ROOM)
    return next(fitting, _SCALES[-1])


def _height_of_first(content: Content, size: float) -> float:
    """Return the height of page 1 in points, with type of a size."""
    rows = [
        ((f"{row['who']}{'.' * 30}", 144.0), (row["needs"], 131.0), (row["met_text"], 120.0))
        for row in content["attackers"]["rows"]
    ]
    height = 9.0 * size + _table(rows, size)
    limits = [
        ((f"{row['check']} {row['baseline']}", 77.0), (row["source"], 68.0))
        for row in content["limits"]["rows"]
    ]
    folded = "; ".join(entry["text"] for entry in content["limits"]["folded"])
    height += _table(limits, size) + _lines(folded, 450.0, size)
    height += sum(
        _lines(entry["before"] + entry["emphasis"] + entry["after"], 290.0, 1.07 * size)
        + 0.6 * size
        for entry in content["people"].get("sentences", ())
    )
    untested = sum(_lines(e["term"] + e["text"], 180.0, size) for e in content["untested"])
    caveats = sum(_lines(e["text"], 215.0, size) for e in content["caveats"])
    height += max(untested, caveats)
    if content["remedy"]:
        height += 6.0 * size + _lines(content["remedy"]["text"], 240.0, size)
    if content["remedy"] and content["remedy"]["tried"]:
        height += 1.9 * size + 3.2 * size * content["remedy"]["tried"]["count"]
    return height + 14.0 * size


def _height_of_second(content: Content, size: float) -> float:
    """Return the height of page 2 in points, with type of a size."""
    rows = [
        ((row["provision"], 106.0), (row["says"], 199.0), (row["evidence"], 176.0))
        for row in content["law"]["rows"]
    ]
    height = _table(rows, size)
    setters = [
        ((f"{row['source']} {row['names']}", 60.0), (row["author"], 70.0), (row["day"], 54.0))
        for row in content["setters"]["rows"]
    ]
    left = sum(_lines(entry["text"], 150.0, size) for entry in content["data"])
    right = _table(setters, size) + 8.0 * size
    right += _lines(content["audited"], 200.0, size)
    height += max(left, right)
    height += 4.5 * size * len(content["decision"]) + 24.0 * 3 + 30.0 * size
    if content["signatures"]:
        for row in content["signatures"]:
            facts = ((f"{row['name']} {row['role']}", 120.0), (row["ends"], 80.0))
            texts = ((f"{row['reason']} {row['condition']}", 440.0),)
            height += _table((facts, texts), size)
    return height


def _table(rows: Iterable[Sequence[tuple[str, float]]], size: float) -> float:
    """Return the height of a table's rows of texts, each with the width of its column."""
    return sum(
        max(_lines(text, width, 0.94 * size) for text, width in row) + 0.7 * size for row in rows
    )


def _lines(text: str, width: float, size: float) -> float:
    """Return the height of a text in a width: its lines, each 1.3 times the size."""
    letters = max(1, int(width / (0.55 * size)))
    return 1.3 * size * -(-len(text) // letters)


def _visible(page: str) -> str:
    """Return the text of a page's body."""
    body = page.partition("<body>")[2]
    return unescape(re.sub(r"<[^>]*>", " ", body))


@cache
def _colours() -> dict[str, str]:
    light = {name: pair[0] for name, pair in COLOURS.items()}
    return light | _PAPER | {"ink": LIGHT.ink, "grey": LIGHT.grey}
