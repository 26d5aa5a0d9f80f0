"""Two audits compared: what changed in what was audited, and every check before and after."""

from core.compare.changed_settings import Changed
from core.compare.changes import Audit, CheckChange, Comparison, Outlook, Turn, change_between, change_text, compare
from core.compare.comparison_files import comparison_html, comparison_junit, since

__all__ = [
    "Audit",
    "Changed",
    "CheckChange",
    "Comparison",
    "Outlook",
    "Turn",
    "change_between",
    "change_text",
    "compare",
    "comparison_html",
    "comparison_junit",
    "since",
]
