"""A bounded search for the parameters of the paper's forest, on the attacker's own records.

Ferry et al. (2023, IV-B4) tune their forests with HyperOpt-Sklearn, at most 100 evaluations of a tree-structured
Parzen estimator, under a class-balanced loss; they print neither the space searched nor the parameters found, and
their published script fixes one forest instead. Here the same kind of estimator (Bergstra et al. 2011) comes from
optuna, and the space is this module's own. The first forest evaluated is always the published one, so that the search
ends with one that scores at least as well on the records it was chosen on.

The attacker's records are split once: four fifths choose the parameters by cross-validation, the last fifth only
judges what was chosen. Nothing here ever sees the people under attack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..base.arrays import Codes, Floats
from ..base.errors import InputError
from ..base.seeds import child_seed
from ..base.serialize import Result
from ..stats.estimates import Estimate, accuracy, balanced_accuracy, proportion
from .adversary import PINNED, balanced_forest, forest_parameters, known_columns

if TYPE_CHECKING:
    import pandas

_HELD_OUT = 0.2
_FOLDS = 3
_FEWEST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestTrial(Result):
    """One evaluation; the score is the balanced accuracy on the search records, by forests that had not seen them."""

    parameters: dict[str, int | str | None]
    score: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedForest(Result):
    """What the search found.

    The parameters are those of the best trial, the earliest where several tie; `train_adversary` takes them. Accuracy
    and balanced accuracy are on the attacker's held-out records, which had no part in the search: of the forest with
    these parameters, and, as baseline, of the published forest, trained on the same records. `majority` is the control:
    always guessing the largest group, on the records held out. The trials are in order; the first is the published
    forest.
    """

    kind: str
    parameters: dict[str, int | str | None]
    accuracy: Estimate
    balanced: Estimate
    pinned_accuracy: Estimate
    pinned_balanced: Estimate
    majority: Estimate
    trials: tuple[ForestTrial, ...]

    def to_frame(self) -> pandas.DataFrame:
        """Return one row an evaluation: its parameters, its score with interval, and whether it was chosen."""
        import pandas as pd

        best = _best(self.trials)
        rows = [
            {"evaluation": i + 1}
            | trial.parameters
            | {"max_features": trial.parameters["max_features"] or "all"}
            | {"score": trial.score.value, "low": trial.score.low, "high": trial.score.high, "chosen": i == best}
            for i, trial in enumerate(self.trials)
        ]
        return pd.DataFrame(rows)


_Records = tuple[Floats, npt.NDArray[Any]]
"""What the attacker knows of some records, and their groups."""


def tune_forest(
    kind: str,
    features: Floats,
    labels: Codes,
    sensitive: npt.NDArray[Any],
    predictions: Codes | None = None,
    *,
    evaluations: int = 100,
    seed: int = 0,
    report: Callable[[int, int], None] | None = None,
) -> TunedForest:
    """Search the parameters of A's or A′'s forest on records whose sensitive attribute the attacker knows.

    The class-balanced measure of the paper is maximised. Raises `InputError` if a group has fewer than 10 records.

    Parameters
    ----------
    kind : {"features", "predictions"}
        A or A′.
    features, labels, predictions : ndarray of shape (n, d), (n,) and (n,)
        As for `train_adversary`.
    sensitive : ndarray of shape (n,)
        Group of each record, at least 10 records a group; any number of groups from two.
    evaluations : int
        Forests tried, at least one.
    seed : int
        Fixes the split, the folds, the sampler and the forests: same seed, same search.
    report : callable, optional
        Called with (evaluations done, evaluations in all) before each of them and after the last; may raise
        `core.base.errors.Cancelled`, which ends the search there and reaches the caller.
    """
    columns = known_columns(features, labels, predictions if kind == "predictions" else None)
    groups, counts = np.unique(sensitive, return_counts=True)
    if counts.min() < _FEWEST:
        raise InputError(
            f"The search needs at least {_FEWEST} attack records of each group, got {counts.min()} of group "
            f"{groups[counts.argmin()]}."
        )
    search, (held_x, truth) = _halves(columns, sensitive, seed)
    trials: list[ForestTrial] = []
    study = _study(child_seed(seed, "tuning sampler"))
    for done in range(evaluations):
        if report is not None:
            report(done, evaluations)
        proposal = study.ask()
        parameters = forest_parameters(_suggested(proposal))
        trial = ForestTrial(parameters=parameters, score=_score(search, parameters, seed))
        study.tell(proposal, trial.score.value)
        trials.append(trial)
    if report is not None:
        report(evaluations, evaluations)
    best_parameters = trials[_best(trials)].parameters
    tuned, pinned = (
        balanced_forest(candidate, child_seed(seed, "tuning forests")).fit(*search).predict(held_x)
        for candidate in (best_parameters, None)
    )
    return TunedForest(
        kind=kind,
        parameters=best_parameters,
        accuracy=accuracy(truth, tuned),
        balanced=balanced_accuracy(truth, tuned),
        pinned_accuracy=accuracy(truth, pinned),
        pinned_balanced=balanced_accuracy(truth, pinned),
        majority=proportion(int(np.unique(truth, return_counts=True)[1].max()), truth.size),
        trials=tuple(trials),
    )


def _halves(columns: Floats, sensitive: npt.NDArray[Any], seed: int) -> tuple[_Records, _Records]:
    """Split the attacker's records into those that choose and those that judge, groups in proportion."""
    from sklearn.model_selection import train_test_split

    child = child_seed(seed, "tuning held-out records")
    x, held_x, s, held_s = train_test_split(
        columns, sensitive, test_size=_HELD_OUT, stratify=sensitive, random_state=child
    )
    return (x, s), (held_x, held_s)


def _study(seed: int) -> Any:
    """Return optuna's study; creating it is the one thing optuna would tell the console about."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    finally:
        optuna.logging.set_verbosity(before)
    study.enqueue_trial(PINNED)
    return study


def _suggested(proposal: Any) -> dict[str, Any]:
    """Return the sampler's next forest; trees and least sizes are searched on a log scale."""
    return {
        "n_estimators": proposal.suggest_int("n_estimators", 10, 300, log=True),
        "max_depth": proposal.suggest_int("max_depth", 2, 24),
        "min_samples_split": proposal.suggest_int("min_samples_split", 2, 50, log=True),
        "min_samples_leaf": proposal.suggest_int("min_samples_leaf", 1, 50, log=True),
        "max_features": proposal.suggest_categorical("max_features", ["sqrt", None]),
        "criterion": proposal.suggest_categorical("criterion", ["gini", "entropy"]),
    }


def _score(records: _Records, parameters: dict[str, Any], seed: int) -> Estimate:
    """Return the balanced accuracy of the out-of-fold guesses (3 folds) on the search records."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(n_splits=_FOLDS, shuffle=True, random_state=child_seed(seed, "tuning folds"))
    forest = balanced_forest(parameters, child_seed(seed, "tuning forests"))
    return balanced_accuracy(records[1], cross_val_predict(forest, *records, cv=folds))


def _best(trials: Sequence[ForestTrial]) -> int:
    return int(np.argmax([trial.score.value for trial in trials]))
