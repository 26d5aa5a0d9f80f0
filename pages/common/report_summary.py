"""The summary of a report on one page, as a PDF to sign."""

from __future__ import annotations

from core.errors import FairLeakError
from core.history import Signature
from core.report import Reports
from core.report.one_page import MISSING, can_be_made, one_page
from pages.common import panels, report_history


def button(reports: Reports, edition: str = "internal") -> None:
    """Offer the summary of an edition; without the package that makes it, the internal one says what is missing."""
    inside, there = edition == "internal", can_be_made()
    if not inside and not there:
        return
    signatures = _signatures(reports) if inside else ()
    panels.download(
        "One-page summary (PDF)" if inside else "PDF",
        lambda: one_page(reports.document(edition), signatures),
        f"fairleak-{edition}-summary.pdf",
        key=f"download_{edition}_summary",
        mime="application/pdf",
        icon=":material/picture_as_pdf:",
        type="primary" if inside else "secondary",
        disabled=not there,
        help=None if there else MISSING,
    )


def _signatures(reports: Reports) -> tuple[Signature, ...]:
    """Return what was signed for the report on screen, in any project of the history."""
    history, mark = report_history.current(), reports.document()["fingerprint"]
    if history is None:
        return ()
    try:
        return tuple(one for one in history.signatures() if one.fingerprint == mark)
    except FairLeakError as error:
        report_history.unusable(error)
        return ()
