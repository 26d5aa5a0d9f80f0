"""Files of an audit: the internal report, with every number, and the public summary, without any measured on people."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from ..auditing import plan_text
from ..auditing.policy import policy_text
from .canonical import to_json
from .codec import report_document
from .page import to_html
from .public_summary import PublicSummary, public_summary, summary_html, summary_markdown
from .report import Report
from .tables import csv_files

if TYPE_CHECKING:
    from ..auditing import ReleaseAudit

FOLDERS = ("internal", "public")
"""Folders of an audit: for internal use, and for anybody."""


class Reports:
    """Internal report and public summary of an audit, each built once."""

    def __init__(self, audit: ReleaseAudit) -> None:
        self.audit = audit

    @cached_property
    def document(self) -> Report:
        """Internal report, sealed with its fingerprint."""
        return report_document(self.audit)

    @cached_property
    def summary(self) -> PublicSummary:
        """Public summary, sealed with its own fingerprint."""
        return public_summary(self.document)

    @property
    def internal_files(self) -> dict[str, bytes]:
        """Files of the internal report: name -> content."""
        texts = {
            "report.json": to_json(self.document),
            "report.html": to_html(self.document),
            "policy.toml": policy_text(self.audit.verdict.policy),
            "plan.toml": plan_text(replace(self.audit.plan, policy="policy.toml")),
        }
        return _encoded(texts) | csv_files(self.document)

    @property
    def public_files(self) -> dict[str, bytes]:
        """Files of the public summary: name -> content."""
        texts = {
            "summary.json": to_json(self.summary),
            "summary.html": summary_html(self.summary),
            "model-card.md": summary_markdown(self.summary),
        }
        return _encoded(texts)


def _encoded(texts: dict[str, str]) -> dict[str, bytes]:
    return {name: text.encode("utf-8") for name, text in texts.items()}
