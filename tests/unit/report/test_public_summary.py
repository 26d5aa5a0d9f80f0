"""Public summary: no number measured on people, equal bytes for equal facts, documented whole, refused where judged."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from core.__main__ import main
from core.auditing.policy import CHECKS, judge
from core.auditing.result import PeopleSection
from core.base.caveats import FIXED, Caveat, CaveatKind, in_order
from core.base.errors import InputError
from core.cli.audit import check_folder, write_audit
from core.report import (
    Reports,
    from_json,
    public_summary,
    report_document,
    summary_html,
    summary_markdown,
    to_json,
    verify_report,
)
from core.report.codec import report_of
from core.report.public_summary import CONTENTS
from core.report.report import strict
from core.report.verification import readable_in_child
from core.studies.study import Finding
from tests.html_reader import Reader
from tests.samples_report import HOSTILE, POLICY, judged_audit, sample, with_texts

Document = dict[str, Any]
Capture = pytest.CaptureFixture[str]

DOCS = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "public-summary.md"
PAIRS = 200

PUBLISHED = re.compile(
    r"kind|schema|times/started|provenance/fairleak|data/(attribute|label|synthetic|n)|self_tests/\d+/passed"
    r"|policy/.*|verdict/overall|verdict/checks/\d+/(check|verdict)|caveats/\d+/kind"
    r"|plan/(title|data/dataset|data/file|model/(kind|threshold)|(outputs|bias_queries|membership|attriguard)/.*)"
    r"|plan/config/(method|epsilon|depth|metric|tolerance|train_share)"
)
"""Places of an internal report that its summary may depend on."""

SET = re.compile(r"plan/schema|measurements/\d+/(outcome|basis)")
"""Places that hold one of a few words or numbers."""


def places(value: Any, path: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Yield each leaf of a document: what holds it, its key, and its path."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        inner = f"{path}/{key}" if path else str(key)
        if isinstance(item, (dict, list)):
            yield from places(item, inner)
        else:
            yield value, key, inner


def _altered(value: Any, rng: random.Random) -> Any:
    """Return another value of the same type; None stays."""
    makers: dict[type, Callable[[], Any]] = {
        str: lambda: f"{value}{rng.random()}",
        bool: lambda: not value,
        int: lambda: rng.randint(0, 99),
        float: rng.random,
    }
    return makers.get(type(value), lambda: None)()


def unlike(document: Document, rng: random.Random) -> Document:
    """Return a document with every leaf changed that the summary may not depend on, and rows in another order."""
    changed = deepcopy(document)
    for holder, key, path in list(places(changed)):
        if not (PUBLISHED.fullmatch(path) or SET.fullmatch(path)):
            holder[key] = _altered(holder[key], rng)
    for rows in (changed["verdict"]["checks"], changed["measurements"], changed["groups"], changed["tables"]):
        rng.shuffle(rows)
    changed["data"]["features"] *= rng.randint(0, 3)
    changed["caveats"] += rng.sample(changed["caveats"], min(2, len(changed["caveats"])))
    changed["people_at_risk"] = {"findings": [], "tables": [{"title": "x", "columns": ["a"], "rows": [[rng.random()]]}]}
    changed["plan"]["register"] = {"model": f"m{rng.random()}", "version": "1", "owner": f"o{rng.random()}"}
    changed["plan"]["studies"] = [["people", {"shadows": 2 * rng.randint(2, 9)}]]
    return changed


def texts(document: Document) -> tuple[str, str, str]:
    """Return the three forms of a document's summary, without day and fingerprint."""
    summary = public_summary(report_of(document))
    mark = summary.fingerprint
    gone = re.compile("|".join((summary.day, mark, f"{mark[:8]} {mark[8:16]}")))
    json_text, html_text, markdown_text = to_json(summary), summary_html(summary), summary_markdown(summary)
    return gone.sub("", json_text), gone.sub("", html_text), gone.sub("", markdown_text)


def judged_document() -> Document:
    """Return the judged sample's report as JSON has it."""
    return strict(report_document(judged_audit()))


