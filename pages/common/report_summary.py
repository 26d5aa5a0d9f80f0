"""The summary of a report on one page, as a PDF to sign."""

from __future__ import annotations

from core.report import Reports
from core.report.one_page import MISSING, can_be_made, one_page
from pages.common import panels

_ICON = ":material/picture_as_pdf:"


def button(reports: Reports, edition: str = "internal") -> None:
    """Offer the summary of an edition; without the package that makes it, the internal one says what is missing."""
    inside, there = edition == "internal", can_be_made()
    if not inside and not there:
        return
    panels.download(
        "One-page summary (PDF)" if inside else "PDF",
        lambda: one_page(reports.document(edition)),
        f"fairleak-{edition}-summary.pdf",
        key=f"download_{edition}_summary",
        mime="application/pdf",
        icon=_ICON,
        type="primary" if inside else "secondary",
        disabled=not there,
        help=None if there else MISSING,
    )
