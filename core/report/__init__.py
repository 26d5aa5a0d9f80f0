"""The report of a release audit: one JSON document, drawn as HTML, cut into CSV files, in two editions."""

from core.report.canonical import report_fingerprint, to_json
from core.report.document import EDITIONS, caveats_of, check_rows, policy_of
from core.report.editions import Reports, document
from core.report.page import board_html, board_style, caveats_html, embedded_document
from core.report.schema import from_json
from core.report.verification import verify_report

__all__ = [
    "EDITIONS",
    "Reports",
    "board_html",
    "board_style",
    "caveats_html",
    "caveats_of",
    "check_rows",
    "document",
    "embedded_document",
    "from_json",
    "policy_of",
    "report_fingerprint",
    "to_json",
    "verify_report",
]