def synthetic(rng: random.Random) -> Document:
    """Return a report with verdict words, limits, caveats and settings drawn at random."""
    document = judged_document()
    verdicts = ("pass", "fail", "inconclusive", "not_run")
    for row in document["verdict"]["checks"]:
        row["verdict"] = rng.choice(verdicts)
    document["verdict"]["overall"] = rng.choice(verdicts)
    document["data"]["n"] = rng.randint(100, 100_000)
    kinds = rng.sample(list(CaveatKind), rng.randint(0, 8))
    document["caveats"] = [caveat.to_dict() for caveat in in_order(Caveat(kind, "x") for kind in kinds)]
    document["self_tests"] = document["self_tests"][: rng.randint(0, 2)]
    document["policy"]["limits"] = rng.sample(document["policy"]["limits"], rng.randint(1, 8))
    document["plan"]["bias_queries"]["questions"] = rng.randint(0, 99)
    document["plan"]["outputs"]["decimals"] = rng.choice([None, 1, 2])
    if rng.random() < 0.5:
        document["plan"]["model"]["kind"] = "predictions"
    return document


@pytest.mark.parametrize("seed", range(PAIRS // 20))
def test_equal_facts_give_equal_bytes_whatever_else_the_reports_hold(seed: int):
    rng = random.Random(seed)
    for _ in range(20):
        document = synthetic(rng)
        twin = unlike(document, rng)
        if document["plan"]["model"]["kind"] == "predictions":
            twin["plan"]["config"]["tolerance"] = rng.random()
        twin["times"]["started"] = "2031-01-02T03:04:05Z"
        assert texts(twin) == texts(document)


def _other_kind(document: Document) -> None:
    document["caveats"].append({"kind": "labels_only", "text": "x", "count": None, "total": None})


FACTS: dict[str, Callable[[Document], Any]] = {
    "records": lambda d: d["data"].update(n=17),
    "verdict word": lambda d: d["verdict"]["checks"][0].update(verdict="pass"),
    "decision": lambda d: d["verdict"].update(overall="not_run"),
    "limit": lambda d: d["policy"]["limits"][0].update(value=0.5),
    "setting": lambda d: d["plan"]["membership"].update(shadows=64),
    "tolerance": lambda d: d["plan"]["config"].update(tolerance=0.2),
    "kind of caveat": _other_kind,
    "self-test": lambda d: d.update(self_tests=[]),
}


@pytest.mark.parametrize("name", FACTS)
def test_another_fact_gives_another_summary_in_every_form(name: str):
    document = judged_document()
    changed = deepcopy(document)
    FACTS[name](changed)
    assert all(before != after for before, after in zip(texts(document), texts(changed), strict=True))


def test_no_number_of_the_report_stands_in_it():
    document = judged_document()
    measured = {
        f"{number:.4g}"
        for part in ("measurements", "groups", "model", "tables", "findings")
        for holder, key, _ in places(document[part])
        if isinstance(number := holder[key], float)
    }
    limits = {f"{limit['value']:.4g}" for limit in document["policy"]["limits"]} | {"0.001", "0.34", "0.95"}
    for text in texts(document):
        visible = text.partition("<body>")[2] or text
        assert not (measured - limits) & set(re.findall(r"\d+\.\d+", visible))


@pytest.mark.parametrize("kind", ["train", "predictions", "file"])
def test_the_tolerance_of_given_predictions_is_not_stated(kind: str):
    document = judged_document()
    document["plan"]["model"]["kind"] = kind
    document["plan"]["config"]["tolerance"] = 0.0417
    assert all(("0.0417" in text) == (kind == "train") for text in texts(document))


def test_files_seeds_columns_and_fingerprints_stay_inside():
    document = judged_document()
    secrets = ("people.csv", "/home/officer", "seed", "workclass", "d" * 64, "e" * 64, document["fingerprint"])
    for text in texts(document):
        body = text.partition("<body>")[2] or text
        assert not [secret for secret in secrets if secret in body]


def test_the_docs_list_all_that_it_tells_and_every_kind_of_caveat():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE))
    assert rows == {**CONTENTS, **{str(kind): text for kind, text in FIXED.items()}}
    assert set(strict(public_summary(report_document(judged_audit())))) == {"kind", "schema", *CONTENTS}


def test_caveats_are_the_fixed_sentences_of_their_kinds():
    caveats = in_order(Caveat(kind, f"Ada Lovelace, {kind}: 42 of 99.", count=42, total=99) for kind in CaveatKind)
    verdict = judge(POLICY, sample().measurements, attribute="sex", caveats=caveats)
    summary = Reports(replace(sample(), verdict=verdict)).summary
    assert [(caveat.kind, caveat.text) for caveat in summary.caveats] == [(kind, FIXED[kind]) for kind in CaveatKind]


