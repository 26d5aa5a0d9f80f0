"""What core says about the audits that the tests of app and browser look at; each is computed once a test run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from core.audit import AuditFindings, audit_key, run
from core.config import AuditConfig
from core.correction import Disclosure
from core.datasets import build_dataset, demo_table
from core.datasets.dataset import AuditDataset
from core.datasets.splits import split
from core.subject import ModelFindings, train_model
from pages.common import state
from pages.common.cached import Audit

__all__ = ["audit", "fill_once", "model", "run_once"]

_SETTINGS = ("method", "metric", "tolerance", "train_share", "seed")

_findings: dict[str, AuditFindings] = {}
_curves: dict[tuple[int, str, str, bool], tuple[AuditFindings, dict[float, Disclosure]]] = {}  # findings keep their id
fill = Audit.fill


def run_once(
    config: AuditConfig, report: Callable[[int, int], None] | None = None, *, dataset: AuditDataset
) -> AuditFindings:
    """Run an audit like `core.audit.run`, or return what it found when another test ran it."""
    key = audit_key(config, dataset)
    if key not in _findings:
        _findings[key] = run(config, report, dataset=dataset)
    return _findings[key]


def fill_once(audit: Audit, adversary: str, cost: str, as_published: bool, report: Callable[[int, int], None]) -> None:
    """Tell an attacker every tolerance like `Audit.fill`, or take what it made of them in another test."""
    key = (id(audit.findings), adversary, cost, as_published)
    if key not in _curves:
        fill(audit, adversary, cost, as_published, report)
        _curves[key] = (audit.findings, dict(audit.curves[adversary, cost, as_published]))
    audit.curves[adversary, cost, as_published] = dict(_curves[key][1])


@cache
def demo() -> AuditDataset:
    table = demo_table()
    return build_dataset(table, table.roles[0])


def _config(changes: dict[str, Any]) -> AuditConfig:
    settings = {name: state.default(name) for name in _SETTINGS} | changes
    if settings["method"] == "dp_id3":
        settings.setdefault("epsilon", state.default("epsilon"))
    return AuditConfig(dataset="demo", roles=demo().roles, **settings)


def audit(**changes: Any) -> AuditFindings:
    """Return the findings of the demo, with the pages' default settings but for these changes."""
    return run_once(_config(changes), dataset=demo())


@cache
def model(**changes: Any) -> ModelFindings:
    """Return what is found about the audited model alone, of its audit where there was one."""
    config = _config(changes)
    there = _findings.get(audit_key(config, demo()))
    if there is not None:
        return there.model
    return train_model(config, demo(), split(demo(), train_share=config.train_share, seed=config.seed))
