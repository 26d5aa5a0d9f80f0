"""The report as JSON and CSV: the same bytes, the published form; as a page: complete, and deaf to any name."""

import csv
import hashlib
import io
import json
import math
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.auditing.policy import CHECKS, Alternative, judge
from core.base.caveats import Caveat, CaveatKind
from core.report import people_sentences, report_document, to_json
from core.report.codec import schema_error
from core.report.page import to_html
from core.report.report import parse_json, strict
from core.report.tables import cell_text, csv_files
from core.stats.estimates import Estimate, proportion
from core.studies.study import Basis
from core.studies.subject import OutputsPlan
from tests.html_reader import Reader
from tests.policy_samples import done, measurements, policies, policy
from tests.samples_report import GROUPS, HOSTILE, group, judged_audit, sample, with_basis, with_texts

AUDIT = sample()
TRIED = strict(Alternative(outputs=OutputsPlan(), measurements=(), tries=1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(more=1), "at 'its top' there must be no key 'more'"),
        (lambda d: d["data"].pop("n"), "at 'data' there must be a key 'n'"),
        (lambda d: d["groups"][1]["test_rate"].update(level=1), "at 'groups/1/test_rate/level' there must be"),
        (lambda d: d["data"].update(n=True), "at 'data/n' there must be another value than true"),
        (lambda d: d["policy"]["limits"][0].update(check="luck"), "at 'policy/limits/0/check' there must be"),
        (lambda d: d["tables"][0]["rows"][0].append([]), "another value than an empty list"),
        (lambda d: d["plan"].update(studies=[["attribute"]]), "at 'plan/studies/0' there must be"),
        (lambda d: d.update(alternatives=[{**TRIED, "tries": 0}]), "at 'alternatives/0/tries' there must be"),
        (lambda d: d["times"].update(started="soon"), "at 'times/started' there must be another value than 'soon'"),
        (lambda d: d.update(kind="x"), "must have the kind 'fairleak release audit', got 'x'"),
    ],
)
def test_what_is_of_another_form(change, message):
    document = strict(report_document(AUDIT))
    change(document)
    assert message in schema_error(document)


def test_equal_audits_give_equal_bytes_and_the_fingerprint_of_compact_sorted_json():
    twin = replace(sample(), model=replace(AUDIT.model, tolerance=np.float64(0.001), achieved=float("0.0008")))
    assert to_json(report_document(AUDIT)) == to_json(report_document(twin))
    document = json.loads(to_json(report_document(AUDIT)))
    signed = document.pop("fingerprint")
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert signed == hashlib.sha256(text.encode()).hexdigest()


def test_numbers_json_does_not_know():
    numbers = {"a": math.nan, "b": math.inf, "c": -math.inf, "d": -0.0, "e": 2.0, "f": np.float32(0.5), "g": 1e300}
    assert strict(numbers) == {"a": None, "b": "inf", "c": "-inf", "d": 0, "e": 2, "f": 0.5, "g": 1e300}
    assert json.dumps(strict(-0.0)) == "0"
    exact = 2.0**53  # from here on a float stands for several whole numbers, and stays one
    assert [type(strict(number)) for number in (exact - 1, exact)] == [int, float]


@settings(max_examples=60)
@given(st.text(st.characters(categories=None), max_size=20))
def test_any_text_survives_as_json(text):
    written = to_json({"text": strict(text)})
    written.encode("utf-8")
    assert parse_json(written)["text"] == "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text)
    assert not set(written) & set("\u202e\u2066\u200f\u2028\x85\ufeff")


def test_every_table_is_a_file_with_a_harmless_and_different_name():
    for content in csv_files(report_document(AUDIT)).values():
        assert content.startswith(b"\xef\xbb\xbf") and content.endswith(b"\r\n")
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
        assert len({len(row) for row in rows}) == 1
    audit = with_texts(AUDIT, lambda text: "../../etc/passwd\x00 CON")
    assert all(name.replace("-", "").replace(".csv", "").isalnum() for name in csv_files(report_document(audit)))
    document = report_document(AUDIT)
    table = replace(document.tables[0], title="Gains")
    names = [name for name in csv_files(replace(document, tables=(table,) * 3)) if "gains" in name]
    assert names == ["table-gains.csv", "table-gains-2.csv", "table-gains-3.csv"]


def test_numbers_stay_numbers_and_formulas_become_texts():
    content = csv_files(report_document(AUDIT))["table-table-td-script-alert-x-script-women-img-src-x-o.csv"]
    frame = pd.read_csv(io.BytesIO(content), encoding="utf-8-sig")
    assert frame["gain"].tolist()[:2] == [-0.05, 0.5] and frame["people"].tolist() == [15375, 4, 120]
    assert frame["attacker"].tolist() == ['\'=HYPERLINK("http://x","y")', "'@SUM(A1)", "' \t+cmd"]
    assert frame["note"].tolist()[0] == "'-1+1"
    assert b"\r\n\"'=HYPERLINK" in content and b",-0.05," in content
    assert [*map(cell_text, (12345.6, 2300.7, 999.96, -0.00001))] == ["12,346", "2,301", "1000", "0"]


