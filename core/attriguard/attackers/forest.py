"""A random forest (RF-A)."""

from __future__ import annotations

from typing import Any

from core.attriguard.attackers.known import Known


def fit_forest(known: Known, *, seed: int) -> Any:
    """Return a fitted random forest."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(100, random_state=seed).fit(known.records, known.values)
