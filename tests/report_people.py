"""What the tests of reports do to a sample: its texts changed, and its test people made up."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from core.model_card import ReleasedPeople
from core.release_audit.result import GroupSummary
from tests.samples_report import GROUPS

_FIXED = {
    "check", "verdict", "outcome", "basis", "overall", "kind", "metric", "method", "mechanism", "missing", "code",
    "policy", "plan", "fingerprint",
}  # fmt: skip


def with_texts(value: Any, change: Callable[[str], str], name: str = "") -> Any:
    """Return the audit with every free text changed; names of checks, verdicts and fingerprints stay."""
    if isinstance(value, str):
        return value if name in _FIXED else change(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        made = copy.copy(value)
        for field in dataclasses.fields(value):  # past the rules of settings, which a damaged object breaks
            object.__setattr__(made, field.name, with_texts(getattr(value, field.name), change, field.name))
        return made
    if isinstance(value, dict):
        kept = name in ("sets",)
        return {(k if kept else change(k)): with_texts(v, change, name) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(with_texts(item, change, name) for item in value)
    return value


def people_of(groups: tuple[GroupSummary, ...] = GROUPS, *, sharpness: float = 1.0, seed: int = 0) -> ReleasedPeople:
    """Return test people with these groups' counts, and a reader who knows a little of everybody."""
    rng = np.random.default_rng(seed)
    predictions, labels, sensitive = [], [], []
    k = len(groups)
    for place, g in enumerate(groups):
        tp, fp = (round(rate.value * rate.n) if rate.n else 0 for rate in (g.test_tpr, g.test_fpr))
        for count, y, predicted in (
            (tp, 1, 1), (g.test_tpr.n - tp, 1, 0), (fp, 0, 1), (g.test_fpr.n - fp, 0, 0),
        ):  # fmt: skip
            labels += [y] * count
            predictions += [predicted] * count
            sensitive += [k - 1 - place] * count
    truth = np.array(sensitive, dtype=np.uint8)
    shares = np.bincount(truth, minlength=k) / truth.size
    logits = np.log(shares) + sharpness * (rng.normal(size=(truth.size, k)) + np.eye(k)[truth])
    prior = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    names = tuple(g.group for g in reversed(groups))
    return people_with(names, np.array(predictions), np.array(labels), truth, prior)


def people_with(
    names: tuple[str, ...], predictions: np.ndarray, labels: np.ndarray, codes: np.ndarray, prior: np.ndarray
) -> ReleasedPeople:
    """Return test people, all arrays of shape (n,) but for the reader's probabilities, (n, K)."""
    rows = np.arange(labels.size)
    return ReleasedPeople(
        group=names[1],
        title="",
        attribute="sex",
        group_names=names,
        posteriors=prior,
        codes=codes.astype(np.uint8),
        rows=rows,
        predictions=predictions.astype(np.uint8)[None],
        names=("model 1",),
        labels=labels.astype(np.uint8),
        columns=pd.DataFrame(index=rows),
    )
