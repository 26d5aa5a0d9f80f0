"""The decision brief: two A4 pages and 900 words whatever stands in the report, and no text read as markup."""

import datetime
import re
from dataclasses import replace
from html import unescape
from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pypdfium2
import pytest
import typst

from core.auditing import RegisterPlan, read_plan
from core.auditing.policy import CHECKS, Alternative, Limit, default_policy, judge
from core.base.caveats import Caveat, CaveatKind
from core.report import Reports
from core.report.brief import _NOT_COVERED, DENSITIES, WORD_LIMIT, brief_content, plain_line
from core.report.brief_files import _FONTS, brief_html, brief_pdf
from core.report.page import required_counts, to_html
from core.report.regulations import legal_texts
from core.stats.estimates import proportion
from core.studies.study import KNOWN_RECORDS
from core.studies.subject import OutputsPlan
from tests.html_reader import Reader
from tests.policy_samples import done
from tests.samples_report import HOSTILE, POLICY, SMALL_GROUPS, judged_audit, sample, with_texts


def word_count(text):
    """Return the words of a text: what stands between blanks and holds a letter or a digit."""
    return sum(bool(re.search(r"\w", word)) for word in text.split())


WIDE = "W" * 60
MARKUP = '#panic("x") *b* $x$ @ref <label> \\u{41} [x] `raw` // c /* c */ = h'
A4 = (595.3, 841.9)
MARGIN = 24.0

OUTPUT = "“risk_{}” looks like an output of the model, not a fact about a person."
FAR = {name: 0.5 if check.at_least else check.chance + 0.3 for name, check in CHECKS.items()}


def measured(values):
    return tuple(done(check, value, 0.005) for check, value in values.items())


def audit_of(values, *, of_labels=(), attribute="sex", **limit):
    """Return an audit with a limit on each check, and what labels alone were measured to give away instead."""
    shipped = {entry.check: entry.value for entry in default_policy().limits}
    limits = tuple(
        Limit(check=check, value=shipped.get(check, 0.1), rationale="As agreed.", **limit) for check in values
    )
    steps = ()
    if of_labels:
        steps = (Alternative(outputs=OutputsPlan(released="labels"), measurements=measured(of_labels), tries=1),)
    audit, measurements = sample(), measured(values)
    return replace(
        audit,
        data=replace(audit.data, attribute=attribute),
        measurements=measurements,
        self_tests=tuple(replace(test, passed=True) for test in audit.self_tests),
        verdict=judge(replace(POLICY, limits=limits), measurements, attribute=attribute, alternatives=steps),
        alternatives=steps,
    )


def crowded():
    """Return an audit in which every check fails, with every caveat and long names."""
    caveats = [Caveat(kind, f"Text of {kind}.", count=12345) for kind in CaveatKind]
    more = " It tells “decision” by itself and not the label. This is confirmed." * 3
    caveats += [Caveat(CaveatKind.INPUT_CONFIRMED, OUTPUT.format(i) + more) for i in range(3)]
    name = f"gender identity as recorded {WIDE}"
    source = "Directive of the group-wide model risk governance committee, annex 4, section 12"
    audit = audit_of(FAR, of_labels={"membership_auc": 0.57}, attribute=name, source=source)
    verdict = replace(audit.verdict, caveats=tuple(caveats))
    plan = replace(audit.plan, title=f"Consumer credit default {WIDE}")
    return replace(audit, verdict=verdict, plan=plan)


def signed():
    """Return more signatures than there is room for, as a history has them."""
    facts = {"stands": True, "condition": "No scores to partners.", "proven": True, "until": "2027-05-01"}
    texts = {"decision": "accept_risk", "title": "Accept the risk", "reason": "Pilot only. " * 30}
    when = {"when": "2026-11-22T10:00:00Z", "end": "until 2027-05-01"}
    return (SimpleNamespace(name=f"{WIDE} {MARKUP}", role=WIDE, **texts, **facts, **when),) * 8


CASES = {
    "sample": lambda: (judged_audit(), ()),
    "small groups": lambda: (sample(SMALL_GROUPS), ()),
    "crowded": lambda: (crowded(), ()),
    "hostile": lambda: (with_texts(crowded(), lambda text: text and f"{text} {MARKUP} {HOSTILE}"), signed()),
}


def compact(text):
    """Return a text without what breaks lines, which a page may do anywhere."""
    return "".join(text.replace("\u200b", "").replace("\ufffe", "").split())


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_brief_pdf_two_pages(name):
    audit, signatures = CASES[name]()
    document = Reports(audit).document
    pdf = pypdfium2.PdfDocument(brief_pdf(document, signatures))
    assert len(pdf) == 2
    printed = ""
    for page in pdf:
        assert page.get_size() == pytest.approx(A4, abs=0.5)
        text = page.get_textpage()
        printed += f" {text.get_text_range()}"
        boxes = [text.get_charbox(i) for i in range(text.count_chars())]
        drawn = np.array([box for box in boxes if box[2] > box[0] and box[3] > box[1]])
        assert (drawn > MARGIN).all() and (drawn < np.tile(A4, 2) - MARGIN).all()
    assert word_count(printed.replace("\u200b", "").replace("\ufffe", "")) <= WORD_LIMIT
    assert document.fingerprint in compact(printed) and compact(document.verdict.headline) in compact(printed)