COLUMNS = {"tolerance", "attacker", "before", "after", "after, low", "after, high"}

PIECES = (
    "<script>alert(1)</script>", "</style>", "</title>", "</pre>", "</svg>", "<img src=x onerror=alert(1)>", '"', "'",
    ">", "<", "&", "&lt;", "&#60;script&#62;", ' onload="x"', "javascript:alert(1)", "{{ 7*7 }}", "{% raw %}", "{#",
    "-->", "]]>", "\x00", "\x1b[31m", "\r\n", "\u202e", "\u2028", "\ud800", "`", "${x}", "\\", "%s", "{0}",
)  # fmt: skip


def changed(payload):
    return with_texts(sample(), lambda text: text if text in COLUMNS else text + payload)


@pytest.mark.parametrize(
    "pieces", [PIECES, PIECES[::-1], PIECES[6:9], PIECES[7:8]], ids=["all", "back", "ends", "apostrophe"]
)
def test_dangerous_pieces_in_every_place_give_the_page_of_a_harmless_text(pieces):
    payload = "".join(pieces)
    audits = (changed(text) for text in ("x" * len(payload), payload))
    harmless, hostile = (Reader(to_html(report_document(audit))) for audit in audits)
    assert hostile.tags == harmless.tags
    assert hostile.attributes == harmless.attributes
    assert hostile.comments == harmless.comments == []
    assert all(link.startswith("#") for link in hostile.links)


def test_the_page_needs_nothing_and_runs_nothing():
    page = to_html(report_document(sample()))
    reader = Reader(page)
    assert not {"script", "link", "iframe", "object", "embed", "form", "input", "img", "base"} & set(reader.tags)
    assert not [name for _, name in reader.attributes if name.startswith("on")]
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert f'http-equiv="Content-Security-Policy" content="{policy}"' in page
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style and "@import" not in style
    assert HOSTILE not in page and HOSTILE in reader.text


def test_headings_are_in_order_and_links_lead_to_ids_that_stand_once():
    page = to_html(report_document(judged_audit()))
    levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    links = {link[1:] for link in Reader(page).links}
    provisions = {name for name in ids if name.startswith("law-")}
    assert links <= set(ids)
    assert provisions and provisions <= links


def test_to_html_has_no_tick_and_no_number_of_what_is_not_released():
    audit = judged_audit()
    passing = next(row.check for row in audit.verdict.rows if row.verdict == "pass" and row.limit is not None)
    page = to_html(report_document(with_basis(audit, passing, Basis.NOT_RELEASED)))
    assert page.count('class="verdict not_attacked"') == 2  # in the table, and where it stands by itself
    assert page.count("No number: nothing is released.") == 1


def test_to_html_shows_beside_each_pass_that_it_depends_on_what_was_confirmed():
    audit = judged_audit()
    confirmed = Caveat(CaveatKind.INPUT_CONFIRMED, "The label is the model's answer. This is confirmed.")
    page = to_html(report_document(replace(audit, verdict=replace(audit.verdict, caveats=(confirmed,)))))
    checks = page[page.index("<tbody") : page.index("</tbody>")]
    assert checks.count("if what was confirmed is right") == checks.count('class="verdict pass"') > 0
    assert page.index(confirmed.text.replace("'", "&#39;")) < page.index("<tbody")
    assert "if what was confirmed" not in to_html(report_document(audit))


def report_of(limits, measured, *, groups=GROUPS):
    """Return the sample's report with other measurements, judged by a policy."""
    verdict = judge(limits, measured, attribute="sex")
    return report_document(replace(sample(groups), measurements=measured, verdict=verdict))


def numbers(text):
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", text)]


def expected_shares(report, measured):
    """Return what is reached with the release, and without, by the measurement itself."""
    baseline = CHECKS[measured.check].chance
    if measured.check == "attriguard_exposure":
        baseline = max(group.count for group in GROUPS) / sum(group.count for group in GROUPS)
    elif measured.control is not None:
        baseline = measured.control.value
    value = measured.estimate.value
    if measured.check not in ("membership_auc", "membership_caught", "attriguard_exposure"):
        value += baseline
    return min(1.0, max(baseline, value)), baseline


