"""Fingerprints of an audit, and ``report replay``: a run and its repetition have one, or what differs is listed."""

import copy
import getpass
import json
import platform
import re
import socket
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl

import core
from core.auditing import AuditPlan, DataPlan, ModelPlan, RegisterPlan, data_fingerprint, provenance, run_audit
from core.auditing.plan import check_plan, read_plan
from core.auditing.policy import default_policy
from core.auditing.result import COMPUTING, kind_of_machine, plan_fingerprint
from core.base.errors import FairLeakError, InputError
from core.base.serialize import code_fingerprint, content_fingerprint, fingerprint, fingerprint_of_code
from core.cli.report import _printed
from core.datasets import build_dataset, read_table
from core.report import Reports, from_json, report_document, to_json
from core.report.changes import Changed, Replay, changed_values, compare_runs
from core.report.report import strict
from tests import samples
from tests.refusals import exit_code, refused
from tests.samples_report import PLAN, altered_report, judged_audit, people, places


def test_it_names_versions_seeds_and_contents():
    facts = provenance(AuditPlan(config=replace(AuditPlan().config, seed=7)), default_policy())
    assert (facts.fairleak, facts.code) == (core.__version__, code_fingerprint())
    assert facts.packages["numpy"] == np.__version__
    assert {"scipy", "scikit-learn", "pandas", "fairlearn", "PuLP"} <= set(facts.packages) <= set(COMPUTING)
    assert facts.seeds == {"audit": 7, "self-test": 2023}
    assert platform.python_version() in facts.python and platform.machine() in facts.platform
    for name in (socket.gethostname(), getpass.getuser(), str(Path.home())):
        assert len(name) < 3 or name not in str((facts.python, facts.platform, facts.seeds))


def test_a_plan_is_its_content_and_not_its_files_names():
    names = ("a", "folder/b")
    plan, same = (AuditPlan(data=DataPlan(dataset="", file=f"{n}.csv"), policy=f"{n}.toml") for n in names)
    assert plan_fingerprint(plan) == plan_fingerprint(same)
    assert replace(plan, register=RegisterPlan(model="Loans", version="1")).fingerprint == plan.fingerprint
    changes = [{}, {"title": "Another"}, {"data": DataPlan(dataset="adult")}, {"config": replace(plan.config, seed=1)}]
    changes.append({"model": ModelPlan(kind="file", file="m.onnx")})
    assert len({plan_fingerprint(plan), *(plan_fingerprint(AuditPlan(**change)) for change in changes)}) == 6


def test_a_tables_fingerprint_follows_every_cell_and_no_version(monkeypatch):
    dataset = build_dataset(samples.table(300), samples.ROLES)
    features = dataset.features.copy()
    features[17, 0] += 1.0
    sets = np.array(["train", "attack", "test"])[np.arange(dataset.n) % 3]
    answered = replace(dataset, predictions=dataset.labels, scores=dataset.labels / 2.0, sets=sets)
    moved = replace(answered, scores=np.nextafter(answered.scores, 1.0))
    changed = [replace(dataset, features=features), replace(dataset, sensitive=1 - dataset.sensitive), answered, moved]
    assert len({data_fingerprint(dataset), *map(data_fingerprint, changed)}) == 5
    assert data_fingerprint(moved, answers=False) == data_fingerprint(answered, answers=False)
    original, content, versioned = data_fingerprint(dataset), content_fingerprint("a", 1), fingerprint("a", 1)
    monkeypatch.setattr("core.base.serialize.__version__", "99.0")
    assert data_fingerprint(replace(dataset, title="Another", source="Another")) == original
    assert content_fingerprint("a", 1) == content and fingerprint("a", 1) != versioned


def test_the_kind_of_machine_is_the_same_whatever_other_libraries_are_loaded(monkeypatch):
    """Else a process that has solved a convex program would take results of one that has not for another machine's."""
    kind, loaded = kind_of_machine(), threadpoolctl.threadpool_info()
    foreign = {"architecture": "Another", "filepath": "/somewhere/scs.libs/libopenblas.so"}
    monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda: [foreign, *loaded])
    assert kind_of_machine() == kind
    libraries = [library | {"architecture": "Another"} for library in loaded]
    monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda: libraries)
    assert kind_of_machine().endswith("(Another)") == kind.endswith(")")


