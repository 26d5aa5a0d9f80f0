"""A report with a change in its JSON, for tests that say what differs by its place there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.report import Report
from core.report.codec import report_of
from core.report.report import strict


def altered_report(report: Report, change: Callable[[dict[str, Any]], object]) -> Report:
    """Return the report that is read from its changed JSON."""
    document = strict(report)
    change(document)
    return report_of(document)
