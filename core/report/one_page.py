"""The summary of a report on exactly one A4 page, as a PDF to sign.

It says what the report's document says and nothing else: it is for internal use, as the report is. The layout is
`one_page.typ`, set by Typst (the package `typst`, an extra): in one process, with the fonts that come with it, without
a network. Every text is handed over as data and never read as markup; long ones are shortened in their middle. The type
becomes smaller until all of it fits. The same document gives the same bytes: no time of making stands in the file. It
is tagged for screen readers (PDF/UA-1).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from ..auditing.policy import VERDICT_TITLES, CheckVerdict, placeholders_text
from ..auditing.policy import bullet as places_of
from ..base.caveats import Caveat
from ..base.errors import FairLeakError
from ..charts import LIGHT
from ..datasets.role_suggestion import names_attribute
from ..stats.estimates import count
from ..studies.study import Outcome
from .charts import NO_NUMBER, SIDES, clean
from .page import COLOURS, KINDS, constraint_text
from .report import Report

NAME = "summary.pdf"
"""Name of the file."""

MISSING = (
    "The one-page summary (PDF) needs the package typst; install what requirements-pdf.txt lists."
)

DECISIONS = ("Release", "Accept the risk", "Do not release")
SIGNERS = ("Prepared by", "Reviewed by", "Decided by")

_NOT_COVERED = re.compile(
    r"[^\u0020-\u007e\u00a0-\u00ac\u00ae-\u017f\u0391-\u03a1\u03a3-\u03a9\u03b1-\u03c9\u0401\u0410-\u044f\u0451"
    r"\u2013\u2014\u2018-\u201e\u2020-\u2022\u2026\u20ac\u2190-\u2193\u2212\u221e\u2248\u2260\u2264\u2265\u25a1]"
)
"""What the fonts of the page may lack; "□" stands for it."""

_UNKNOWN = "□"

_MOST_SIGNATURES = 6
_MOST_REASON = 90
_MOST_OF_A_KIND = 3
_MOST_CAVEAT = 300
"""Caveats of a kind on the page, and letters of each."""


Signed = Any
"""A signature as `core.store.events.Signature` records it: a history stands on reports, which import none."""


def has_typst() -> bool:
    """Whether the package that sets the page is installed."""
    from importlib.util import find_spec

    return find_spec("typst") is not None


def one_page(report: Report, signatures: Sequence[Signed] = ()) -> bytes:
    """Return a report's summary as a PDF of one page, with the signatures recorded for it, or lines to sign on.

    FairLeakError if the extra is not installed.
    """
    if not has_typst():
        raise FairLeakError(MISSING)
    import typst

    content = json.dumps(page_content(report, signatures), ensure_ascii=False)
    try:  # only the fonts that come with Typst, so that a page is the same everywhere
        page = typst.compile(
            _layout(),
            sys_inputs={"told": content},
            ignore_system_fonts=True,
            pdf_standards=["ua-1"],
        )
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        raise FairLeakError(
            f"The one-page summary (PDF) could not be set by typst: {reason}."
        ) from None
    assert isinstance(page, bytes)
    return page


@cache
def _layout() -> bytes:
    from importlib.resources import files

    return (files(__package__) / "one_page.typ").read_bytes()


def page_content(report: Report, signatures: Sequence[Signed] = ()) -> dict[str, Any]:
    """Return every text of the page, and where the bars lie."""
    rows = report.rows
    verdict = report.verdict
    overall = str(verdict.overall)
    title = plain_line(report.title, 90)
    tint = overall if overall in COLOURS else "none"
    word = VERDICT_TITLES[overall]
    content = {
        "name": f"{word}: {title}. FairLeak release audit, one-page summary",
        "title": title,
        "running": plain_line(" · ".join(filter(None, ("Internal report", report.started_on))), 60),
        "overall": overall,
        "tint": tint,
        "word": f"{word}.",
        "headline": plain_line(verdict.headline, 160),
        "detail": plain_line(verdict.detail, 900, prose=True),
        "banner": placeholders_text(report.policy, signed=bool(signatures)),
        "audited": [
            (term, plain_line(text, most)) for term, text, most in _audited(report) if text
        ],
        "checks": [_check(row) for row in rows if row.limit],
        "legend": "Number: result with 95% CI. Bar: from chance over the limit to twice that distance, with "
        "the interval of the verdict (adjusted for several limits); arrows go on.",
        "lists": [(term, text) for term, text in _lists(report) if text],
        "signing": _signing(signatures),
        "signatures": [_signature(signature) for signature in signatures[-_MOST_SIGNATURES:]],
        "choices": DECISIONS,
        "signers": SIGNERS,
        "colours": {name: light for name, (light, _) in COLOURS.items()}
        | {"ink": LIGHT.ink, "grey": LIGHT.grey},
    }
    unknown = _UNKNOWN in json.dumps(content, ensure_ascii=False)
    return content | {
        "footer": list(_footer(report.fingerprint, signatures=len(signatures), unknown=unknown))
    }


def plain_line(value: Any, most: int, *, prose: bool = False) -> str:
    """Return a text as one line that the page's fonts can show, of at most so many letters.

    A name is shortened in its middle, where it says least, and prose at its end.
    """
    flat = unicodedata.normalize("NFC", " ".join(str(clean(str(value))).split()))
    visible = _NOT_COVERED.sub(_UNKNOWN, flat)
    if len(visible) <= most:
        return visible
    if prose:
        return f"{visible[:most].rpartition(' ')[0] or visible[: most - 1]}…"
    return f"{visible[: most // 2].rstrip()}…{visible[len(visible) - (most - 1) // 2 :].lstrip()}"


def _audited(report: Report) -> Iterator[tuple[str, str, int]]:
    """Yield what was audited: a term, a text, and how many letters of it are shown."""
    data = report.data
    model = report.model
    policy = report.policy
    provenance = report.provenance
    names = [plain_line(group.group, 40) for group in report.groups]
    synthetic = ", synthetic records" if data.synthetic else ""
    yield "Data", f"{data.title}: {count(data.n)} people{synthetic}", 90
    yield (
        "Attribute",
        f"{plain_line(data.attribute, 60)}, {len(names)} groups: {', '.join(names)}",
        150,
    )
    yield "Model", f"{model.title}, {KINDS.get(model.kind, model.kind)}", 110
    yield "Fairness", constraint_text(model), 90
    yield "Released", report.plan.outputs.text, 60
    version = policy.version
    author = policy.author
    signed = (policy.name, version and f"version {version}", author and f"by {author}", policy.date)
    yield "Policy", ", ".join(filter(None, signed)), 120
    yield (
        "Seeds",
        ", ".join(f"{name} {seed:g}" for name, seed in sorted(provenance.seeds.items())),
        90,
    )
    yield "FairLeak", f"version {provenance.fairleak}, code {provenance.code[:12]}", 60
    yield "Date", re.sub(r"T(\d\d:\d\d).*", r" \1 UTC", report.times.started), 30
    yield "Fingerprint", " ".join(re.findall(".{1,16}", report.fingerprint)), 80


def _check(row: CheckVerdict) -> dict[str, Any]:
    """Return what the table has of one check with a limit."""
    places = places_of(row)
    bar = None
    if places is not None:
        bar = {
            "value": places.value,
            "low": places.low,
            "high": places.high,
            "arrows": list(places.arrows),
        }
    sides = SIDES
    if places is None:
        sides = NO_NUMBER
    brief = ""
    if row.attempt.outcome == Outcome.DONE:
        brief = plain_line(row.attempt.attacked, 110, prose=True)
    source = "placeholder"
    if not row.placeholder:
        source = plain_line(row.source, 80, prose=True)
    interval = plain_line(row.interval.removeprefix("95%: "), 40)
    return {
        "verdict": str(row.verdict),
        "word": VERDICT_TITLES[row.verdict],
        "title": plain_line(row.title, 90),
        "brief": brief,
        "optional": bool(row.limit and not row.limit.required),
        "value": row.value,
        "interval": interval,
        "sides": list(sides),
        "bar": bar,
        "limit": row.limit_label,
        "source": source,
        "placeholder": row.placeholder,
    }


def _lists(report: Report) -> Iterator[tuple[str, str]]:
    """Yield caveats, what was not tested, and what the policy does not cover: all checks by name."""
    yield "Caveats", " ".join(_caveats(report.caveats))
    missing = [row for row in report.rows if not row.measured]
    reasons: dict[str, list[str]] = {}
    for row in missing:
        reasons.setdefault(plain_line(row.attempt.reason, 130, prose=True), []).append(
            plain_line(row.title, 70)
        )
    parts = [f"{', '.join(titles)} ({reason.rstrip('.')})" for reason, titles in reasons.items()]
    if sensitive_names := [name for name in report.data.features if names_attribute(name)]:
        parts.append(f"{plain_line(', '.join(sensitive_names), 90)} (may be sensitive too)")
    if not report.self_tests:
        parts.append("the self-test of FairLeak's attacks")
    yield "Not tested", "; ".join([*parts, "other attacks, models and tables than these."])
    entries = [
        f"{plain_line(row.title, 70)} ({row.number.replace('95%:', '95% CI')})"
        for row in report.rows
        if not row.limit and row.measured
    ]
    yield "Not covered by the policy", "; ".join(entries or ["nothing that was measured"]) + "."


def _caveats(caveats: Sequence[Caveat]) -> Iterator[str]:
    """Yield the sentences of the caveats, of a kind at most as many as have place on the page."""
    by_kind: dict[str, list[str]] = {}
    for caveat in caveats:
        by_kind.setdefault(caveat.kind, []).append(caveat.text)
    for texts in by_kind.values():
        yield from (plain_line(text, _MOST_CAVEAT, prose=True) for text in texts[:_MOST_OF_A_KIND])
        more = len(texts) - _MOST_OF_A_KIND
        if more > 0:
            yield f"({count(more)} more of this kind: see the report.)"


def _signing(signatures: Sequence[Signed]) -> str:
    if not signatures:
        return "Decision and signatures"
    return "Signatures"


def _signature(signature: Signed) -> dict[str, Any]:
    state = signature.end or "stands"
    if signature.stands and not signature.proven:
        state += "; name typed"
    reason = signature.reason
    if signature.condition:
        reason = f"{reason.rstrip('.')}. Condition: {signature.condition}".removeprefix(". ")
    return {
        "decision": plain_line(signature.title, 30),
        "name": plain_line(signature.name, 60),
        "role": plain_line(signature.role, 60),
        "day": plain_line(signature.when[:10], 10),
        "state": plain_line(state, 70),
        "reason": plain_line(reason, _MOST_REASON, prose=True),
        "ended": not signature.stands,
    }


def _footer(mark: str, *, signatures: int, unknown: bool) -> Iterator[str]:
    """Yield what stands below the signatures."""
    if signatures > _MOST_SIGNATURES:
        yield f"{signatures - _MOST_SIGNATURES} earlier signatures are not shown; all of them stand in the history."
    check = f"Check: fairleak report verify REPORT --fingerprint {mark[:16]}"
    intent = "Signed for" if signatures else "For signature on"
    yield f"{intent} the report with this fingerprint. {check}"
    yield (
        "Not legal advice. A pass holds for these attacks on this model and this table. An attack that fails does not "
        "prove that nothing leaks."
    )
    if unknown:
        yield f"{_UNKNOWN} stands for a letter that is not in the fonts of this page; the report has it."