def test_the_codes_fingerprint_follows_names_and_contents_and_not_line_ends(tmp_path):
    code, settings = tmp_path / "core" / "a.py", tmp_path / "core" / "b.toml"
    code.parent.mkdir()
    settings.write_bytes(b"x = 1\n")
    prints = []
    for content in (b"one\ntwo\n", b"one\r\ntwo\r\n", b"one\ntwo \n", b"one\ntwo\n"):
        code.write_bytes(content)
        prints.append(fingerprint_of_code(tmp_path / "core"))
        code.with_suffix(".pyc").write_bytes(b"not code")
    settings.rename(tmp_path / "core" / "c.toml")
    assert prints[0] == prints[1] == prints[3] != prints[2]
    assert fingerprint_of_code(tmp_path / "core") != prints[0]


def test_code_that_cannot_be_read_is_one_sentence(tmp_path):
    assert code_fingerprint() == fingerprint_of_code(Path(core.__file__).parent)
    with pytest.raises(FairLeakError, match=r"^FairLeak's own code must be readable for its fingerprint"):
        fingerprint_of_code(tmp_path / "nowhere")
    (tmp_path / "a.py").symlink_to(tmp_path / "gone.py")
    with pytest.raises(FairLeakError, match="but a file is not"):
        fingerprint_of_code(tmp_path)


DOCUMENT = strict(report_document(judged_audit()))
OUTSIDE = re.compile(r"times/|fingerprint|provenance/(fairleak|python|platform|code|packages)")


def replacement(value):
    """Return another value, of the same type but for None."""
    if isinstance(value, bool):
        return not value
    return -1 - value if isinstance(value, (int, float)) else 7 if value is None else f"{value}?"


def test_every_number_and_status_counts_and_no_sentence():
    """Nor when and on what it ran."""
    changed = copy.deepcopy(DOCUMENT)
    for holder, key, path in [*places(changed)][::9]:
        before = holder[key]
        holder[key] = replacement(before)
        counts = not OUTSIDE.match(path) and " " not in str(holder[key])
        assert len(compare_runs(DOCUMENT, changed).changes) == counts, path
        holder[key] = before


@pytest.mark.parametrize(("factor", "same"), [(1 + 1e-9, True), (1 - 1e-12, True), (1 + 2e-5, False)])
def test_numbers_count_to_six_digits(factor, same):
    changed = copy.deepcopy(DOCUMENT)
    changed["measurements"][0]["estimate"]["high"] *= factor
    comparison = compare_runs(DOCUMENT, changed)
    paths = [change.what for change in comparison.changes]
    assert paths == [] if same else ["measurements[attribute_excess].estimate.high"]
    assert comparison.same == same


def test_on_another_machine_the_last_bits_of_answers_do_not_count():
    changed = copy.deepcopy(DOCUMENT)
    changed["model"]["fingerprint"] = "0" * 64
    assert not compare_runs(DOCUMENT, changed).same
    changed["provenance"]["packages"]["numpy"] = "2.5.0"
    del changed["provenance"]["packages"]["scipy"]
    comparison = compare_runs(DOCUMENT, changed)
    assert comparison.same
    assert {change.what: change.after for change in comparison.environment} == {
        "provenance.packages.numpy": "2.5.0",
        "provenance.packages.scipy": "(absent)",
    }


def test_parts_that_only_one_document_has_and_longer_lists_are_changes():
    less = copy.deepcopy(DOCUMENT)
    del less["model"]["notes"]
    last = less["measurements"].pop()
    assert last and {change.what: change.after for change in compare_runs(DOCUMENT, less).changes} == {
        "measurements": len(less["measurements"]),
        "model.notes": "(absent)",
    }


