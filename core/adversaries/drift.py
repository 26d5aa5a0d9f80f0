"""Drift or memory: whether training and test records differ before any model has seen them.

A membership attack ranks training records above test records. It may do so without any memory of the model, where the
two were collected at other times or places. So a classifier that sees features and true label, and nothing that the
model gives, is asked the same question: a two-sample test by a classifier (Lopez-Paz & Oquab 2017).

Each half of the records teaches a classifier that judges the other half. Given what one half taught, the other half's
training and test records are ranked alike if both were drawn alike, so that the rank-sum test of each half is valid,
whatever the classifier learned; of both halves the smaller p value counts twice (Bonferroni), as they are not
independent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..base.arrays import Codes, Floats
from ..base.caveats import Caveat, CaveatKind
from .released_outputs import cross_fitted, halves

if TYPE_CHECKING:
    from ..datasets import AuditDataset
    from ..datasets.splits import Splits

DRIFT_LEVEL = 0.01
"""p value below which records are said to differ: of 100 tables without drift about one has a caveat."""


def two_sample_test(columns: Floats, inside: Codes, *, seed: int) -> tuple[float, float]:
    """AUC of a classifier of two samples by their columns, and the p value of their being drawn alike.

    Parameters
    ----------
    columns : (n, d)
        What is known of each record; codes of categories are taken as numbers, nan as a missing value.
    inside : (n,)
        1 for the first sample, 0 for the second; at least two records of each.
    seed : int
        Seed of the halves and of the classifiers.

    Returns
    -------
    auc, p_value : float
        Chance that a record of the first sample is ranked above one of the second, mean of both halves; and one-sided
        p value, in [0, 1].
    """
    from scipy.stats import mannwhitneyu

    score, _ = cross_fitted(list(columns.T), inside, seed=seed, name="drift")
    second = halves(inside, seed=seed)
    aucs = []
    p_values = []
    for half in (second, ~second):
        first_scores = score[half & (inside == 1)]
        other_scores = score[half & (inside == 0)]
        test = mannwhitneyu(first_scores, other_scores, alternative="greater", method="asymptotic")
        aucs.append(test.statistic / (first_scores.size * other_scores.size))
        p_values.append(test.pvalue)
    return float(np.mean(aucs)), min(1.0, 2.0 * min(p_values))


def drift_caveat(dataset: AuditDataset, splits: Splits, *, seed: int) -> Caveat | None:
    """Caveat on training and test records that differ without any model; None if they are not seen to differ.

    Of sets that FairLeak drew at random nothing is tested: they are drawn alike.
    """
    if dataset.sets is None:
        return None
    rows = np.concatenate([splits.train, splits.test])
    inside = np.isin(rows, splits.train).astype(np.uint8)
    columns = np.column_stack([dataset.features, dataset.labels])[rows]
    auc, p_value = two_sample_test(columns, inside, seed=seed)
    if p_value >= DRIFT_LEVEL:
        return None
    text = (
        f"Training and test records differ before any model sees them: features and true label alone rank a training "
        f"record above a test record with AUC {auc:.2f} (chance 0.5, p below {DRIFT_LEVEL:g}). What membership "
        "inference finds may be this difference and not memory of the model."
    )
    return Caveat(CaveatKind.SETS_DIFFER, text)
