"""What is to be published: which statistics of which models, how precisely."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.release.cells import Cells
from core.results import Result
from core.validation import binary_array, choice, privacy_budget

if TYPE_CHECKING:
    from core.release.published import Published

STATISTICS = ("sp_gap", "tpr_gap", "fpr_gap", "sp_rate", "tpr_rate", "fpr_rate")
"""What may be published of a model: signed gaps, group 1 minus group 0, and both groups' rates."""

STATISTIC_TITLES = {
    "sp_gap": "Statistical parity gap",
    "tpr_gap": "True positive rate gap",
    "fpr_gap": "False positive rate gap",
    "sp_rate": "Positive rate of each group",
    "tpr_rate": "True positive rate of each group",
    "fpr_rate": "False positive rate of each group",
}

PARTS = {"sp": "all", "tpr": "label 1", "fpr": "label 0"}
"""The people a statistic looks at."""

MOST_MODELS = 200
"""Models a release may hold: what many more tell is worked out too slowly, and about few people they tell all."""

MOST_DECIMALS = 12

_SIZE_NAMES = {"all": "size", "label 1": "size_label_1", "label 0": "size_label_0"}
_PART_NAMES = {"all": "", "label 1": " with label 1", "label 0": " with label 0"}


def part_name(part: str) -> str:
    """Return how a sentence goes on about the people of a part."""
    return _PART_NAMES[part]


@dataclass(frozen=True, slots=True, eq=False)
class Release(Result):
    """A plan to publish statistics of k models over the same n people.

    Attributes
    ----------
    predictions : array-like of shape (k, n) or (n,), 0 or 1
        One row a model.
    labels : array-like of shape (n,), 0 or 1, optional
        True labels; needed by the statistics within a label (tpr, fpr).
    statistics : tuple of str
        From `STATISTICS`; the same for every model.
    sizes : bool
        Whether the group sizes are published too: of everybody and of the people behind each statistic, as whole
        numbers.
    decimals : int in 0..12, optional
        Decimals the numbers are rounded to; exact when left out.
    epsilon : float, optional
        Privacy budget of the whole release, all models and sizes together; see `Release.publish`.
    names : sequence of str, optional
        What to call the models; "model 1", "model 2" ... when left out.

    Raises
    ------
    InputError
        If predictions have different lengths or are not 0 and 1, there are no or more than 200 models, a statistic is
        unknown, labels are missing where they are needed, a statistic has nobody to look at, or both decimals and
        epsilon are given.
    """

    predictions: Any
    _: KW_ONLY
    labels: Any = None
    statistics: tuple[str, ...] = ("sp_gap", "tpr_gap", "fpr_gap")
    sizes: bool = True
    decimals: int | None = None
    epsilon: float | None = None
    names: Any = None
    cells: Cells = field(init=False, repr=False)

    def __post_init__(self) -> None:
        predictions = _prediction_matrix(self.predictions)
        k, n = predictions.shape
        labels = None if self.labels is None else binary_array(np.asarray(self.labels), name="labels")
        if labels is not None and labels.size != n:
            raise InputError(f"labels must have one value for each of {n} people, got {labels.size}.")
        for name, value in (
            ("predictions", predictions),
            ("labels", labels),
            ("statistics", _statistics(self.statistics, labels)),
            ("names", _names(self.names, k)),
            ("cells", _cells(predictions, labels)),
        ):
            object.__setattr__(self, name, value)
        _check_precision(self.decimals, self.epsilon, self.sizes)
        for part in self.parts:
            if not self.cells.size(part):
                told = next(name for name in self.statistics if PARTS[name.partition("_")[0]] == part)
                raise InputError(f"{told} needs people{part_name(part)}, got none among {n}.")

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.predictions.shape[1])

    @property
    def n_models(self) -> int:
        """Number of models."""
        return int(self.predictions.shape[0])

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of people the statistics look at: "all", "label 1", "label 0"."""
        used = {PARTS[name.partition("_")[0]] for name in self.statistics}
        return tuple(part for part in PARTS.values() if part in used)

    @property
    def size_parts(self) -> dict[str, str]:
        """Name of each published group size -> the part it counts in; empty when sizes are not published."""
        if not self.sizes:
            return {}
        return {_SIZE_NAMES[part]: part for part in PARTS.values() if part in ("all", *self.parts)}

    def mask(self, part: str) -> npt.NDArray[np.bool_]:
        """Return who belongs to a part, shape (n,)."""
        return self.cells.inside(part)[self.cells.pattern]

    def with_precision(self, *, decimals: int | None = None, epsilon: float | None = None) -> Release:
        """Return the same release with another precision."""
        return Release(
            self.predictions,
            labels=self.labels,
            statistics=self.statistics,
            sizes=self.sizes,
            decimals=decimals,
            epsilon=epsilon,
            names=self.names,
        )

    def publish(self, sensitive: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> Published:
        """Return the numbers as they would be published.

        Parameters
        ----------
        sensitive : array-like of shape (n,), 0 or 1
            The true attribute.
        rng : numpy.random.Generator, optional
            Draws the privacy noise; needed with `epsilon`.

        Raises
        ------
        InputError
            If a statistic lacks one of the groups, or there is an epsilon and no generator.
        """
        from core.release.publishing import publish

        return publish(self, sensitive, rng=rng)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan without the people's records."""
        return {
            "n": self.n,
            "n_models": self.n_models,
            "names": list(self.names),
            "statistics": list(self.statistics),
            "sizes": self.sizes,
            "decimals": self.decimals,
            "epsilon": self.epsilon,
        }