def test_items_are_called_by_names_that_differ():
    for second, path in (("b", "rows[b].n"), ("a", "rows[1].n")):
        first = {"check": "a", "n": 1}
        old = {"check": second, "n": 2}
        changes = changed_values({"rows": [first, old]}, {"rows": [first, old | {"n": 3}]})
        assert [(change.what, change.before, change.after) for change in changes] == [(path, 2, 3)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    directory = tmp_path_factory.mktemp("replay")
    people("safe", 400).to_csv(directory / "renamed.csv", index=False)
    table = read_table((directory / "renamed.csv").read_bytes(), "safe.csv")
    document = Reports(run_audit(read_plan(PLAN.format(version="safe")), table, default_policy())).document
    (directory / "report.json").write_text(to_json(document), "utf-8")
    return directory


def altered(folder, change):
    document = json.loads((folder / "report.json").read_text("utf-8"))
    change(document)
    (folder / "changed.json").write_text(json.dumps(document), "utf-8")
    return folder / "changed.json"


def _other_number(document):
    document["measurements"][0]["estimate"]["value"] += 0.01
    document["provenance"]["packages"]["numpy"] = "1.0"


def _chosen(document):
    document["findings"].append({**document["findings"][0], "study": "choose"})
    caveat = {"kind": "chosen_on_these_records", "text": "Picked.", "count": None, "total": None}
    document["caveats"].insert(0, caveat)


@pytest.mark.parametrize(("n", "more"), [(1, []), (20, []), (21, ["1"]), (1500, ["1,480"])])
def test_replay_counts_the_changes_that_it_does_not_list(n, more):
    changes = tuple(Changed(what=f"rows[{i}].n", before=i, after=-i) for i in range(n))
    text = "\n".join(_printed(Replay(before="a" * 64, now="b" * 64, environment=(), changes=changes)))
    assert text.startswith("Not the same: ") and f"; {n:,} of its values differ." in text
    assert re.findall(r"and ([\d,]+) more", text) == more
    assert text.count("rows[") == min(n, 20)


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "code", "start", "phrase"),
    [
        (_other_number, 1, "Not the same: ", "measurements[attribute_excess].estimate.value"),
        (_chosen, 0, "The same: ", "How the model was chosen was not run again"),
    ],
)
def test_replay_prints_changed_numbers(change, code, start, phrase, folder, capsys):
    assert exit_code("report", "replay", altered(folder, change), "--file", folder / "renamed.csv") == code
    output = capsys.readouterr().out
    assert output.startswith(start) and phrase in output
    assert ("packages.numpy 1.0, now " in output) == (change is _other_number)


def test_another_table_and_other_unusable_input_are_told_in_a_sentence(folder, capsys):
    changed_table = people("safe", 400)
    changed_table.loc[5, "age"] += 1
    changed_table.to_csv(folder / "other.csv", index=False)
    (folder / "text.json").write_text("nothing", "utf-8")
    report = folder / "report.json"
    for arguments, sentence in (
        ((report, "--file", folder / "other.csv"), "The table must be the one the report is about"),
        ((report,), "--file must name the file that was 'safe.csv' in the report"),
        ((report, "--file", folder / "none.csv"), "--file must be a file that can be read"),
        ((report, "--file", folder / "renamed.csv", "--model", report), "--model is for an audit of a model file"),
        ((folder / "none.json",), "REPORT must be a file that can be read"),
        ((folder / "text.json",), "REPORT must be the report.json of an internal report, got 'text.json'"),
        ((altered(folder, lambda document: document.pop("findings")),), "there must be a key 'findings'"),
    ):
        assert sentence in refused(capsys, "report", "replay", *arguments)


@pytest.mark.parametrize(
    ("title", "key", "value", "phrase"),
    [
        ("data", "file", "../people.csv", "data.file"),
        ("bias_queries", "questions", 10**9, "questions must"),
        ("config", "epsilon", 0.5, "contradict"),
    ],
)
def test_a_plan_that_no_file_could_say_is_refused(title, key, value, phrase, folder):
    """A report may have been written by anybody: its plan keeps the rules of a plan file."""
    report = from_json((folder / "report.json").read_text("utf-8"))
    with pytest.raises(InputError, match=f"^The report's plan.*{phrase}"):
        check_plan(altered_report(report, lambda document: document["plan"][title].update({key: value})).plan)
