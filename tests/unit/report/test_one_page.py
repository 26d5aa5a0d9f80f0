"""The summary is one A4 page whatever stands in the report, says every number, and reads no text as markup."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pypdfium2
import pytest

from core.auditing import ReleaseAudit
from core.auditing.policy import CHECKS, Limit, default_policy, judge, placeholders_text, predictions_policy
from core.base.errors import FairLeakError
from core.report import Reports
from core.report.one_page import _NOT_COVERED, MISSING, _layout, one_page, page_content, plain_line
from core.stats.estimates import Estimate
from core.studies.study import Measurement
from tests.judged_report import judged_audit
from tests.report_texts import with_texts
from tests.samples_report import HOSTILE, POLICY, SMALL_GROUPS, group, sample

WIDE = "W" * 60
MARKUP = '#panic("x") *b* $x$ @ref <label> \\u{41} [x] `raw` // c /* c */ = h'
A4 = (595.3, 841.9)


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


def every_check(attribute: str = "sex", text: str = "No reason.") -> ReleaseAudit:
    """Return an audit with a limit on every check, as many unlike verdicts as there are, and long texts."""
    audit = sample(tuple(group(f"{i:02d}{WIDE}", (30 + i, 20, 30, 40), 100, 400) for i in range(20)))
    measured = [
        Measurement(check=check, outcome="not_run", reason=f"{text} {WIDE} " * 6)
        if i % 4 == 3
        else Measurement(
            check=check,
            estimate=Estimate(value=0.011 + i / 1000, low=-0.0123, high=0.9 if i % 2 else 0.012 + i / 1000, n=4522),
            attacked=f"{text} {WIDE} " * 4,
        )
        for i, check in enumerate(CHECKS)
    ]
    limits = tuple(
        Limit(check=check, value=0.02, author=WIDE, rationale=WIDE, source=f"{text} {WIDE} " * 9 if i % 2 else "")
        for i, check in enumerate(CHECKS)
    )
    policy = replace(POLICY, name=WIDE, version=WIDE, author=WIDE, limits=limits)
    verdict = judge(policy, measured, attribute=attribute)
    data = replace(audit.data, title=f"{text} {WIDE} {WIDE}", attribute=attribute)
    plan = replace(audit.plan, title=f"{text} {WIDE} {WIDE}")
    return replace(audit, data=data, plan=plan, measurements=tuple(measured), verdict=verdict)


def hostile() -> dict[str, Any]:
    return Reports(with_texts(every_check(), lambda text: f"{text} {MARKUP} {HOSTILE}" if text else text)).document


def signed() -> tuple[Signature, ...]:
    first = Signature("Release", "A. Officer", "Data protection officer", end="superseded on 2026-11-23", stands=False)
    reason = "Pilot only. " * 30
    return first, *(Signature("Do not release", f"{i} {WIDE} {MARKUP}", WIDE, reason=reason) for i in range(8))


PAGES: dict[str, Callable[[], tuple[dict[str, Any], tuple[Signature, ...]]]] = {
    "fail": lambda: (Reports(sample()).document, ()),
    "judged": lambda: (Reports(judged_audit()).document, ()),
    "small groups": lambda: (Reports(sample(SMALL_GROUPS)).document, ()),
    "every check": lambda: (Reports(every_check(WIDE, "Words of a long reason.")).document, ()),
    "hostile": lambda: (hostile(), ()),
    "signed": lambda: (Reports(sample()).document, signed()[:2]),
    "signed, every check": lambda: (Reports(every_check(WIDE, MARKUP)).document, signed()),
}


def compact(text: str) -> str:
    """Return a text without what breaks lines, which a page may do anywhere."""
    return "".join(text.replace("\u200b", "").replace("\ufffe", "").split())


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_it_is_one_page_that_says_every_number(name: str):
    document, signatures = PAGES[name]()
    pdf = pypdfium2.PdfDocument(one_page(document, signatures))
    assert len(pdf) == 1
    page = pdf[0]
    assert page.get_size() == pytest.approx(A4, abs=0.5)
    text = page.get_textpage()
    inside = 25.0
    for i in range(text.count_chars()):
        left, bottom, right, top = text.get_charbox(i)
        if right > left and top > bottom:
            assert left > inside and right < A4[0] - inside and bottom > inside and top < A4[1] - inside
    page_text = compact(text.get_text_range())
    for row in document.rows:
        assert compact(plain_line(row.title, 70)) in page_text or compact(plain_line(row.title, 90)) in page_text
        if row.measured:
            assert compact(row.value) in page_text
    content = page_content(document, signatures)
    for check in content["checks"]:
        assert compact(check["value"] + check["interval"]) in page_text
        assert compact(check["limit"]) in page_text and compact(check["source"]) in page_text
    for _, entry_text in [*content["audited"], *content["lists"]]:
        assert compact(entry_text) in page_text
    assert compact(content["headline"]) in page_text and "Notlegaladvice." in page_text
    assert document.fingerprint in page_text
    for signature in signatures[-6:]:
        assert compact(plain_line(signature.name, 60)) in page_text and compact(signature.title) in page_text
    assert ("Preparedby" in page_text) == (not signatures)


def test_the_same_report_gives_the_same_bytes_which_can_be_read_aloud():
    document = Reports(sample()).document
    assert one_page(document) == one_page(document)
    assert b"CreationDate" not in one_page(document)
    pdf_bytes = one_page(Reports(sample()).document)
    pdf = pypdfium2.PdfDocument(pdf_bytes)
    assert pdf.is_tagged()
    assert (
        pdf.get_metadata_value("Title") == "Fail: Loan model, spring release. FairLeak release audit, one-page summary"
    )
    assert b"/Lang" in pdf_bytes and b"pdfuaid" in pdf_bytes


def test_a_self_test_that_failed_is_not_cut_off_behind_a_long_verdict():
    document = Reports(judged_audit(policy=predictions_policy(), tests=sample().self_tests)).document
    detail = document.verdict.detail
    assert len(detail) > 350 and detail.endswith("No verdict here can be relied on until the cause is found.")
    assert page_content(document)["detail"] == detail


def test_a_decision_that_has_ended_says_by_what():
    content = page_content(Reports(sample()).document, signed()[:1])
    (row,) = content["signatures"]
    assert row["state"] == "superseded on 2026-11-23" and row["ended"] and row["day"] == "2026-11-22"


def test_a_typed_name_and_a_condition_are_said_and_limits_are_still_to_be_set():
    typed = Signature("Release", "Ada", "DPO", proven=False, condition="No scores.", end="until 2031-01-01")
    (row,) = page_content(Reports(judged_audit()).document, (typed,))["signatures"]
    assert (row["state"], row["reason"], row["ended"]) == (
        "until 2031-01-01; name typed",
        "Condition: No scores.",
        False,
    )
    assert placeholders_text(default_policy()).endswith("with a source, before you sign.")
    assert placeholders_text(default_policy(), signed=True).endswith("Signed without limits of your own.")


def test_long_and_foreign_names_are_shortened_in_the_middle():
    assert plain_line("a" * 40 + "b" * 40, 21) == "a" * 10 + "…" + "b" * 10
    assert plain_line("one two three", 10, prose=True) == "one two…"
    assert plain_line("a" * 9, 5, prose=True) == "aaaa…"
    assert plain_line("two\n lines\u202e", 20) == "two lines□"
    assert plain_line("中文 é Ω", 20) == "□□ é Ω"
    audit = sample()
    strange = replace(audit, data=replace(audit.data, attribute="性别"))
    content = page_content(Reports(strange).document)
    assert "□ stands for a letter" in content["footer"][-1]
    assert len(pypdfium2.PdfDocument(one_page(Reports(strange).document))) == 1


def test_the_fonts_have_every_letter():
    import typst

    letters = "".join(chr(i) for i in range(0x20, 0x3000) if not _NOT_COVERED.match(chr(i)))
    fonts = next(line for line in _layout().splitlines() if line.startswith(b"#set text(font"))
    layout = b'#let colour(name) = black\n#set document(title: "x")\n' + fonts + b"\n#sys.inputs.a"
    compiled = typst.compile(layout, sys_inputs={"a": letters}, ignore_system_fonts=True, pdf_standards=["ua-1"])
    assert len(letters) > 300 and compiled.startswith(b"%PDF")


def test_without_the_package_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FairLeakError, match=r"needs the package typst; install what requirements-pdf\.txt lists"):
        one_page(Reports(sample()).document)
    assert MISSING.count(".") == 2


def test_what_stops_the_package_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch):
    def stop(*_: Any, **__: Any) -> bytes:
        raise RuntimeError("unknown font\n  at line 3")

    monkeypatch.setattr("typst.compile", stop)
    with pytest.raises(FairLeakError, match=r"could not be set by typst: unknown font\.$"):
        one_page(Reports(judged_audit()).document)


def test_the_package_is_loaded_when_a_page_is_made_and_not_before():
    statements = "import core.report.one_page, sys; print('typst' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", statements], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
