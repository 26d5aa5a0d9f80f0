"""Every table of a report as a CSV file; see `core.csv_table` for how cells are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.csv_table import csv_bytes
from core.report.disclosed import document
from core.report.document import THRESHOLD
from core.report.tables import report_tables

if TYPE_CHECKING:
    from core.decision import ReleaseAudit
    from core.decision.attacks.readers import AttackedPeople


def csv_files(
    audit: ReleaseAudit | Mapping[str, Any],
    *,
    edition: str = "internal",
    people: AttackedPeople | None = None,
    threshold: int = THRESHOLD,
) -> dict[str, bytes]:
    """Return the files by name, such as "checks.csv"; the arguments are those of `core.report.document`."""
    told = document(audit, edition=edition, people=people, threshold=threshold)
    return {f"{table.name}.csv": csv_bytes(table.columns, table.rows) for table in report_tables(told)}
