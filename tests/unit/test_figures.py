"""Figures of README and docs are those that are recorded, and none of the README's findings is typed by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.reference.figures import FIGURE_MARK, ROOT, TABLE, filled, recorded, texts
from tests.reference.recordings import RECORDINGS

GROUPS = recorded()
TEXTS = list(texts())


def path_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", TEXTS, ids=path_of)
def test_a_text_shows_what_is_recorded(path: Path):
    text = path.read_text(encoding="utf-8")
    assert filled(text, GROUPS) == text, "make docs"


def test_every_group_is_recorded_as_its_recording_says_and_shown_somewhere():
    assert set(GROUPS) == set(RECORDINGS)
    for name, group in GROUPS.items():
        assert (group.command, group.seed) == (RECORDINGS[name].command, RECORDINGS[name].seed), name
        assert group.measured in ("by this command", "earlier") and group.version
        assert group.figures or group.tables
    all_texts = "\n".join(path.read_text(encoding="utf-8") for path in TEXTS)
    group_names = {match[1] for match in [*FIGURE_MARK.finditer(all_texts), *TABLE.finditer(all_texts)]}
    assert group_names == set(GROUPS)


def unmarked(text: str) -> list[str]:
    """Return the numbers of a text that stand in no place."""
    return re.findall(r"\d+(?:[.,]\d+)*", FIGURE_MARK.sub("", text))


def test_every_figure_of_the_readme_is_recorded():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## What it found\n")[2].partition("\n[All results]")[0]
    assert section.count("\n- ") >= 4 and len(FIGURE_MARK.findall(section)) >= 8
    assert unmarked(section) == []
    assert unmarked(section.replace("<!-- /figure -->", "<!-- /figure --> of 17", 1)) == ["17"]


def test_every_figure_of_ours_in_a_table_of_results_is_recorded():
    results = (ROOT / "docs" / "results" / "index.md").read_text(encoding="utf-8")
    lines, column, seen = TABLE.sub("", results).splitlines(), None, 0
    for before, line in zip(["", *lines], lines, strict=False):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells and not before.startswith("|"):
            assert "here" in cells, line
            column = cells.index("here")
        elif cells and not set(line) <= set("|-"):
            assert column is not None
            of_all = re.sub(r" of 22,611$", "", cells[column])  # members, a fact about the table
            assert unmarked(of_all) == [] and FIGURE_MARK.search(of_all), line
            seen += 1
    assert seen > 30