@pytest.mark.parametrize("name", CASES)
def test_brief_html_word_limit(name):
    body = body_of(*CASES[name]())
    assert word_count(body.text) <= WORD_LIMIT
    assert (body.text.count("INTERNAL"), body.tags["article"], body.links) == (2, 2, [])
    assert not {"script", "img", "link", "iframe"} & set(body.tags)


def body_of(audit, signatures=(), **values):
    page = brief_html(Reports(audit).document, signatures, **values)
    return Reader(re.sub(r"(?s)<head>.*?</head>", "", page))


def text_of(audit, *more, **values):
    return " ".join(body_of(audit, *more, **values).text.split())


def test_brief_names_each_confirmed_block_even_in_the_densest():
    text = text_of(crowded())
    caveats = text[text.index("Caveats") :]
    assert all(OUTPUT.format(i) in caveats for i in range(3))
    assert caveats.index("risk_2") < caveats.index("Drift")


NOTED = [Caveat(CaveatKind.INPUT_CHECK, text) for text in ("K1 is chosen as good.", "vendor_score is another's.")]
COLUMNS = Caveat(CaveatKind.OTHER_COLUMNS, "Audited: sex, and no other column. Not audited: birthplace.", count=1)


def with_caveats(audit, *caveats):
    return replace(audit, verdict=replace(audit.verdict, caveats=caveats))


@pytest.mark.parametrize("dense", range(len(DENSITIES)))
def test_brief_has_each_point_of_the_input_check_and_what_is_audited(dense):
    document = Reports(with_caveats(judged_audit(), COLUMNS, *NOTED)).document
    content = brief_content(document, dense=dense)
    assert [entry["text"] for entry in content["caveats"] if entry["term"] == "Input"] == [c.text for c in NOTED]
    assert content["audited"] == COLUMNS.text and COLUMNS.text in unescape(to_html(document))


def test_brief_folded_checks_and_law_have_no_number():
    content = brief_content(Reports(audit_of(dict.fromkeys(FAR, 0.0))).document)
    (fairness,) = (row for row in content["law"]["rows"] if "10(2)(f)" in row["provision"])
    texts = [entry["text"] for entry in content["limits"]["folded"]]
    assert texts
    for text in (*texts, fairness["evidence"]):
        assert not re.search(r"\d", text.replace("1% FPR", ""))  # in a name


@pytest.mark.parametrize(("auc", "is_leak"), [(0.5, False), (0.7, True)])
def test_brief_speaks_of_memory_where_an_attack_finds_members(auc, is_leak):
    audit = with_caveats(audit_of({"membership_auc": auc}), Caveat(CaveatKind.NO_DRIFT, "No drift found."))
    (drift,) = (e["text"] for e in brief_content(Reports(audit).document)["caveats"] if e["term"] == "Drift")
    assert ("memory" in drift) == is_leak


def test_brief_says_on_how_many_records_and_how_many_the_attacker_knows():
    audit = audit_of({"attribute_excess": 0.1})
    measurement = replace(audit.measurements[0], details={KNOWN_RECORDS: 914})
    verdict = judge(audit.verdict.policy, (measurement,), attribute="sex")
    content = brief_content(Reports(replace(audit, measurements=(measurement,), verdict=verdict)).document)
    (sentence,) = content["people"]["sentences"]
    assert f"({measurement.estimate.n:,} " in sentence["after"]
    assert any("sex of 914 others" in row["needs"] for row in content["attackers"]["rows"])


def test_brief_cuts_no_reason_of_a_statement():
    why = "the garden federation gets all scores every year, with names and plots, on a list"
    plan = read_plan(f'[data]\ndataset = "demo"\n[attackers]\ndate = "2026-11-20"\npartner = "yes: {why}"\n')
    audit = replace(judged_audit(), plan=judged_audit().plan.with_attackers(plan.attackers))
    for dense in range(len(DENSITIES) - 1):
        rows = brief_content(Reports(audit).document, dense=dense)["attackers"]["rows"]
        assert any(row["met_text"].endswith(why) for row in rows)


def test_signed_brief_has_reason_condition_end_and_next_review():
    text = text_of(judged_audit(), signed()[:1], review="2027-03-01")
    for part in ("Accept the risk", "22 Nov 2026", "Pilot only.", "No scores to partners.", "1 May 2027", "1 Mar 2027"):
        assert part in text


