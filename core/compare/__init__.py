"""Two audits compared: what changed in what was audited, and every check before and after."""

from core.compare.changed_settings import Changed
from core.compare.changes import Audit, CheckChange, Comparison, Outlook, Turn, change_between, change_text, compare
from core.compare.comparison_files import comparison_html, comparison_junit, since
from core.compare.reading import audit_name, readable, readable_apart

__all__ = [
    "Audit",
    "Changed",
    "CheckChange",
    "Comparison",
    "Outlook",
    "Turn",
    "audit_name",
    "change_between",
    "change_text",
    "compare",
    "comparison_html",
    "comparison_junit",
    "readable",
    "readable_apart",
    "since",
]
