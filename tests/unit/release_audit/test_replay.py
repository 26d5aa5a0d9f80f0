"""Two reports number by number, and ``fairleak report replay``: equal to the bit, within bounds, or named."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.__main__ import main
from core.datasets import read_table
from core.errors import InputError
from core.policy import default_policy
from core.release_audit import plan_of, read_plan, run_audit, same_numbers
from core.report import Reports, from_json, to_json
from tests.compared_reports import PLAN as VERSION
from tests.compared_reports import people
from tests.refusals import refused


def report() -> dict[str, Any]:
    """Return a report with every kind of value."""
    return {
        "kind": "fairleak release audit",
        "schema": 1,
        "fingerprint": "1" * 64,
        "verdict": {
            "overall": "fail",
            "headline": "Do not release: one of two checks fails.",
            "checks": [
                {"check": "correction_gain", "verdict": "fail", "p_value": 0.012, "p_adjusted": 0.024, "blocks": True,
                 "why": "The whole interval, +5.1 to 8.9, exceeds the limit of 5.0 points.",
                 "limit": {"check": "correction_gain", "value": 0.05}},
                {"check": "unfairness", "verdict": "pass", "p_value": 0.4, "p_adjusted": 0.4, "blocks": False,
                 "why": "It caught 12% of 85 people.", "limit": None},
            ],
        },
        "policy": {"name": "Ours", "level": 0.95},
        "measurements": [
            {"check": "correction_gain", "details": {"majority guess": 0.66, "changed": 1530},
             "estimate": {"value": 0.02, "low": 0.001, "high": 0.039, "n": 4080, "level": 0.95}},
            {"check": "targeted_leakage", "details": {},
             "estimate": {"value": 0.75, "low": 0.75, "high": 0.75, "n": 100, "level": 0.95}},
            {"check": "unfairness", "details": {}, "estimate": None},
            {"check": "attribute_bits", "details": {},
             "estimate": {"value": -0.4, "low": -0.4, "high": None, "n": 9, "level": 0.95}},
        ],
        "plan": {"title": "Release 1", "config": {"seed": 42, "tolerance": 0.005, "epsilon": "inf"}},
        "groups": [{"group": "18 to 25"}],
        "data": {"features": ["x1"], "n": 12000, "sets": {"train": 4080, "test": 3960}, "fingerprint": "a" * 64},
        "model": {"achieved": 0.0048, "fingerprint": "b" * 64, "notes": ["2 of 3 iterations."]},
        "tables": [
            {"title": "Steps", "columns": ["step", "accuracy"], "rows": [["features", 0.797], ["shares", 0.8012]]},
        ],
        "provenance": {"fairleak": "0.1.0", "python": "CPython 3.11.7", "platform": "Linux x86_64", "code": "c" * 64,
                       "packages": {"numpy": "2.4.6", "scipy": "1.17.1"}, "plan": "d" * 64, "policy": "e" * 64,
                       "seeds": {"audit": 42, "self-test": 2023}},
        "times": {"started": "2026-01-01T00:00:00+00:00", "seconds": 12.5},
    }  # fmt: skip


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values."""
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, (*path, key))]
    if isinstance(value, list):
        return [leaf for place, item in enumerate(value) for leaf in leaves(item, (*path, place))]
    return [path]