def test_checks_without_a_limit_and_checks_that_were_not_run():
    summary = Reports(judged_audit()).summary
    limited = {check.check for check in summary.checks}
    assert len(summary.not_tested) == len(set(CHECKS) - limited) + 2
    assert summary.not_tested[0] == "Sex inferred despite AttriGuard: not run."
    assert summary.decision.counts == "Fail 3 · Inconclusive 1 · Not run 1 · Pass 3"


def test_names_stay_names_in_markdown_and_html():
    markup = "[a](http://x.example) | b **c** `d` <b>e</b> ![f](g) www.example.org h@example.org $i$ ~~j~~"
    audit = with_texts(sample(), lambda text: f"{text} {markup} {HOSTILE}" if text else text)
    reports = Reports(replace(audit, provenance=sample().provenance))
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(summary_markdown(reports.summary))
    for tag in ("<a ", "<img", "<script", "<b>", "<s>", "<strong>c"):
        assert tag not in page, tag
    assert page.count("<h2>") == 1 and page.count("<h3>") == 4
    plain, hostile = (Reader(summary_html(report.summary)) for report in (Reports(sample()), reports))
    assert set(hostile.tags) == set(plain.tags) and hostile.comments == []
    assert not {"script", "img", "a", "form"} & set(hostile.tags)


def test_people_at_risk_stay_in_the_internal_report():
    finding = Finding(point="Sentinel 31415", evidence="Sentinel 31415")
    people = PeopleSection(findings=(finding,), tables={"Sentinel 31415": ({"record": 31415},)})
    plain, listed = Reports(sample()), Reports(replace(sample(), people=people))
    assert plain.public_files == listed.public_files
    assert any(b"31415" in content for content in listed.internal_files.values())


# ------------------------------------------------------------------------------------------------ commands and folders


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of an audit."""
    folder = tmp_path_factory.mktemp("audit") / "out"
    write_audit(Reports(judged_audit()), folder)
    return folder


def test_an_audit_writes_an_internal_report_and_a_public_summary(out: Path):
    assert sorted(path.name for path in out.iterdir()) == ["internal", "public"]
    assert sorted(path.name for path in (out / "public").iterdir()) == ["model-card.md", "summary.html", "summary.json"]
    check_folder(out, force=True)
    (out / "public" / "note.txt").touch()
    with pytest.raises(InputError, match=r"public/note\.txt"):
        check_folder(out, force=True)
    (out / "public" / "note.txt").unlink()


REFUSED = "must be an internal report, got a public summary, which holds no number that can be verified, judged"


@pytest.mark.parametrize("name", ["summary.json", "summary.html"])
@pytest.mark.parametrize("command", ["report verify", "report replay", "report brief", "report card", "compare"])
def test_every_command_refuses_a_summary_in_one_sentence(out: Path, command: str, name: str, capsys: Capture):
    more = [str(out)] if command == "compare" else []
    assert main([*command.split(), str(out / "public" / name), *more]) == 3
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1 and printed.out == ""
    assert REFUSED in printed.err or (command, name) == ("report replay", "summary.html")


@pytest.mark.parametrize("name", ["summary.json", "summary.html"])
def test_a_summary_is_refused_in_the_child_process_and_by_the_history(out: Path, name: str, tmp_path: Path):
    content = (out / "public" / name).read_bytes()
    with pytest.raises(InputError, match="got a public summary"):
        readable_in_child(content, name="The file")
    with pytest.raises(InputError, match="got a public summary"):
        verify_report(content.decode())
    with pytest.raises(InputError, match="must have the kind"):
        from_json((out / "public" / "summary.json").read_text())


def test_the_folder_of_a_summary_alone_is_refused_in_one_sentence(out: Path, capsys: Capture):
    assert main(["compare", str(out), str(out / "public")]) == 3
    assert "AFTER must be a report or a folder that holds one" in capsys.readouterr().err


def test_the_card_command_prints_the_summary_and_points_to_the_model_card_page(out: Path, capsys: Capture):
    assert main(["report", "card", str(out)]) == 0
    printed = capsys.readouterr()
    assert printed.out.strip() == (out / "public" / "model-card.md").read_text(encoding="utf-8").strip()
    assert "The Model card page says with which decimals" in printed.err
