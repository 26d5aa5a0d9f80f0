"""Checks as JUnit XML, the form in which build servers read results: one test case a check.

The elements are those of the schema that build servers publish (Jenkins' junit-10.xsd): counts are of the cases below,
seconds have three decimals, and characters that XML does not know become U+FFFD.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

from ..auditing.policy import VERDICT_TITLES, CheckVerdict
from .report import Report

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One check: what became of it, in one word (`kind`) and one sentence, and the `evidence`."""

    name: str
    outcome: Literal["passed", "failure", "skipped"]
    kind: str = ""
    message: str = ""
    evidence: str = ""


def junit_xml(
    suite: str,
    cases: Sequence[Case],
    *,
    classname: str,
    started: str = "",
    seconds: float = 0.0,
    properties: Mapping[str, str] | None = None,
) -> bytes:
    """Return the file. `started` is a moment in UTC, or a day; the seconds are those of all cases together."""
    counts = {name: sum(case.outcome == name for case in cases) for name in ("failure", "skipped")}
    time = f"{seconds if math.isfinite(seconds) and seconds > 0.0 else 0.0:.3f}"
    attributes = {
        "name": suite,
        "tests": str(len(cases)),
        "failures": str(counts["failure"]),
        "errors": "0",
        "time": time,
    }
    root = ElementTree.Element("testsuites", _attributes(attributes))
    suite_element = ElementTree.SubElement(
        root, "testsuite", _attributes({**attributes, "skipped": str(counts["skipped"])})
    )
    if moment := _MOMENT.match(started):
        suite_element.set("timestamp", f"{moment[1]}T{moment[2] or '00:00:00'}")
    if properties:
        inside = ElementTree.SubElement(suite_element, "properties")
        for name, value in properties.items():
            ElementTree.SubElement(inside, "property", _attributes({"name": name, "value": value}))
    for case in cases:
        case_element = ElementTree.SubElement(
            suite_element, "testcase", _attributes({"name": case.name, "classname": classname, "time": "0.000"})
        )
        if case.outcome != "passed":
            what = _attributes({"type": case.kind, "message": case.message})
            ElementTree.SubElement(case_element, case.outcome, what).text = _clean(case.message)
        if case.evidence:
            ElementTree.SubElement(case_element, "system-out").text = _clean(case.evidence)
    ElementTree.indent(root, space=" ")
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def stopping(cases: Sequence[Case], stops: bool, summary: Case) -> list[Case]:
    """Return the cases, and the whole as one more where it stops a gate and none of them does."""
    return [*cases, *([summary] if stops and not any(case.outcome == "failure" for case in cases) else [])]


def _attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    return {name: _clean(value) for name, value in attributes.items()}


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def audit_junit(report: Report) -> bytes:
    """Return an audit's checks that its policy limits: those that block a release have failed.

    What does not pass and does not block, because it is not required or excused, is skipped. A case of its own says
    what blocks where no check does: a self-test that failed, or that no required check could be run.
    """
    verdict, seconds = report.verdict, report.times.seconds
    return junit_xml(
        f"FairLeak audit: {report.title}",
        stopping(
            [_case(row) for row in report.rows if row.limit is not None],
            verdict.overall != "pass",
            Case(name="Release", outcome="failure", kind=verdict.overall, message=verdict.headline),
        ),
        classname="fairleak.audit",
        started=report.times.started,
        seconds=math.nan if seconds is None else seconds,
        properties={"verdict": verdict.overall, "fingerprint": report.fingerprint},
    )


def _case(row: CheckVerdict) -> Case:
    passed, word = row.verdict == "pass", VERDICT_TITLES[row.verdict]
    free = "" if row.blocks else " (not blocking)" if row.excused else " (not required)"
    return Case(
        name=row.title or row.check,
        outcome="passed" if passed else "failure" if row.blocks else "skipped",
        kind=row.verdict,
        message="" if passed else f"{word}{free}: {row.why}",
        evidence="\n".join(_evidence(row)),
    )


def _evidence(row: CheckVerdict) -> list[str]:
    lines = [f"Check: {row.check}"]
    for term, text in row.lines:
        if isinstance(text, str) and text:
            lines.append(f"{term}: {text}")
        elif isinstance(text, tuple) and text:
            lines.append(f"{term}: {' '.join(text)}")
        elif isinstance(text, dict):
            lines += [f"{name}: {number}" for name, number in text.items()]
    return lines