def changed(told: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """Return the report with one value changed."""
    made = copy.deepcopy(told)
    inside: Any = made
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return made


def at(told: Any, path: tuple[Any, ...]) -> Any:
    """Return one value."""
    for key in path:
        told = told[key]
    return told


def elsewhere() -> dict[str, Any]:
    """Return the same report from another machine."""
    return changed(report(), ("provenance", "platform"), "Darwin arm64")


NUMBERS = [
    path
    for path in leaves(report())
    if isinstance(at(report(), path), (int, float))
    and not isinstance(at(report(), path), bool)
    and path[0] != "times"
]  # fmt: skip
COMPARED = [
    path
    for path in leaves(report())
    if path[0] not in ("times", "fingerprint")
    and not (path[0] == "provenance" and path[1] in ("fairleak", "python", "platform", "code", "packages"))
]
WORDED: list[tuple[Any, ...]] = [
    ("verdict", "headline"),
    ("verdict", "checks", 0, "why"),
    ("verdict", "checks", 1, "why"),
    ("model", "notes", 0),
    ("tables", 0, "title"),
    ("tables", 0, "columns", 0),
    ("tables", 0, "columns", 1),
    ("tables", 0, "rows", 0, 0),
    ("tables", 0, "rows", 1, 0),
]


def test_a_report_is_the_same_as_itself_whenever_and_wherever_it_was_made() -> None:
    found = same_numbers(report(), report())
    assert (found.status, found.differences, found.environment) == ("identical", (), ())
    assert found.compared == len(COMPARED) and not found.environment
    later = changed(changed(report(), ("times", "seconds"), 99.0), ("fingerprint",), "2" * 64)
    assert same_numbers(report(), later).status == "identical"
    other = changed(elsewhere(), ("provenance", "packages", "numpy"), "2.5.0")
    del other["provenance"]["packages"]["scipy"]
    found = same_numbers(report(), other)
    assert found.status == "identical" and found.environment
    told = {one.path: (one.old, one.new) for one in found.environment}
    assert told == {
        "provenance.platform": ("Linux x86_64", "Darwin arm64"),
        "provenance.packages.numpy": ("2.4.6", "2.5.0"),
        "provenance.packages.scipy": ("1.17.1", "(absent)"),
    }
    assert same_numbers({}, {}).status == "identical" and same_numbers(report(), {}).status == "different"


@given(path=st.sampled_from(NUMBERS), ulps=st.integers(1, 40))
@settings(deadline=None, max_examples=150)
def test_a_last_digit_is_told_as_such(path: Any, ulps: int) -> None:
    was = at(report(), path)
    if isinstance(was, int):
        return
    now = was
    for _ in range(ulps):
        now = math.nextafter(now, math.inf)
    found = same_numbers(report(), changed(report(), path, now))
    assert len(found.differences) == 1 and found.differences[0].new == now
    asked = path[0] in ("plan", "policy", "provenance")  # what was asked for must be equal
    assert found.status == ("different" if asked else "within_bounds")


@pytest.mark.parametrize("path", [path for path in COMPARED if path not in WORDED], ids=str)
def test_every_value_is_looked_at(path: Any) -> None:
    was = at(report(), path)
    other: Any = -1 - was if isinstance(was, (int, float)) else 7 if was is None else f"{was}?"
    if isinstance(was, bool):
        other = not was
    for old in (report(), elsewhere()):
        found = same_numbers(report(), changed(old, path, other))
        assert len(found.differences) == 1 and found.wording == ()
        allowed = path == ("model", "fingerprint") and old != report()
        assert found.status == ("within_bounds" if allowed else "different")


@pytest.mark.parametrize("path", WORDED, ids=str)
def test_sentences_are_told_apart_from_numbers(path: Any) -> None:
    """Whatever a sentence says, figures too: what it words is compared beside it."""
    for old in (report(), elsewhere()):
        found = same_numbers(report(), changed(old, path, "It caught 99 of 100."))
        assert found.status == "identical" and found.differences == ()
        (one,) = found.wording
        assert (one.kind, one.new) == ("wording", "It caught 99 of 100.")
    both = same_numbers(report(), changed(changed(report(), path, "?"), ("verdict", "overall"), "pass"))
    assert both.status == "different" and len(both.wording) == 1


@pytest.mark.parametrize(
    ("path", "now", "kind", "here", "there"),
    [
        (("measurements", 0, "estimate", "value"), 0.0218, "estimate", False, True),  # a tenth of 0.019 is 0.0019
        (("measurements", 0, "estimate", "value"), 0.0220, "estimate", False, False),
        (("measurements", 0, "estimate", "value"), 0.02 + 3.7e-8, "estimate", True, True),  # a millionth of the width
        (("measurements", 0, "estimate", "value"), 0.02 + 3.9e-8, "estimate", False, True),
        (("measurements", 3, "estimate", "value"), -0.4039, "number", False, True),  # without an interval a hundredth
        (("measurements", 3, "estimate", "value"), -0.4041, "number", False, False),
        (("measurements", 1, "estimate", "value"), 0.7501, "estimate", False, False),  # computed
        (("verdict", "checks", 0, "p_value"), 0.012 + 9e-7, "p_value", True, True),
        (("verdict", "checks", 0, "p_value"), 0.012 + 1.1e-6, "p_value", False, True),
        (("verdict", "checks", 0, "p_value"), 0.15, "p_value", False, True),
        (("verdict", "checks", 0, "p_value"), 0.19, "p_value", False, False),
        (("model", "achieved"), 0.0055, "number", False, True),
        (("model", "achieved"), 0.0065, "number", False, False),
        (("measurements", 0, "details", "changed"), 1540, "number", False, True),
        (("tables", 0, "rows", 1, 1), 0.8092, "number", False, True),
        (("data", "n"), 12001, "exact", False, False),
        (("model", "fingerprint"), "f" * 64, "digest", False, True),
        (("plan", "config", "tolerance"), 0.005000001, "exact", False, False),
        (("verdict", "overall"), "pass", "exact", False, False),
    ],
)  # fmt: skip
def test_the_bound_of_each_kind(path: Any, now: Any, kind: str, here: bool, there: bool) -> None:
    for old, within in ((report(), here), (elsewhere(), there)):
        found = same_numbers(report(), changed(old, path, now))
        (one,) = found.differences
        assert (one.kind, one.within) == (kind, within)
        assert found.status == ("within_bounds" if within else "different")


def test_a_detail_under_another_name_is_wording_and_its_number_is_compared() -> None:
    old, new = report(), report()
    new["measurements"][0]["details"] = {"majority": 0.66, "changed": 1530}
    found = same_numbers(old, new)
    assert found.status == "identical" and [one.new for one in found.wording] == ["majority"]
    new["measurements"][0]["details"]["majority"] = 0.7
    (beyond,) = same_numbers(old, new).beyond
    assert beyond.path == "measurements[correction_gain].details.majority guess"
    assert (beyond.old, beyond.new) == (0.66, 0.7)


def test_what_only_one_report_has_and_longer_lists_are_told() -> None:
    less = report()
    del less["model"]["notes"]
    less["measurements"].pop()
    found = same_numbers(report(), less)
    told = {one.path: (one.old, one.new) for one in found.beyond}
    assert told["measurements"] == (4, 3) and told["model.notes"][1] == "(absent)"
    back = {one.path: (one.old, one.new) for one in same_numbers(less, report()).beyond}
    assert back["measurements"] == (3, 4) and back["model.notes"][0] == "(absent)"
    assert len(found.differences) == 2
    later = {**report(), "findings": [], "more": 1}
    assert [one.path for one in same_numbers(report(), later).beyond] == ["findings", "more"]
    early = changed(report(), ("provenance", "code"), "d" * 64)  # early reports had no findings
    assert [one.path for one in same_numbers(early, later).beyond] == ["more"]
    assert [one.path for one in same_numbers(later, report()).beyond] == ["findings", "more"]
    caveat = {"kind": "records_dropped", "text": "3 records are left out.", "count": 3, "total": 9}
    listed = {**early, "caveats": [caveat]}
    assert not same_numbers(early, {**report(), "caveats": [caveat]}).beyond  # early reports had no list of caveats
    reworded = {**report(), "caveats": [{**caveat, "text": "3 records lack a value."}]}
    assert [one.kind for one in same_numbers(listed, reworded).wording] == ["wording"]
    fewer = {**report(), "caveats": [{**caveat, "count": 2}]}
    assert [one.path for one in same_numbers(listed, fewer).beyond] == ["caveats[0].count"]
    nothing = changed(report(), ("measurements", 0, "estimate"), None)
    assert [one.path for one in same_numbers(report(), nothing).beyond] == ["measurements[correction_gain].estimate"]


def test_items_are_called_by_names_that_differ_and_a_zero_has_its_sign() -> None:
    def paths(old: Any, new: Any) -> list[str]:
        return [one.path for one in same_numbers({"rows": old}, {"rows": new}).differences]

    for second, path in (("b", "rows[b].n"), ("a", "rows[1].n")):
        first, old = {"check": "a", "n": 1}, {"check": second, "n": 2}
        assert paths([first, old], [first, old | {"n": 3}]) == [path]
    assert same_numbers({"rows": 0.0}, {"rows": -0.0}).status == "within_bounds"
    more = changed(report(), ("measurements", 0, "details", "further"), 4)
    assert [one.path for one in same_numbers(report(), more).beyond] == [
        "measurements[correction_gain].details.further"
    ]


# The command


PLAN = read_plan(VERSION.format(version="safe"))

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table, and the report of an audit of it."""
    made = tmp_path_factory.mktemp("replay")
    people("safe", 400).to_csv(made / "renamed.csv", index=False)
    table = read_table((made / "renamed.csv").read_bytes(), "safe.csv")
    (made / "report.json").write_text(
        to_json(Reports(run_audit(PLAN, table, default_policy())).document), encoding="utf-8"
    )
    return made


def replayed(report: Path, *further: str | Path) -> int:
    return main(["report", "replay", str(report), *map(str, further)])


def altered(folder: Path, change: Any) -> Path:
    told = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    change(told)
    (folder / "changed.json").write_text(json.dumps(told), encoding="utf-8")
    return folder / "changed.json"


def test_replaying_tells_changed_numbers_and_other_wording(folder: Path, capsys: Capture) -> None:
    def change(told: dict[str, Any]) -> None:
        told["measurements"][0]["estimate"]["value"] += 0.01
        told["provenance"]["packages"]["numpy"] = "1.0"

    assert replayed(altered(folder, change), "--file", folder / "renamed.csv") == 1
    said = capsys.readouterr().out
    assert said.startswith("Not the same: 1 of ") and "measurements[attribute_excess].estimate.value" in said
    assert "Run on something else than the report: packages.numpy 1.0, now " in said

    def change(told: dict[str, Any]) -> None:
        told["verdict"]["checks"][0]["why"] = "The interval is within the limit."

    assert replayed(altered(folder, change), "--file", folder / "renamed.csv") == 0
    said = capsys.readouterr().out
    assert said.startswith("Same numbers, other wording: of ") and " values 1 is worded otherwise." in said
    assert "verdict.checks[" in said and "chosen" not in said

    def change(told: dict[str, Any]) -> None:
        told["findings"].append({**told["findings"][0], "study": "choose"})
        chosen = {"kind": "chosen_on_these_records", "text": "Picked.", "count": None, "total": None}
        told["caveats"].insert(0, chosen)

    assert replayed(altered(folder, change), "--file", folder / "renamed.csv") == 0
    said = capsys.readouterr().out
    assert said.startswith("The same to the bit: ") and "How the model was chosen was not run again" in said
    for part in ("findings", "caveats"):
        cut = altered(folder, lambda told, part=part: told.pop(part))
        assert f"there must be a key '{part}'" in refused(capsys, "report", "replay", cut)


def test_another_table_and_other_unusable_input_are_told_in_a_sentence(folder: Path, capsys: Capture) -> None:
    other = people("safe", 400)
    other.loc[5, "age"] += 1
    other.to_csv(folder / "other.csv", index=False)
    (folder / "text.json").write_text("nothing", encoding="utf-8")
    table = ("--file", folder / "renamed.csv")

    def of_others(told: dict[str, Any]) -> None:
        told["kind"] = "fairleak public summary"

    cases: list[tuple[tuple[Any, ...], str]] = [
        ((folder / "report.json", "--file", folder / "other.csv"), "The table must be the one the report is about"),
        ((folder / "report.json",), "--file must name the file that was 'safe.csv' in the report"),
        ((folder / "report.json", "--file", folder / "none.csv"), "--file must be a file that can be read"),
        ((folder / "report.json", *table, "--model", folder / "text.json"), "--model is for an audit of a model file"),
        ((folder / "none.json",), "REPORT must be a file that can be read"),
        ((folder / "text.json",), "REPORT must be the report.json of an internal report, got 'text.json'"),
        ((folder / "renamed.csv",), "REPORT must be the report.json of an internal report, got 'renamed.csv'"),
        ((altered(folder, of_others), *table), "must be an internal report, got a public summary"),
    ]
    for arguments, sentence in cases:
        assert sentence in refused(capsys, "report", "replay", *arguments)


def test_the_plan_comes_back_from_the_report(folder: Path) -> None:
    told = from_json((folder / "report.json").read_text(encoding="utf-8"))
    assert plan_of(told) == PLAN
    for plan in (None, {}, {**told["plan"], "schema": 2}, {**told["plan"], "extra": 1}, {**told["plan"], "model": 5}):
        with pytest.raises(InputError, match=r"^The report's plan must be"):
            plan_of({**told, "plan": plan})
    broken = {**told["plan"], "config": {**told["plan"]["config"], "tolerance": 7}}
    with pytest.raises(InputError, match="tolerance"):
        plan_of({**told, "plan": broken})
    assert replace(plan_of(told), title="x") != PLAN


def test_a_plan_that_no_file_could_say_is_refused(folder: Path) -> None:
    """A report may have been written by anybody: its plan keeps the rules of a plan file."""
    told = from_json((folder / "report.json").read_text(encoding="utf-8"))
    plan = told["plan"]
    for title, key, value, words in (
        ("data", "file", "../people.csv", "data.file"),
        ("answers", "questions", 10**9, "questions must"),
        ("membership", "shadows", 10**9, "shadows must"),
        ("config", "epsilon", 0.5, "contradict"),
        ("model", "file", "m.onnx", "contradict"),
    ):
        with pytest.raises(InputError) as caught:
            plan_of({**told, "plan": {**plan, title: {**plan[title], key: value}}})
        assert str(caught.value).startswith("The report's plan") and words in str(caught.value)
    with pytest.raises(InputError, match=r"^The report's plan: title must"):
        plan_of({**told, "plan": {**plan, "title": "x" * 201}})
