"""``fairleak report replay``: a run and its repetition have one fingerprint, or the values that differ are listed."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.__main__ import main
from core.auditing import check_plan, read_plan, run_audit
from core.auditing.policy import default_policy
from core.base.errors import InputError
from core.datasets import read_table
from core.report import Reports, from_json, to_json
from core.report.changes import changed_values, compare_runs
from tests.refusals import refused
from tests.samples_report import PLAN as VERSION
from tests.samples_report import altered_report, people


def report() -> dict[str, Any]:
    """Return a report with every kind of value."""
    return {
        "kind": "fairleak release audit",
        "schema": 1,
        "fingerprint": "1" * 64,
        "verdict": {
            "overall": "fail",
            "headline": "Do not release: Fail 1 of 2.",
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
        return [leaf for index, item in enumerate(value) for leaf in leaves(item, (*path, index))]
    return [path]


def changed(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """Return the report with one value changed."""
    copied = copy.deepcopy(document)
    inside: Any = copied
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return copied


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """Return one value."""
    for key in path:
        value = value[key]
    return value


def elsewhere() -> dict[str, Any]:
    """Return the same report from another machine."""
    return changed(report(), ("provenance", "platform"), "Darwin arm64")


LEFT_OUT = ("times", "fingerprint")
ENVIRONMENT = ("fairleak", "python", "platform", "code", "packages")
COMPARED = [
    path
    for path in leaves(report())
    if path[0] not in LEFT_OUT and path[:1] + path[1:2] not in [("provenance", name) for name in ENVIRONMENT]
]
SENTENCES = [path for path in COMPARED if isinstance(at(report(), path), str) and " " in at(report(), path)]


def test_a_run_is_the_same_as_its_repetition() -> None:
    comparison = compare_runs(report(), report())
    assert comparison.same and (comparison.changes, comparison.environment) == ((), ())
    later = changed(changed(report(), ("times", "seconds"), 99.0), ("fingerprint",), "2" * 64)
    assert compare_runs(report(), later) == comparison
    newer = changed(elsewhere(), ("provenance", "packages", "numpy"), "2.5.0")
    del newer["provenance"]["packages"]["scipy"]
    comparison = compare_runs(report(), newer)
    assert comparison.same and comparison.changes == ()
    assert {change.path: (change.before, change.now) for change in comparison.environment} == {
        "provenance.platform": ("Linux x86_64", "Darwin arm64"),
        "provenance.packages.numpy": ("2.4.6", "2.5.0"),
        "provenance.packages.scipy": ("1.17.1", "(absent)"),
    }


@pytest.mark.parametrize("path", [path for path in COMPARED if path not in SENTENCES], ids=str)
def test_every_number_and_status_counts(path: Any) -> None:
    before = at(report(), path)
    now: Any = -1 - before if isinstance(before, (int, float)) else 7 if before is None else f"{before}?"
    if isinstance(before, bool):
        now = not before
    for old in (report(), elsewhere()):
        comparison = compare_runs(report(), changed(old, path, now))
        if path == ("model", "fingerprint") and old != report():
            assert comparison.same
        else:
            assert not comparison.same and len(comparison.changes) == 1


@pytest.mark.parametrize("path", SENTENCES, ids=str)
def test_sentences_do_not_count(path: Any) -> None:
    assert compare_runs(report(), changed(report(), path, "It caught 99 of 100.")).same


@pytest.mark.parametrize(("factor", "same"), [(1 + 1e-9, True), (1 - 1e-12, True), (1 + 2e-5, False)])
def test_numbers_count_to_six_digits(factor: float, same: bool) -> None:
    path = ("measurements", 0, "estimate", "high")
    comparison = compare_runs(report(), changed(report(), path, 0.039 * factor))
    assert comparison.same == same
    assert [change.path for change in comparison.changes] == (
        [] if same else ["measurements[correction_gain].estimate.high"]
    )
    assert compare_runs(report(), changed(report(), ("data", "n"), 12000.0)).same


def test_parts_that_only_one_document_has_and_longer_lists_are_changes() -> None:
    less = report()
    del less["model"]["notes"]
    less["measurements"].pop()
    changes = {change.path: (change.before, change.now) for change in compare_runs(report(), less).changes}
    assert changes == {"measurements": (4, 3), "model.notes": ("['']", "(absent)")}
    nothing = changed(report(), ("measurements", 0, "estimate"), None)
    assert [change.path for change in compare_runs(report(), nothing).changes] == [
        "measurements[correction_gain].estimate"
    ]


def test_items_are_called_by_names_that_differ() -> None:
    for second, path in (("b", "rows[b].n"), ("a", "rows[1].n")):
        first = {"check": "a", "n": 1}
        old = {"check": second, "n": 2}
        changes = changed_values({"rows": [first, old]}, {"rows": [first, old | {"n": 3}]})
        assert [(change.path, change.before, change.now) for change in changes] == [(path, 2, 3)]


# The command


PLAN = read_plan(VERSION.format(version="safe"))

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table, and the report of an audit of it."""
    directory = tmp_path_factory.mktemp("replay")
    people("safe", 400).to_csv(directory / "renamed.csv", index=False)
    table = read_table((directory / "renamed.csv").read_bytes(), "safe.csv")
    (directory / "report.json").write_text(
        to_json(Reports(run_audit(PLAN, table, default_policy())).document), encoding="utf-8"
    )
    return directory