@settings(max_examples=40)
@given(policies(), measurements(), st.floats(0.0, 1.0))
def test_people_sentences_agree_with_the_measurements(limits, measured, control):
    without = Estimate(value=control, low=control, high=control, n=1000)
    measured = tuple(replace(item, control=without) if "attribute" in item.check else item for item in measured)
    report = report_of(limits, measured)
    by_check = {item.check: item for item in measured}
    verdicts = {row.check: row.verdict for row in report.rows}
    sentences = people_sentences(report)
    assert len(sentences) <= 3 and len({sentence.check for sentence in sentences}) == len(sentences)
    for sentence in sentences:
        assert sentence.verdict == verdicts[sentence.check]
        assert sentence.text.count(sentence.emphasis) == 1
        if math.isnan(sentence.share) or sentence.check in ("unfairness", "four_fifths"):
            continue
        share, baseline = expected_shares(report, by_check[sentence.check])
        assert sentence.share == pytest.approx(share, abs=0.0101)
        assert sentence.baseline == pytest.approx(baseline, abs=0.0051)
        stated = numbers(without_records(sentence.text))
        total = 1000 if 1000 in stated else 100
        assert {round(total * sentence.share), round(total * sentence.baseline)} <= set(stated)


def one_sentence(measured, *, limit):
    (sentence,) = people_sentences(report_of(policy(**{measured.check: limit}), (measured,)))
    return sentence


def without_records(text):
    """Return a sentence without the records on which its number was measured, in brackets at its end if they are."""
    sentence, _, records = text.rpartition(" (")
    return sentence if records.endswith("records)") else text


NOT_OF_PEOPLE = {"measured_epsilon", "targeted_leakage"}
NOT_OF_PEOPLE |= {name for name, check in CHECKS.items() if check.unit in ("bits", "columns", "nats")}


@pytest.mark.parametrize("check", sorted(set(CHECKS) - NOT_OF_PEOPLE))
def test_every_leak_has_a_sentence_of_25_words_in_whole_people(check):
    sentence = one_sentence(done(check, 0.62, 0.01), limit=0.5)
    assert all(len(part.split()) <= 25 for part in without_records(sentence.text).split(". "))
    assert not math.isnan(sentence.share)


def test_a_sentence_counts_the_records_of_its_number_and_no_repeats():
    texts = [one_sentence(done("answers_excess", 0.62, 0.01, freedom=freedom), limit=0.5).text for freedom in (None, 2)]
    assert [without_records(text) == text for text in texts] == [False, True]


@pytest.mark.parametrize(("kind", "records"), [("train", "test records)"), ("predictions", "perhaps trained on)")])
def test_a_sentence_on_fairness_says_where_training_records_may_be_among_its_people(kind, records):
    report = report_of(policy(four_fifths=0.8), (done("four_fifths", 0.96, 0.02),))
    plan = replace(report.plan, model=replace(report.plan.model, kind=kind))
    (sentence,) = people_sentences(replace(report, plan=plan))
    assert sentence.text.endswith(records)


@pytest.mark.parametrize(("check", "term"), [("unfairness", "largest deviation"), ("four_fifths", "lowest ratio")])
def test_a_sentence_on_fairness_tells_the_gap_from_the_number_that_is_limited(check, term):
    report = report_of(policy(**{check: 0.5}), (done(check, 0.073, 0.01),))
    (sentence,) = people_sentences(report)
    assert f"; limited: {term} 0.073. (" in sentence.text and "Gap " in sentence.text
    assert [row.value for row in report.rows if row.measured] == ["0.073"]


def test_a_failing_gain_below_one_in_100_is_counted_in_1000():
    failing, passing = (one_sentence(done("membership_auc", 0.504, 0.001), limit=limit) for limit in (0.501, 0.6))
    assert numbers(without_records(failing.text)) == [504, 1000, 500]
    assert numbers(without_records(passing.text)) == [50, 100, 50]


def unanswered_report(absence):
    """Return a report on 100 women, of whom 77 have an answer, and 100 men, of whom 93 have one."""
    women = replace(group("women", (70, 7, 0, 0), 77, 100), all_rate=proportion(70, 100))
    men = replace(group("men", (81, 12, 0, 0), 93, 100), all_rate=proportion(81, 100))
    measured = (done("four_fifths", 0.96, 0.02), done("absence", absence, 0.01))
    verdict = judge(policy(four_fifths=0.8, absence=0.05), measured, attribute="sex")
    caveat = Caveat(CaveatKind.ANSWERS_ABSENT, "Some have none.", count=30, total=200)
    audit = replace(sample((women, men)), measurements=measured, verdict=replace(verdict, caveats=(caveat,)))
    return report_document(audit)


def test_people_sentences_where_some_have_no_answer():
    absent, fairness = people_sentences(unanswered_report(0.16))
    assert absent.check == "absence" and absent.verdict == "fail"
    assert "with an answer, 87 get" in fairness.text and ("81 and 70" in fairness.text) and "turns" in fairness.text
    assert [sentence.check for sentence in people_sentences(unanswered_report(0.0))][-1] == "four_fifths"