def test_required_counts_are_the_same_in_brief_and_annex():
    report = Reports(judged_audit()).document
    counts = required_counts(report.rows)
    *numbers, uncounted = [int(number) for number in re.findall(r"\d+", counts)]
    assert numbers[0] + uncounted == sum(row.limit is not None for row in report.rows)
    assert numbers[0] == sum(numbers[1:]) == sum(row.is_decisive for row in report.rows)
    assert counts in to_html(report) and counts in text_of(judged_audit())


def test_brief_pdf_same_bytes_tagged():
    document = Reports(judged_audit()).document
    pdf_bytes = brief_pdf(document)
    assert pdf_bytes == brief_pdf(document) and b"CreationDate" not in pdf_bytes
    pdf = pypdfium2.PdfDocument(pdf_bytes)
    assert pdf.is_tagged()
    assert pdf.get_metadata_value("Title") == "Fail: Loan model, spring release. FairLeak decision brief"
    assert b"/Lang" in pdf_bytes and b"pdfuaid" in pdf_bytes


@pytest.mark.parametrize(("count", "more"), [(5, []), (7, ["2"])])
def test_brief_counts_the_setters_of_limits_that_do_not_fit(count, more):
    audit = audit_of(FAR)
    limits = tuple(replace(limit, author=f"Officer {i % count}") for i, limit in enumerate(audit.verdict.policy.limits))
    verdict = judge(replace(audit.verdict.policy, limits=limits), audit.measurements, attribute="sex")
    setters = brief_content(Reports(replace(audit, verdict=verdict)).document)["setters"]
    assert len(setters["rows"]) == 5
    assert re.findall(r"(\d+) more", setters["foot"]) == more


def test_plain_line_shortens_and_replaces():
    assert plain_line("a" * 40 + "b" * 40, 21) == "a" * 10 + "…" + "b" * 10
    assert plain_line("one two three", 10, prose=True) == "one two…"
    assert plain_line("two\n lines\u202e", 20) == "two lines□"
    assert plain_line("中文 é Ω", 20) == "□□ é Ω"


def test_the_fonts_have_every_letter():
    letters = "".join(chr(i) for i in range(0x20, 0x3000) if not _NOT_COVERED.match(chr(i)))
    layout = b'#set document(title: "x")\n#set text(font: ("Source Sans 3", "DejaVu Sans Mono"))\n#sys.inputs.a'
    folders = [str(files(name) / "files") for name in _FONTS]
    fonts = {"font_paths": folders, "ignore_system_fonts": True}
    compiled = typst.compile(layout, sys_inputs={"a": letters}, pdf_standards=["ua-1"], **fonts)
    assert len(letters) > 300 and compiled.startswith(b"%PDF")


def test_brief_says_when_the_newest_law_was_looked_up(monkeypatch):
    texts = legal_texts()
    days = dict(zip(texts, (datetime.date(2031, 4, day + 1) for day in range(len(texts))), strict=True))
    looked_up = {name: replace(text, looked_up=days[name]) for name, text in reversed(texts.items())}
    monkeypatch.setattr("core.report.brief.legal_texts", lambda: looked_up)
    assert f"{len(texts)} Apr 2031" in text_of(judged_audit())


def test_brief_and_report_name_a_trained_model_in_their_first_lines():
    audit = sample()
    model = replace(audit.model, kind="train", accuracy_test=proportion(690, 1000), majority_test=proportion(710, 1000))
    document = Reports(replace(audit, model=model)).document
    text = brief_content(document)["model"]
    assert "trained by FairLeak" in text and "no other" in text and "not better than" in text and "71.0%" in text
    page = to_html(document)
    assert text in unescape(page.partition("</header>")[0]) and text in unescape(brief_html(document))
    predicted = brief_content(Reports(replace(audit, model=replace(model, kind="predictions"))).document)["model"]
    assert "FairLeak" not in predicted and "not better than" in predicted


def test_brief_keeps_the_purpose_whole_and_names_the_files_of_its_annex():
    audit = judged_audit()
    purpose = "Shortlist applicants for apprenticeships in five trades, before a person reads each application."
    document = Reports(replace(audit, plan=replace(audit.plan, register=RegisterPlan(purpose=purpose)))).document
    assert all(purpose in brief_content(document, dense=dense)["subject"] for dense in (0, 7))
    texts = " ".join(entry["text"] for entry in brief_content(document, annex="fairleak-internal")["footer"])
    assert "fairleak-internal.json" in texts and "fairleak-internal.html" in texts and "report.json" not in texts


def test_brief_remedy_rows_have_an_interval_and_a_baseline():
    audit = audit_of({"attribute_excess": 0.3}, of_labels={"attribute_excess": 0.011})
    tried = brief_content(Reports(audit).document)["remedy"]["tried"]
    assert [row["interval"] for row in tried["rows"]] == ["+0.6 to +1.6"]
    assert "95% CI" in tried["column"] and tried["beside"] == "Chance: 0.0 points."
