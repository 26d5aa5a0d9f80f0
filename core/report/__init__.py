"""Report of a release audit: one JSON document, drawn as HTML, cut into CSV files; and its public summary."""

from core.report.canonical import report_fingerprint, to_json
from core.report.document import caveats_of, check_rows, policy_of, report_document
from core.report.page import board_html, board_style, caveats_html, embedded_document
from core.report.public_summary import public_summary, summary_html, summary_markdown
from core.report.reports import FOLDERS, Reports
from core.report.schema import from_json
from core.report.verification import verify_report

__all__ = [
    "FOLDERS",
    "Reports",
    "board_html",
    "board_style",
    "caveats_html",
    "caveats_of",
    "check_rows",
    "embedded_document",
    "from_json",
    "policy_of",
    "public_summary",
    "report_document",
    "report_fingerprint",
    "summary_html",
    "summary_markdown",
    "to_json",
    "verify_report",
]