def _prediction_matrix(predictions: Any) -> npt.NDArray[np.uint8]:
    """Return the predictions as a matrix of 0 and 1, one row a model."""
    if isinstance(predictions, np.ndarray) and predictions.ndim == 2:
        rows: Sequence[Any] = list(predictions)
    else:
        given = list(predictions) if isinstance(predictions, Iterable) else []
        rows = given if not given or any(np.ndim(row) for row in given) else [given]
        if not isinstance(predictions, Iterable) or any(np.ndim(row) == 0 for row in rows):
            raise InputError(f"predictions must have one row of 0 and 1 a model, got {predictions!r:.60}.")
    if not 1 <= len(rows) <= MOST_MODELS:
        raise InputError(f"A release may hold 1 to {MOST_MODELS} models, got {len(rows)}.")
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        one, other = (next(i for i, row in enumerate(rows) if len(row) == m) for m in sorted(lengths)[:2])
        raise InputError(
            f"All models must predict for the same people, got {len(rows[one])} predictions of model {one + 1} and "
            f"{len(rows[other])} of model {other + 1}."
        )
    if lengths == {0}:
        raise InputError("A release needs at least one person, got no predictions.")
    return np.stack([binary_array(np.asarray(row), name="predictions") for row in rows])


def _statistics(statistics: Sequence[str], labels: npt.NDArray[np.uint8] | None) -> tuple[str, ...]:
    asked = tuple(dict.fromkeys(choice(name, STATISTICS, name="statistics") for name in statistics))
    if not asked:
        raise InputError(f"A release needs at least one of the statistics {', '.join(STATISTICS)}, got none.")
    if labels is None and (within := [name for name in asked if not name.startswith("sp")]):
        raise InputError(f"labels must be given for {within[0]}, which compares groups within a label.")
    return asked


def _names(names: Sequence[str] | None, k: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"model {i + 1}" for i in range(k))
    given = tuple(str(name) for name in names)
    if len(given) != k:
        raise InputError(f"names must have one name for each of {k} models, got {len(given)}.")
    if twice := [name for name in given if given.count(name) > 1]:
        raise InputError(f"Names of models must differ, got {twice[0]!r} more than once.")
    return given


def _check_precision(decimals: int | None, epsilon: float | None, sizes: bool) -> None:
    if decimals is not None:
        whole = isinstance(decimals, (int, np.integer)) and not isinstance(decimals, bool)
        if not whole or not 0 <= decimals <= MOST_DECIMALS:
            raise InputError(f"decimals must be a whole number from 0 to {MOST_DECIMALS}, got {decimals!r}.")
    if epsilon is None:
        return
    privacy_budget(epsilon)
    if decimals is not None:
        raise InputError(f"A release is rounded or has privacy noise, got both decimals {decimals} and epsilon.")
    if not np.isfinite(epsilon):
        raise InputError("epsilon must be finite; leave it out for numbers without noise.")
    if not sizes:
        raise InputError("A release with privacy noise publishes noisy group sizes too; sizes must be true.")


def _cells(predictions: npt.NDArray[np.uint8], labels: npt.NDArray[np.uint8] | None) -> Cells:
    """Return the cells: people with the same label and the same predictions of all models."""
    known = predictions if labels is None else np.vstack([predictions, labels])
    packed = np.ascontiguousarray(np.packbits(known, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, pattern = np.unique(keys, return_index=True, return_inverse=True)
    return Cells(
        pattern=pattern.astype(np.intp),
        predictions=predictions[:, first],
        labels=None if labels is None else labels[first],
        people=np.bincount(pattern, minlength=first.size),
    )
