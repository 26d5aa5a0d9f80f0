"""The report as a page: complete, self-contained, and deaf to whatever stands in a name."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from core.auditing import RegisterPlan
from core.auditing.policy import judge
from core.base.caveats import Caveat, CaveatKind
from core.report import report_document
from core.report.page import to_html
from core.studies.study import Basis
from tests.html_reader import Reader
from tests.samples_report import HOSTILE, judged_audit, sample, with_texts

COLUMNS = {"tolerance", "attacker", "before", "after", "after, low", "after, high"}

PIECES = (
    "<script>alert(1)</script>", "</style>", "</title>", "</pre>", "</svg>", "<img src=x onerror=alert(1)>", '"', "'",
    ">", "<", "&", "&lt;", "&#60;script&#62;", ' onload="x"', "javascript:alert(1)", "{{ 7*7 }}", "{% raw %}", "{#",
    "-->", "]]>", "\x00", "\x1b[31m", "\r\n", "\u202e", "\u2028", "\ud800", "`", "${x}", "\\", "%s", "{0}",
)  # fmt: skip


def changed(payload: str):
    """Return the audit with a text added to every text there is."""
    return with_texts(sample(), lambda text: text if text in COLUMNS else text + payload)


def assert_harmless(payload: str) -> None:
    """Check that a text in every place gives the page of a harmless text of the same length."""
    audits = (changed(text) for text in ("x" * len(payload), payload))
    harmless, hostile = (Reader(to_html(report_document(audit))) for audit in audits)
    assert hostile.tags == harmless.tags
    assert hostile.attributes == harmless.attributes
    assert hostile.comments == harmless.comments == []
    assert all(link.startswith("#") for link in hostile.links)


@pytest.mark.parametrize(
    "pieces", [PIECES, PIECES[::-1], PIECES[6:9], PIECES[7:8]], ids=["all", "back", "ends", "apostrophe"]
)
def test_dangerous_pieces_together_and_alone(pieces):
    assert_harmless("".join(pieces))


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


def test_headings_are_in_order_and_unique():
    page = to_html(report_document(sample()))
    levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in Reader(page).links} <= set(ids)


def test_to_html_has_no_tick_and_no_number_of_what_is_not_released():
    audit = judged_audit()
    passing = next(row.check for row in audit.verdict.rows if row.verdict == "pass" and row.limit is not None)
    measurements = tuple(
        replace(measurement, basis=Basis.NOT_RELEASED) if measurement.check == passing else measurement
        for measurement in audit.measurements
    )
    verdict = judge(audit.verdict.policy, measurements, attribute=audit.data.attribute)
    page = to_html(report_document(replace(audit, measurements=measurements, verdict=verdict)))
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


def test_to_html_names_the_version_its_owner_and_the_attributes_that_were_not_attacked():
    audit = judged_audit()
    register = RegisterPlan(model="Credit check", version="3.1", owner="Lending", review="2027-03-01")
    data = replace(audit.data, features=("income", "nationality"))
    page = to_html(report_document(replace(audit, plan=replace(audit.plan, register=register), data=data)))
    for text in ("Credit check 3.1", "<dd>Lending</dd>", "1 Mar 2027", "may be sensitive by their names: nationality."):
        assert text in page


def test_to_html_links_each_check_to_provisions_that_stand_once():
    page = to_html(report_document(judged_audit()))
    links = set(re.findall(r'href="#(law-[^"]+)"', page))
    assert links
    assert sorted(links) == sorted(re.findall(r'id="(law-[^"]+)"', page))
