"""Report of a release audit, typed: written as JSON, drawn as HTML, cut into CSV files; and its public summary."""

from .codec import from_json, report_document
from .page import (
    audited_model_text,
    board_html,
    board_style,
    caveats_html,
    confirmed_html,
    people_html,
    was_confirmed,
)
from .people_sentences import people_sentences
from .public_summary import FOLDERS, Reports, public_summary, summary_markdown
from .report import Report, to_json
from .verification import verify_report

__all__ = [
    "FOLDERS",
    "Report",
    "Reports",
    "audited_model_text",
    "board_html",
    "board_style",
    "caveats_html",
    "confirmed_html",
    "from_json",
    "people_html",
    "people_sentences",
    "public_summary",
    "report_document",
    "summary_markdown",
    "to_json",
    "verify_report",
    "was_confirmed",
]