def replayed(report: Path, *further: str | Path) -> int:
    return main(["report", "replay", str(report), *map(str, further)])


def altered(folder: Path, change: Any) -> Path:
    document = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    change(document)
    (folder / "changed.json").write_text(json.dumps(document), encoding="utf-8")
    return folder / "changed.json"


@pytest.mark.long
def test_replay_prints_changed_numbers(folder: Path, capsys: Capture) -> None:
    def change(document: dict[str, Any]) -> None:
        document["measurements"][0]["estimate"]["value"] += 0.01
        document["provenance"]["packages"]["numpy"] = "1.0"

    assert replayed(altered(folder, change), "--file", folder / "renamed.csv") == 1
    output = capsys.readouterr().out
    assert output.startswith("Not the same: the run has the fingerprint ") and "; 1 of its values differ." in output
    assert "measurements[attribute_excess].estimate.value" in output
    assert "Run on something else than the report: packages.numpy 1.0, now " in output

    def change(document: dict[str, Any]) -> None:
        document["verdict"]["checks"][0]["why"] = "The interval is within the limit."

    assert replayed(altered(folder, change), "--file", folder / "renamed.csv") == 0
    output = capsys.readouterr().out
    assert output.startswith("The same: the run has the fingerprint ") and output.count("\n") == 1

    def change(document: dict[str, Any]) -> None:
        document["findings"].append({**document["findings"][0], "study": "choose"})
        chosen = {"kind": "chosen_on_these_records", "text": "Picked.", "count": None, "total": None}
        document["caveats"].insert(0, chosen)

    assert replayed(altered(folder, change), "--file", folder / "renamed.csv") == 0
    output = capsys.readouterr().out
    assert output.startswith("The same: ") and "How the model was chosen was not run again" in output
    for part in ("findings", "caveats"):
        cut = altered(folder, lambda document, part=part: document.pop(part))
        assert f"there must be a key '{part}'" in refused(capsys, "report", "replay", cut)


def test_another_table_and_other_unusable_input_are_told_in_a_sentence(folder: Path, capsys: Capture) -> None:
    changed_table = people("safe", 400)
    changed_table.loc[5, "age"] += 1
    changed_table.to_csv(folder / "other.csv", index=False)
    (folder / "text.json").write_text("nothing", encoding="utf-8")
    table = ("--file", folder / "renamed.csv")

    def as_summary(document: dict[str, Any]) -> None:
        document["kind"] = "fairleak public summary"

    cases: list[tuple[tuple[Any, ...], str]] = [
        ((folder / "report.json", "--file", folder / "other.csv"), "The table must be the one the report is about"),
        ((folder / "report.json",), "--file must name the file that was 'safe.csv' in the report"),
        ((folder / "report.json", "--file", folder / "none.csv"), "--file must be a file that can be read"),
        ((folder / "report.json", *table, "--model", folder / "text.json"), "--model is for an audit of a model file"),
        ((folder / "none.json",), "REPORT must be a file that can be read"),
        ((folder / "text.json",), "REPORT must be the report.json of an internal report, got 'text.json'"),
        ((folder / "renamed.csv",), "REPORT must be the report.json of an internal report, got 'renamed.csv'"),
        ((altered(folder, as_summary), *table), "must be an internal report, got a public summary"),
    ]
    for arguments, sentence in cases:
        assert sentence in refused(capsys, "report", "replay", *arguments)


def test_the_plan_comes_back_from_the_report(folder: Path) -> None:
    report = from_json((folder / "report.json").read_text(encoding="utf-8"))
    check_plan(report.plan)
    assert report.plan == PLAN
    plan = json.loads(to_json(report))["plan"]
    for altered, sentence in (
        (None, "A report must follow its schema; at 'plan' there must be"),
        ({}, "A report must follow its schema; at 'plan' there must be a key"),
        ({**plan, "schema": 2}, "The report's plan must be of format 1"),
        ({**plan, "extra": 1}, "A report must follow its schema; at 'plan' there must be no key 'extra'"),
        ({**plan, "model": 5}, "A report must follow its schema; at 'plan/model' there must be another value"),
        ({**plan, "config": {**plan["config"], "tolerance": 7}}, "The report's plan: tolerance must"),
    ):
        with pytest.raises(InputError, match=f"^{sentence}"):
            from_json(to_json({**json.loads(to_json(report)), "plan": altered}))


def _put(title: str, key: str, value: Any, document: dict[str, Any]) -> None:
    document["plan"][title][key] = value


def test_a_plan_that_no_file_could_say_is_refused(folder: Path) -> None:
    """A report may have been written by anybody: its plan keeps the rules of a plan file."""
    report = from_json((folder / "report.json").read_text(encoding="utf-8"))
    for title, key, value, phrase in (
        ("data", "file", "../people.csv", "data.file"),
        ("bias_queries", "questions", 10**9, "questions must"),
        ("membership", "shadows", 10**9, "shadows must"),
        ("config", "epsilon", 0.5, "contradict"),
        ("model", "file", "m.onnx", "contradict"),
    ):
        with pytest.raises(InputError) as caught:
            check_plan(altered_report(report, partial(_put, title, key, value)).plan)
        assert str(caught.value).startswith("The report's plan") and phrase in str(caught.value)
    with pytest.raises(InputError, match=r"^The report's plan: title must"):
        check_plan(replace(report.plan, title="x" * 201))
