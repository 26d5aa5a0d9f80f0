"""Report of a release audit: one JSON document, drawn as HTML, cut into CSV files; and its public summary."""

from .canonical import report_fingerprint, to_json
from .document import caveats_of, check_rows, policy_of, report_document
from .page import board_html, board_style, caveats_html, embedded_document
from .public_summary import public_summary, summary_html, summary_markdown
from .reports import FOLDERS, Reports
from .schema import from_json
from .verification import verify_report

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
