"""Figures of README and docs are those that are recorded, and none of the README's findings is typed by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.reference.figures import FIGURE_MARK, ROOT, TABLE, Figure, Group, filled, recorded, texts
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


@pytest.mark.parametrize("path", TEXTS, ids=path_of)
def test_no_place_begins_a_line_where_markdown_takes_it_for_html(path: Path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if re.match(r"\s*([-*] )?<!-- figure:", line)]


def test_a_place_is_filled_and_one_of_which_nothing_is_recorded_is_an_error():
    figures = {"gain": Figure(form="points", value=-0.002, low=-0.006, high=0.001)}
    tables = {"all": [["a", "b"], ["1", "2"]]}
    group = Group(command="c", version="1", seed="0", measured="earlier", figures=figures, tables=tables)
    template = "x <!-- figure:one.gain -->old<!-- /figure --> y <!-- figure:one.gain/value --><!-- /figure -->"
    assert filled(template, {"one": group}) == (
        "x <!-- figure:one.gain -->−0.2 points (−0.6 to +0.1)<!-- /figure --> "
        "y <!-- figure:one.gain/value -->−0.2 points<!-- /figure -->"
    )
    table = "<!-- table:one.all -->\n\n| old |\n\n<!-- /table -->"
    assert (
        filled(table, {"one": group}) == "<!-- table:one.all -->\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<!-- /table -->"
    )
    with pytest.raises(KeyError):
        filled(template, {})
    with pytest.raises(KeyError):
        filled(template.replace("one.gain", "one.loss"), {"one": group})


@pytest.mark.parametrize(
    ("figure", "text", "bare"),
    [
        (Figure(form="percent", value=0.971, low=0.961, high=0.983), "97.1% (96.1 to 98.3%)", "97.1%"),
        (Figure(form="rate", value=0.8278, low=0.8153, high=0.8367), "0.828 (0.815 to 0.837)", "0.828"),
        (Figure(form="gap", value=-0.0746, low=-0.1, high=-0.0493), "−0.075 (−0.100 to −0.049)", "−0.075"),
        (Figure(form="gap", value=0.0746), "+0.075", "+0.075"),
        (Figure(form="count", value=7270.4), "7,270", "7,270"),
        (Figure(form="text", value="0.5"), "0.5", "0.5"),
    ],
)
def test_a_figure_is_written_as_elsewhere(figure: Figure, text: str, bare: str):
    assert (figure.text(), figure.text(bare=True)) == (text, bare)


def test_a_record_is_read_as_it_was_written(tmp_path: Path):
    for name, group in GROUPS.items():
        (tmp_path / f"{name}.json").write_text(group.to_json(), encoding="utf-8")
    assert recorded(tmp_path) == GROUPS
