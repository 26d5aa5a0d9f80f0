"""The decision brief: two A4 pages and 900 words whatever stands in the report, and no text read as markup."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from core.auditing import ReleaseAudit
from core.auditing.plan import RegisterPlan, plan_text, read_plan
from core.auditing.plausible_attackers import ATTACKERS, AttackersPlan, Met
from core.auditing.policy import CHECKS, Alternative, Limit, default_policy, judge
from core.base.caveats import Caveat, CaveatKind, in_order
from core.base.errors import FairLeakError, InputError
from core.report import Reports
from core.report.brief import (
    _CAVEATS,
    _CHECKS,
    _NOT_COVERED,
    WORD_LIMIT,
    brief_content,
    plain_line,
    state_counts,
)
from core.report.brief_files import _FONTS, MISSING, brief_html, brief_pdf, word_count
from core.report.people_sentences import people_sentences
from core.stats.estimates import Estimate
from core.studies.study import Measurement
from core.studies.subject import OutputsPlan
from tests.html_reader import Reader
from tests.samples_report import HOSTILE, POLICY, SMALL_GROUPS, judged_audit, sample, with_texts

ROOT = Path(__file__).resolve().parents[3]
WIDE = "W" * 60
MARKUP = '#panic("x") *b* $x$ @ref <label> \\u{41} [x] `raw` // c /* c */ = h'
A4 = (595.3, 841.9)
LONG_SOURCE = "Directive of the group-wide model risk governance committee, annex 4, section 12"

PASSING: Mapping[str, float | None] = {
    "membership_auc": 0.503,
    "membership_advantage": 0.01,
    "membership_caught": 0.012,
    "attribute_excess": 0.001,
    "correction_gain": -0.001,
    "unfairness": 0.025,
    "four_fifths": 0.95,
}
FAILING = {**PASSING, "membership_auc": 0.576}
FAR = {name: 0.5 if check.at_least else check.chance + 0.3 for name, check in CHECKS.items()}
LABELS = OutputsPlan(released="labels")
ONE_DECIMAL = OutputsPlan(released="scores", decimals=1)


@dataclass(frozen=True)
class Signature:
    title: str
    name: str
    role: str
    when: str = "2026-11-22T10:00:00Z"
    end: str = ""
    stands: bool = True
    condition: str = ""
    reason: str = ""
    proven: bool = True


def measured(values: Mapping[str, float | None]) -> tuple[Measurement, ...]:
    """Return a measurement for each check: a number, or None for one that was not run."""
    return tuple(
        Measurement(check=check, outcome="not_run", reason="No column says which records were trained on.")
        if value is None
        else Measurement(check=check, estimate=Estimate(value=value, low=value - 0.005, high=value + 0.005, n=4522))
        for check, value in values.items()
    )


def audit_of(
    values: Mapping[str, float | None],
    *,
    alternatives: Mapping[OutputsPlan, Mapping[str, float | None]] | None = None,
    caveats: tuple[Caveat, ...] = (),
    source: str = "DPIA 2026/14, 4.2",
    attribute: str = "sex",
    title: str = "Loan model",
) -> ReleaseAudit:
    """Return an audit with a limit on each check, and what was tried instead."""
    audit = sample()
    shipped = {limit.check: limit.value for limit in default_policy().limits}
    limits = tuple(
        Limit(
            check=check,
            value=shipped.get(check, 0.1),
            author="Data protection",
            date="2026-11-03",
            rationale="As agreed.",
            source=source,
        )
        for check in values
    )
    policy = replace(POLICY, name=f"{title} policy", limits=limits)
    steps = tuple(
        Alternative(outputs=outputs, measurements=measured(narrower), tries=len(alternatives or ()))
        for outputs, narrower in (alternatives or {}).items()
    )
    ordered = in_order((*audit.caveats, *caveats))
    verdict = judge(policy, measured(values), attribute=attribute, caveats=ordered, alternatives=steps)
    return replace(
        audit,
        plan=replace(audit.plan, title=title, data=replace(audit.plan.data, file="people.csv")),
        data=replace(audit.data, attribute=attribute),
        measurements=measured(values),
        self_tests=tuple(replace(test, passed=True) for test in audit.self_tests),
        verdict=verdict,
        caveats=ordered,
        alternatives=steps,
    )


def every_caveat() -> tuple[Caveat, ...]:
    return tuple(Caveat(kind, f"Text of {kind}.", count=12345) for kind in CaveatKind)


def remedied() -> ReleaseAudit:
    narrower = {ONE_DECIMAL: {"membership_auc": 0.57}, LABELS: {"membership_auc": 0.506}}
    return audit_of(FAILING, alternatives=narrower)


def crowded() -> ReleaseAudit:
    """Return an audit in which every check fails, with every caveat and long names."""
    return audit_of(
        FAR,
        alternatives={LABELS: {"membership_auc": 0.57}},
        caveats=every_caveat(),
        source=LONG_SOURCE,
        attribute=f"gender identity as recorded {WIDE}",
        title="Consumer credit default model of the vendor, retraining of autumn for all subsidiaries",
    )


def hostile() -> ReleaseAudit:
    return with_texts(crowded(), lambda text: f"{text} {MARKUP} {HOSTILE}" if text else text)


def signed() -> tuple[Signature, ...]:
    first = Signature("Release", "A. Officer", "Data protection officer", end="superseded on 2026-11-23", stands=False)
    reason = "Pilot only. " * 30
    return first, *(Signature("Do not release", f"{i} {WIDE} {MARKUP}", WIDE, reason=reason) for i in range(8))


CASES: dict[str, Callable[[], tuple[ReleaseAudit, tuple[Signature, ...]]]] = {
    "sample": lambda: (judged_audit(), ()),
    "small groups": lambda: (sample(SMALL_GROUPS), ()),
    "passes": lambda: (audit_of(PASSING), ()),
    "remedied": lambda: (remedied(), ()),
    "no remedy": lambda: (audit_of(FAILING, alternatives={LABELS: {"membership_auc": 0.57}}), ()),
    "not run": lambda: (audit_of({**PASSING, "membership_auc": None}), ()),
    "crowded": lambda: (crowded(), ()),
    "hostile": lambda: (hostile(), signed()),
    "signed": lambda: (judged_audit(), signed()[:2]),
}


def compact(text: str) -> str:
    """Return a text without what breaks lines, which a page may do anywhere."""
    return "".join(text.replace("\u200b", "").replace("\ufffe", "").split())


def body_of(page: str) -> Reader:
    return Reader(re.sub(r"(?s)<head>.*?</head>", "", page))


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_brief_pdf_two_pages(name: str):
    audit, signatures = CASES[name]()
    document = Reports(audit).document
    pdf = pypdfium2.PdfDocument(brief_pdf(document, signatures))
    assert len(pdf) == 2
    inside = 24.0
    texts = []
    for page in pdf:
        assert page.get_size() == pytest.approx(A4, abs=0.5)
        text = page.get_textpage()
        texts.append(text.get_text_range())
        for i in range(text.count_chars()):
            left, bottom, right, top = text.get_charbox(i)
            if right > left and top > bottom:
                assert left > inside and right < A4[0] - inside and bottom > inside and top < A4[1] - inside
    assert all("INTERNAL" in text for text in texts)
    assert word_count(" ".join(texts).replace("\u200b", "").replace("\ufffe", "")) <= WORD_LIMIT
    printed = compact(" ".join(texts))
    assert document.fingerprint in printed and "Notlegaladvice." in printed
    assert compact(document.verdict.headline) in printed
    assert ("Prepared" in printed) == (not signatures)


@pytest.mark.parametrize("name", CASES)
def test_brief_html_word_limit(name: str):
    audit, signatures = CASES[name]()
    document = Reports(audit).document
    page = brief_html(document, signatures)
    assert page == brief_html(document, signatures)
    body = body_of(page)
    assert word_count(body.text) <= WORD_LIMIT
    assert body.text.count("INTERNAL") == 2 and body.tags["article"] == 2
    assert body.links == [] and not {"script", "img", "link", "iframe"} & set(body.tags)
    assert "Not legal advice." in body.text and "page 2 of 2" in body.text


def test_brief_pdf_same_bytes_tagged():
    document = Reports(judged_audit()).document
    pdf_bytes = brief_pdf(document)
    assert pdf_bytes == brief_pdf(document) and b"CreationDate" not in pdf_bytes
    pdf = pypdfium2.PdfDocument(pdf_bytes)
    assert pdf.is_tagged()
    assert pdf.get_metadata_value("Title") == "Fail: Loan model, spring release. FairLeak decision brief"
    assert b"/Lang" in pdf_bytes and b"pdfuaid" in pdf_bytes


def test_counts_sum_to_all_checks_with_a_limit():
    for name, case in CASES.items():
        report = Reports(case()[0]).document
        counts = brief_content(report)["counts"]
        numbers = [int(entry["text"].rpartition(" ")[2]) for entry in counts]
        assert sum(numbers) == len(report.policy.limits), name


@pytest.mark.parametrize(
    ("basis", "value", "state"),
    [("not_released", 0.5, "not_attacked"), ("declared", 0.6, "pass"), ("declared", 0.8, "fail")],
)
def test_counts_not_attacked_is_what_is_not_released(basis: str, value: float, state: str):
    estimate = Estimate(value=value, low=value, high=value, n=0)
    measurement = Measurement(check="targeted_leakage", estimate=estimate, basis=basis)  # type: ignore[arg-type]
    policy = replace(POLICY, limits=(Limit(check="targeted_leakage", value=0.75),))
    verdict = judge(policy, (measurement,), attribute="sex")
    assert [entry["state"] for entry in state_counts(verdict.rows)] == [state]


def test_people_sentences_with_their_strips():
    report = Reports(remedied()).document
    people = brief_content(report)["people"]["sentences"]
    sentences = people_sentences(report)
    assert [entry["before"] + entry["emphasis"] + entry["after"] for entry in people] == [s.text for s in sentences]
    assert people[0]["state"] == "fail" and (people[0]["share"], people[0]["baseline"]) == (58, 50)


def test_remedy_first_that_passes():
    content = brief_content(Reports(remedied()).document)
    card = content["remedy"]
    assert card["state"] == "pass" and card["title"] == "Remedy: release labels alone"
    assert [(row["what"], row["value"], row["state"], row["chosen"]) for row in card["tried"]["rows"]] == [
        ("Scores with 1 decimal", "0.570", "fail", False),
        ("Labels alone", "0.506", "pass", True),
    ]
    rings = {row["check"]: row["bar"]["ring"] for row in content["limits"]["rows"]}
    assert rings.pop("Distinguished (AUC)") == pytest.approx(0.006 / 0.05 / 2) and set(rings.values()) == {None}
    options = [option["title"] for option in content["decision"]]
    assert options == ["Release labels alone", "Accept the risk", "Do not release"]


def test_remedy_none_passes_or_none_tried():
    report = Reports(audit_of(FAILING, alternatives={LABELS: {"membership_auc": 0.57}})).document
    content = brief_content(report)
    assert content["remedy"]["state"] == "fail" and content["remedy"]["tried"]["count"] == 1
    assert [option["title"] for option in content["decision"]] == ["Accept the risk", "Do not release"]
    content = brief_content(Reports(audit_of(FAILING)).document)
    assert content["remedy"]["state"] == "none" and content["remedy"]["tried"] is None
    content = brief_content(Reports(audit_of(PASSING)).document)
    assert content["remedy"] is None
    assert [option["title"] for option in content["decision"]] == ["Release as planned", "Do not release"]


def test_attackers_met_as_the_plan_states():
    audit = audit_of(FAILING)
    rows = brief_content(Reports(audit).document)["attackers"]["rows"]
    assert [row["who"] for row in rows] == [
        "Partner or colleague", "Data broker", "Holder of a register", "Reader of the fairness statement",
    ]  # fmt: skip
    assert {row["met_text"] for row in rows} == {"not stated"}
    assert [row["state"] for row in rows] == ["fail", "fail", "pass", "pass"]
    statement = AttackersPlan(date="2026-11-20", author="Retail", partner="yes: 2 partners get scores", register="no")
    audit = replace(audit, plan=replace(audit.plan, studies=(("attackers", statement),)))
    attackers = brief_content(Reports(audit).document)["attackers"]
    assert [row["met_text"] for row in attackers["rows"]] == [
        "Yes: 2 partners get scores", "not stated", "No", "not stated",
    ]  # fmt: skip
    assert "Retail, 20 Nov 2026" in attackers["note"]


def test_plan_attackers_read_and_written():
    plan = read_plan('[data]\ndataset = "demo"\n[attackers]\ndate = 2026-11-20\npartner = "partly: no scores"\n')
    assert plan.attackers.met("partner") == (Met.PARTLY, "no scores")
    assert plan.attackers.met("broker") == (Met.NOT_STATED, "")
    assert read_plan(plan_text(plan)) == plan
    assert read_plan('[data]\ndataset = "demo"\n').attackers == AttackersPlan()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('partner = "perhaps"', r'\[attackers\]: partner must begin with "yes", "partly" or "no".*got \'perhaps\''),
        ('partner = "yes"', r"\[attackers\]: date must be given"),
        ('someone = "yes"', r"\[attackers\] must hold only the keys date"),
    ],
)
def test_plan_attackers_refused(line: str, message: str):
    with pytest.raises(InputError, match=message):
        read_plan(f'[data]\ndataset = "demo"\n[attackers]\n{line}\n')


def test_every_check_has_a_short_title_and_every_attack_an_attacker():
    assert set(_CHECKS) == set(CHECKS)
    attacked = {check for attacker in ATTACKERS.values() for check in attacker.checks}
    assert attacked <= set(CHECKS)
    no_attack = {"unfairness", "four_fifths", "attriguard_cost", "measured_epsilon"}
    assert set(CHECKS) - attacked == no_attack


def test_threat_models_name_every_attacker_of_a_plan():
    text = (ROOT / "docs" / "explanation" / "threat-models.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", text, re.MULTILINE)
    assert rows == [(key, attacker.title) for key, attacker in ATTACKERS.items()]


def test_every_kind_of_caveat_has_a_line():
    assert set(CaveatKind) - set(_CAVEATS) == {CaveatKind.SETS_UNKNOWN, CaveatKind.SETS_DIFFER}
    content = brief_content(Reports(audit_of(PASSING, caveats=every_caveat())).document)
    terms = [entry["term"] for entry in content["caveats"]]
    assert {term for term, _ in _CAVEATS.values()} <= set(terms)
    assert not any("{" in entry["text"] for entry in content["caveats"])


@pytest.mark.parametrize(
    ("kind", "word"), [(CaveatKind.SETS_DIFFER, "drift"), (CaveatKind.SETS_UNKNOWN, "Unknown"), (None, "at random")]
)
def test_drift_or_memory_is_answered(kind: CaveatKind | None, word: str):
    caveats = () if kind is None else (Caveat(kind, "A text."),)
    content = brief_content(Reports(audit_of(FAILING, caveats=caveats)).document)
    (drift,) = [entry["text"] for entry in content["caveats"] if entry["term"] == "Drift"]
    assert word in drift


def test_setters_say_who_when_and_after_what():
    setters = brief_content(Reports(audit_of(FAILING)).document)["setters"]
    assert setters["rows"] == [
        {
            "source": "DPIA 2026/14, 4.2",
            "checks": len(FAILING),
            "author": "Data protection",
            "day": "3 Nov 2026",
            "placeholder": False,
        }
    ]
    assert setters["foot"] == "Result: 20 Nov 2026, 09:15 UTC. No limit is dated after it."
    audit = audit_of(FAILING)
    limits = tuple(replace(limit, date="2026-11-21") for limit in audit.verdict.policy.limits)
    verdict = judge(replace(audit.verdict.policy, limits=limits), audit.measurements, attribute="sex")
    late = brief_content(Reports(replace(audit, verdict=verdict)).document)["setters"]["foot"]
    assert late == f"Result: 20 Nov 2026, 09:15 UTC. Limits dated after it: {len(FAILING)}."


def test_law_rows_are_of_the_checks():
    rows = {row["provision"]: row["evidence"] for row in brief_content(Reports(remedied()).document)["law"]["rows"]}
    assert rows["GDPR 35(7)(c)"].startswith("Leak checks: Fail 1 · Pass 4, for 15,375")
    assert rows["GDPR 35(7)(d), 25(1)"] == "Release labels alone"
    assert rows["AI Act 10(2)(f)"] == "Unfairness 0.025, Selection ratio 0.950"
    fairness = {"unfairness": 0.025}
    rows = {row["provision"] for row in brief_content(Reports(audit_of(fairness)).document)["law"]["rows"]}
    assert "AI Act 15(5)" not in rows and "AI Act 10(2)(f)" in rows


def test_signatures_ended_typed_and_on_condition():
    (row,) = brief_content(Reports(judged_audit()).document, signed()[:1])["signatures"]
    assert row["state"] == "superseded on 2026-11-23" and row["ended"] and row["day"] == "2026-11-22"
    typed = Signature("Release", "Ada", "DPO", proven=False, condition="No scores.", end="until 2031-01-01")
    (row,) = brief_content(Reports(judged_audit()).document, (typed,))["signatures"]
    assert (row["state"], row["reason"], row["ended"]) == (
        "until 2031-01-01; name typed",
        "Condition: No scores.",
        False,
    )


def test_register_names_version_owner_purpose_and_review():
    register = RegisterPlan(
        model="Vendor default", version="1.0", purpose="whom to call", owner="Retail risk", review="2027-05-28"
    )
    audit = remedied()
    content = brief_content(Reports(replace(audit, plan=replace(audit.plan, register=register))).document)
    assert content["subject"].startswith("Vendor default 1.0 · whom to call · owner: Retail risk · planned: ")
    assert "Vendor default 1.0" in content["binds"]
    assert [option["review"] for option in content["decision"]] == ["28 May 2027", "28 May 2027", "none"]
    content = brief_content(Reports(audit).document)
    assert "owner: not stated" in content["subject"]
    assert [option["review"] for option in content["decision"]] == ["", "", "none"]


def test_plain_line_shortens_and_replaces():
    assert plain_line("a" * 40 + "b" * 40, 21) == "a" * 10 + "…" + "b" * 10
    assert plain_line("one two three", 10, prose=True) == "one two…"
    assert plain_line("two\n lines\u202e", 20) == "two lines□"
    assert plain_line("中文 é Ω", 20) == "□□ é Ω"
    content = brief_content(Reports(audit_of(PASSING, attribute="性别")).document)
    assert content["unknown"].startswith("□ stands for a letter")


def test_the_fonts_have_every_letter():
    from importlib.resources import files

    import typst

    letters = "".join(chr(i) for i in range(0x20, 0x3000) if not _NOT_COVERED.match(chr(i)))
    layout = b'#set document(title: "x")\n#set text(font: ("Source Sans 3", "DejaVu Sans Mono"))\n#sys.inputs.a'
    folders = [str(files(name) / "files") for name in _FONTS]
    compiled = typst.compile(
        layout,
        sys_inputs={"a": letters},
        font_paths=folders,  # type: ignore[arg-type]
        ignore_system_fonts=True,
        pdf_standards=["ua-1"],
    )
    assert len(letters) > 300 and compiled.startswith(b"%PDF")


def test_brief_pdf_without_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.report.brief_files.find_spec", lambda name: None)
    with pytest.raises(FairLeakError, match=r"two fonts; install what requirements-pdf\.txt lists"):
        brief_pdf(Reports(judged_audit()).document)
    assert MISSING.count(".") == 2


def test_brief_pdf_error_of_typst(monkeypatch: pytest.MonkeyPatch):
    def stop(*_: Any, **__: Any) -> bytes:
        raise RuntimeError("unknown font\n  at line 3")

    monkeypatch.setattr("typst.compile", stop)
    with pytest.raises(FairLeakError, match=r"could not be set by typst: unknown font\.$"):
        brief_pdf(Reports(judged_audit()).document)


def test_typst_is_loaded_by_a_brief_alone():
    statements = "import core.report.brief_files, sys; print('typst' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", statements], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
