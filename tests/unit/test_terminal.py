"""What files say reaches the terminal as letters: no escape sequences, no turned order, no lines of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.__main__ import main
from core.base.settings_text import parsed, quoted
from core.cli.console import table, visible
from tests import samples
from tests.refusals import refused
from tests.samples_report import sample, with_texts

HOSTILE = "a\x1b]0;pass\x07\x1b[2J\r\u202eb\nPass: nothing leaks.\x9b\u2028c\u200fd"


def check_lines(text: str) -> list[str]:
    """Check that a stream holds printable lines and none that a name made up; return them."""
    assert text.endswith("\n")
    lines = text[:-1].split("\n")
    assert all(line.isprintable() for line in lines), lines
    assert not [line for line in lines if line.startswith("Pass: nothing leaks.")]
    return lines


@settings(deadline=None, max_examples=200)
@given(st.text(st.characters()))
def test_any_text_is_one_printable_line(text):
    seen = visible(text)
    assert seen.isprintable() and len(seen) == len(text) and visible(seen) == seen
    assert seen == text if text.isprintable() else seen != text


def test_table_puts_the_first_columns_flush_left_and_numbers_flush_right():
    rows = [{"model": "a", "kind": "tree", "n": "7"}, {"model": "longest", "kind": "id", "n": "1,000"}]
    assert table(rows, left=2).splitlines()[2:] == ["a        tree      7", "longest  id    1,000"]
    assert table(rows).splitlines()[2:] == ["a        tree      7", "longest    id  1,000"]


def test_an_audit_of_hostile_names(tmp_path, monkeypatch, capsys):
    audit = with_texts(sample(), lambda text: f"{text} {HOSTILE}" if " " in text else text)
    groups = tuple(replace(group, group=HOSTILE) for group in audit.groups)
    audit = replace(audit, groups=groups, data=replace(audit.data, title=HOSTILE, attribute=HOSTILE))
    monkeypatch.setattr("core.cli.audit.run_audit", lambda *_, **__: audit)
    monkeypatch.setattr("core.cli.audit.write_audit", lambda *_, **__: None)
    (tmp_path / "plan.toml").write_text('[data]\ndataset = "demo"', encoding="utf-8")
    main(["audit", str(tmp_path / "plan.toml"), "--out", str(tmp_path / f"out{HOSTILE}"), "--no-self-test"])
    output = capsys.readouterr()
    assert sum("Pass: nothing leaks." in line for line in check_lines(output.out)) >= 8
    check_lines(output.err)


BROKEN = "broken\n\x1b.toml"


@pytest.mark.parametrize(
    "arguments",
    [
        *(["audit", plan, "--out", "out"] for plan in (f"{HOSTILE}.toml", BROKEN)),
        ["audit", "plan.toml", "--out", f"{HOSTILE}/out"],
        ["audit", "plan.toml", "--out", "out", HOSTILE],
        *(["report", action, path] for action in ("verify", "replay") for path in (f"{HOSTILE}.json", BROKEN)),
        ["init", "--dataset", HOSTILE],
        ["init", "--file", f"{HOSTILE}.csv"],
        [HOSTILE],
    ],
)
def test_errors_are_one_printable_line(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text('[data]\ndataset = "demo"', encoding="utf-8")
    (tmp_path / BROKEN).write_text("a = [", encoding="utf-8")
    assert len(check_lines(refused(capsys, *arguments))) == 1


def test_a_plan_for_a_table_of_hostile_names(tmp_path, monkeypatch, capsys):
    """Column names and values are printed so that they can be copied, and read back as they are."""
    people = samples.frame(200).rename(columns={"hired": f"hired {HOSTILE}"})
    people["origin"] = people["origin"].str.replace("north", HOSTILE)
    people.to_csv(tmp_path / "people.csv", index=False)
    assert main(["init", "--file", str(tmp_path / "people.csv")]) == 0
    output = capsys.readouterr()
    check_lines(output.err)
    assert all(line.isprintable() for line in output.out.split("\n"))
    roles = parsed(output.out, name="The plan")["data"]
    assert roles["label"] == f"hired {HOSTILE}"


@settings(deadline=None, max_examples=200)
@given(st.text(st.characters(codec="utf-8")))
@example('a\n"""b"""')
@example("a\\\nb")
@example("\n\n x ")
@example("end\\")
@example("\r\n\x00\x7f\x85")
def test_a_text_in_toml_is_seen_and_read_back(text):
    written = quoted(text)
    assert parsed(f"a = {written}\nb = 1", name="It") == {"a": text, "b": 1}
    assert not {"\x1b", "\r", "\u202e", "\u2066", "\u200f", "\u2028"} & set(written)
