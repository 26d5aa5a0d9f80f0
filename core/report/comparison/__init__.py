"""Two audits compared: what changed in what was audited, and every check before and after."""

from .changed_settings import Changed
from .changes import (
    AuditReference,
    CheckChange,
    Comparison,
    Outlook,
    Turn,
    change_between,
    change_text,
    compare,
)
from .comparison_files import comparison_html, comparison_junit, since

__all__ = [
    "AuditReference",
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
