"""What core says about the audits that the browser tests look at."""

from __future__ import annotations

from functools import cache
from typing import Any

from core.audit import AuditConfig, AuditFindings, ModelFindings, run, train_model
from core.datasets import build_dataset, demo_table
from core.datasets.dataset import AuditDataset
from core.datasets.splits import split
from pages.common import state

__all__ = ["audit", "model"]

_SETTINGS = ("method", "metric", "tolerance", "train_share", "seed")


@cache
def _demo() -> AuditDataset:
    table = demo_table()
    return build_dataset(table, table.roles[0])


def _config(changes: dict[str, Any]) -> AuditConfig:
    settings = {name: state.default(name) for name in _SETTINGS} | changes
    return AuditConfig(dataset="demo", roles=_demo().roles, **settings)


@cache
def audit(**changes: Any) -> AuditFindings:
    """Return the findings of the demo, with the pages' default settings but for these changes."""
    return run(_config(changes), dataset=_demo())


@cache
def model(**changes: Any) -> ModelFindings:
    """Return what is found about the audited model alone."""
    config = _config(changes)
    return train_model(config, _demo(), split(_demo(), train_share=config.train_share, seed=config.seed))
