"""The report of a release audit: one JSON document, drawn as HTML, cut into CSV files, in two editions."""

from core.report.canonical import report_fingerprint
from core.report.document import EDITIONS, CheckRow, check_rows, policy_of
from core.report.editions import Reports, document
from core.report.page import board_html, board_style, embedded_document, to_html
from core.report.schema import from_json, report_schema, to_json
from core.report.tables import csv_files
from core.report.verification import Verification, verify_report

__all__ = [
    "EDITIONS",
    "CheckRow",
    "Reports",
    "Verification",
    "board_html",
    "board_style",
    "check_rows",
    "csv_files",
    "document",
    "embedded_document",
    "from_json",
    "policy_of",
    "report_fingerprint",
    "report_schema",
    "to_html",
    "to_json",
    "verify_report",
]
