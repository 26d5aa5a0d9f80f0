"""Grid of models over fairness tolerance and privacy budget, with attack, model and membership accuracy for each.

A row of the map is one release: a tree and its noisy counts at the budget, from which the models of all tolerances
follow without further cost (`core.models.private_fair`). Without a fairness constraint no counts are needed, and
another tree gets the whole budget. Predictions are drawn once. The published attack (features and label, Ferry et al.
2023) uses the predictions in the correction only, so it is trained once a seed. The disclosed tolerance is the target
tolerance, or the smallest that the predictions satisfy if that is larger. The membership attack holds the released tree
and ranks people by its score of their own label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from ...base.arrays import Codes
from ...base.errors import FairLeakError, InputError
from ...base.files import write_file
from ...base.fingerprint import content_fingerprint
from ...base.param import Param
from ...base.seeds import child_seed
from ...base.serialize import RecordError, Result, dumps, loads
from ...base.settings import validate
from ...base.validation import LEAST_EPSILON
from ...datasets.catalog import DEMO_FILE
from ...datasets.dataset import AuditDataset
from ...datasets.splits import split
from ...models.private_fair import TREE_SHARE, PrivateFairModel, PrivateFairTree, fit_private_fair
from ...stats.estimates import Estimate, estimate_columns, mean_over_repeats, rate_over_repeats
from ...stats.fairness import METRICS, difference_between_groups, unfairness
from ...studies.config import AuditConfig
from ...studies.correction import attack_model, disclose, smallest_tolerance
from ...studies.membership import area, true_label_probability
from ...studies.study import ReportProgress
from ...studies.subject import check_cells
from .point import environment

if TYPE_CHECKING:
    import pandas

TOLERANCES: tuple[float | None, ...] = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, None)
"""Target tolerances, which are disclosed too; None: no fairness constraint."""

EPSILONS = (math.inf, 10.0, 3.0, 1.0, 0.3, 0.1)
"""Privacy budgets, less privacy first."""

MEMBER_ATTACKER = "loss threshold on the tree's scores"
"""Who is after the members (Yeom et al. 2018)."""

KEPT_MAP = DEMO_FILE.with_name("demo_landscape.json")
"""The demo's map; ``fairleak tradeoff --seeds 0-19 --output data/demo_landscape.json`` makes it again."""

_MOST_SEEDS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class LandscapePlan(Result):
    """What decides a map besides the table.

    Each seed has its own split, noise, predictions and attackers; without a tolerance the tree gets all of the budget.
    """

    metric: Annotated[
        str, Param("Fairness metric", "Fairness metric of tolerance and unfairness: {options}.", options=METRICS)
    ] = "statistical_parity"
    train_share: Annotated[
        float, Param("Training share", "Share of the records in the training set.", least=0.1, most=0.8)
    ] = 0.34
    tolerances: Annotated[
        tuple[float | None, ...],
        Param(
            "Tolerances",
            "Target tolerances, which are disclosed too; none: no fairness constraint.",
            least=0.0,
            most=1.0,
            some=True,
        ),
    ] = TOLERANCES
    epsilons: Annotated[
        tuple[float, ...],
        Param(
            "Privacy budgets",
            "Privacy budgets of training, less privacy first.",
            least=LEAST_EPSILON,
            infinite=True,
            some=True,
            flag="--train-epsilons",
        ),
    ] = EPSILONS
    seeds: Annotated[tuple[int, ...], Param("Seeds", "Seeds of the repeats.", least=0, most=2**32 - 1, some=True)] = (
        tuple(range(5))
    )
    tree_share: Annotated[
        float,
        Param(
            "Tree's share",
            "Share of the budget for the tree where there is a tolerance.",
            least=0.0,
            most=1.0,
            above=True,
            below=True,
        ),
    ] = TREE_SHARE

    def __post_init__(self) -> None:
        validate(self)
        for name in ("tolerances", "epsilons", "seeds"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise InputError(f"{name} must be different values, at least one, got {values!r}.")
        if len(self.seeds) > _MOST_SEEDS:
            raise InputError(f"There may be at most {_MOST_SEEDS} seeds, got {len(self.seeds)}.")


Numbers = tuple[float, ...]

_COLUMNS = {
    "after": "{} recovered after correction",
    "gain": "change by correction",
    "lead": "recovered beyond imputation",
    "accuracy": "model accuracy, unseen",
    "unfairness_train": "unfairness, training",
    "unfairness_test": "unfairness, unseen",
    "difference_train": "difference between groups, training",
    "difference_test": "difference between groups, unseen",
    "members": f"membership AUC, {MEMBER_ATTACKER}",
}
"""Number of a cell -> its column, with {} for the attribute."""

_RATES = ("accuracy", "unfairness_train", "unfairness_test", "difference_train", "difference_test", "members")


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings(Result):
    """Measurements of the models of one tolerance and one budget; every field but these two has a number a seed.

    The target tolerance is None without a fairness constraint. `told` is the disclosed tolerance: the target, or the
    smallest that the predictions satisfy if that is larger. `after` is the attribute inference accuracy after
    correction on the training set; both are nan without a constraint, or without a correction. Unfairness is a group's
    largest deviation from the overall rate, the difference the largest between two groups (Fairlearn's), the accuracy
    the model's on the test set; `members` is the AUC of `MEMBER_ATTACKER`.
    """

    tolerance: float | None
    epsilon: float
    told: Numbers
    after: Numbers
    unfairness_train: Numbers
    unfairness_test: Numbers
    difference_train: Numbers
    difference_test: Numbers
    accuracy: Numbers
    members: Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class MapCell(Result):
    """One cell over the seeds: means with Student's t intervals, as `core.stats.estimates.mean_over_repeats` says.

    `after` and `gain` are the accuracy after correction, and the change from before it, paired by seed; `lead` is by
    how much the former exceeds that of the imputation baseline, paired likewise: below 0 the correction is no leak of
    the model. `told` is the mean disclosed tolerance, nan without one; in `n_true` seeds the model satisfies the
    target.
    """

    tolerance: float | None
    epsilon: float
    after: Estimate
    gain: Estimate
    lead: Estimate
    accuracy: Estimate
    unfairness_train: Estimate
    unfairness_test: Estimate
    difference_train: Estimate
    difference_test: Estimate
    members: Estimate
    told: float
    n_true: int
    n_seeds: int

    @property
    def measured(self) -> bool:
        """Whether the change by the correction exceeds the noise between seeds: its interval leaves out 0."""
        return bool(self.gain.low > 0 or self.gain.high < 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Landscape(Result):
    """A map of a table's models, budget by budget and in each tolerance by tolerance, and who made it from what.

    By seed, attribute inference accuracy on the training set: the majority-class baseline, the published attack before
    correction, and the imputation baseline. `majority_label` is the baseline of the models' accuracy, the more frequent
    label for the whole test set.
    """

    plan: LandscapePlan
    title: str
    attribute: str
    majority_name: str
    majority: Numbers
    before: Numbers
    strong: Numbers
    majority_label: Numbers
    readings: tuple[Readings, ...]
    made_from: str
    made_by: tuple[str, ...]

    def cell(self, tolerance: float | None, epsilon: float) -> MapCell:
        """Return one cell over the seeds."""
        return next(cell for cell in self.cells if (cell.tolerance, cell.epsilon) == (tolerance, epsilon))

    @property
    def cells(self) -> tuple[MapCell, ...]:
        """Return all cells, in the order of the readings."""
        return tuple(map(self._cell, self.readings))

    def _cell(self, readings: Readings) -> MapCell:
        changes = [after - before for after, before in zip(readings.after, self.before, strict=True)]
        leads = [after - strong for after, strong in zip(readings.after, self.strong, strict=True)]
        return MapCell(
            tolerance=readings.tolerance,
            epsilon=readings.epsilon,
            after=rate_over_repeats(_without_nan(readings.after)),
            gain=mean_over_repeats(_without_nan(changes)),
            lead=mean_over_repeats(_without_nan(leads)),
            **{name: rate_over_repeats(getattr(readings, name)) for name in _RATES},
            told=float(np.mean(_without_nan(readings.told) or [math.nan])),
            n_true=sum(
                unfairness <= disclosed + 1e-6
                for unfairness, disclosed in zip(readings.unfairness_train, readings.told, strict=True)
            ),
            n_seeds=len(readings.after),
        )

    def controls(self) -> dict[str, Estimate]:
        """Return what the map's numbers are to be compared with, over the seeds."""
        rates = {name: getattr(self, name) for name in ("majority", "before", "strong", "majority_label")}
        return {name: rate_over_repeats(values) for name, values in rates.items()}

    def to_frame(self) -> pandas.DataFrame:
        """Return one row a cell, with the controls in every row."""
        import pandas as pd

        beside = {name: control.value for name, control in self.controls().items()}
        rows = []
        for cell in self.cells:
            row: dict[str, object] = {
                "trained tolerance": "none" if cell.tolerance is None else f"{cell.tolerance:g}",
                "epsilon": "inf" if math.isinf(cell.epsilon) else f"{cell.epsilon:g}",
            }
            for name, title in _COLUMNS.items():
                row |= estimate_columns(title.format(self.attribute), getattr(cell, name))
            row |= {"disclosed tolerance, mean": cell.told, "seeds": cell.n_seeds, "seeds satisfied": cell.n_true}
            row |= {
                f"{self.attribute} recovered before correction": beside["before"],
                f"baseline: always {self.majority_name}": beside["majority"],
                "imputation baseline": beside["strong"],
                "baseline: the more frequent label": beside["majority_label"],
            }
            rows.append(row)
        return pd.DataFrame(rows)


def _without_nan(values: Sequence[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def landscape_key(dataset: AuditDataset, plan: LandscapePlan) -> str:
    """Return the fingerprint (64 hex digits) of a table's arrays and a plan, the same for every version of FairLeak."""
    arrays = (dataset.features, dataset.categorical, dataset.labels, dataset.sensitive)
    sets = None if dataset.sets is None else dataset.sets.tolist()
    return content_fingerprint("landscape", *arrays, [list(dataset.categories), dataset.roles.missing, sets], plan)


def write_landscape(result: Landscape, path: Path) -> None:
    """Write a map; raises `InputError` if the file cannot be written."""
    lines = dumps(result).replace('},{"tolerance"', '},\n{"tolerance"')
    write_file(path, f"{lines}\n".encode(), what="The map")


def read_landscape(path: Path) -> Landscape:
    """Read a map; raises `FairLeakError` if the file is missing or does not hold one."""
    try:
        return loads(path.read_text(encoding="utf-8"), Landscape)
    except (OSError, UnicodeDecodeError, RecordError) as error:
        raise FairLeakError(f"The map in {path.name} must be a file that FairLeak wrote: {error}.") from None


_DIGITS = 6
_LEAST = 1e-12
"""A probability of 0 counts as this, as in `core.studies.membership.attacks.loss`."""
NumberByName = dict[str, float]


def landscape_steps(plan: LandscapePlan) -> int:
    """Return how many steps a map reports: one for each seed's attackers and for each seed and budget."""
    return len(plan.seeds) * (1 + len(plan.epsilons))


def landscape(dataset: AuditDataset, plan: LandscapePlan, *, report: ReportProgress | None = None) -> Landscape:
    """Train and attack every model of a map.

    Predictions that came with the table are not used: the models of the map are trained here. `report` is called with
    (steps done, steps in all), and may raise `core.base.errors.Cancelled` to stop. Raises `InputError` if the table is
    too small for the splits or the metric.
    """
    done = 0
    controls: list[NumberByName] = []
    numbers_by_cell: dict[tuple[float | None, float], list[NumberByName]] = {}
    for seed in plan.seeds:
        models = _Models(dataset, plan, seed)
        controls.append(models.controls())
        for epsilon in (None, *plan.epsilons):
            if epsilon is not None:
                for tolerance, numbers in models.row(epsilon):
                    numbers_by_cell.setdefault((tolerance, epsilon), []).append(numbers)
            done += 1
            if report is not None:
                report(done, landscape_steps(plan))
    return Landscape(
        plan=plan,
        title=dataset.title,
        attribute=dataset.roles.attribute,
        majority_name=dataset.group_names[int(np.bincount(dataset.sensitive).argmax())],
        readings=tuple(
            Readings(tolerance=tolerance, epsilon=epsilon, **_by_name(numbers))
            for (tolerance, epsilon), numbers in numbers_by_cell.items()
        ),
        made_from=landscape_key(dataset, plan),
        made_by=environment()[:-1],  # no model of a map is fairlearn's
        **_by_name(controls),
    )


def _by_name(numbers: list[NumberByName]) -> dict[str, tuple[float, ...]]:
    """Return the seeds' numbers by name, rounded to the digits that are kept."""
    # one nan, so that equal maps compare equal
    return {
        name: tuple(
            math.nan if math.isnan(seed_numbers[name]) else round(float(seed_numbers[name]), _DIGITS)
            for seed_numbers in numbers
        )
        for name in numbers[0]
    }


class _Models:
    """One seed's people, attackers trained without a model, and models."""

    def __init__(self, dataset: AuditDataset, plan: LandscapePlan, seed: int) -> None:
        self.data, self.plan, self.seed = dataset, plan, seed
        self.splits = split(dataset, train_share=plan.train_share, seed=seed)
        check_cells(plan.metric, dataset, self.splits)
        config = AuditConfig(metric=plan.metric, train_share=plan.train_share, seed=seed)
        nothing = np.zeros(dataset.n, dtype=np.uint8)
        self.attack, self.strong = (
            attack_model(kind, "held_out", dataset, self.splits, nothing, config=config)
            for kind in ("features", "strong")
        )

    def controls(self) -> NumberByName:
        """Return the accuracy of attacks before disclosure, and of the majority-class baselines."""
        attacked, strong = self.attack.attacked, self.strong.attacked
        labels = self.data.labels[self.splits.test]
        return {
            "majority": np.bincount(attacked.truth).max() / attacked.truth.size,
            "before": (attacked.guess == attacked.truth).mean(),
            "strong": (strong.guess == strong.truth).mean(),
            "majority_label": np.bincount(labels).max() / labels.size,
        }

    def row(self, epsilon: float) -> Iterator[tuple[float | None, NumberByName]]:
        """Yield what is read off the models of one budget, tolerance by tolerance."""
        trees: dict[bool, tuple[PrivateFairTree, float]] = {}
        for tolerance in self.plan.tolerances:
            promised = tolerance is not None
            if promised not in trees:
                tree = self.tree(epsilon, self.plan.tree_share if promised else 1.0)
                trees[promised] = tree, self.members(tree)
            tree, members = trees[promised]
            model = tree.unchanged() if tolerance is None else tree.fair(tolerance, metric=self.plan.metric)
            yield tolerance, {**self.read(model, tolerance), "members": members}

    def tree(self, epsilon: float, tree_share: float) -> PrivateFairTree:
        """Grow a tree with noise of its own for every budget, so that no two rows share their luck."""
        rows, data = self.splits.train, self.data
        return fit_private_fair(
            data.features[rows],
            data.labels[rows],
            data.sensitive[rows],
            epsilon=epsilon,
            n_groups=data.n_groups,
            domains=data.domains,
            tree_share=tree_share,
            seed=child_seed(self.seed, f"landscape, epsilon {epsilon:g}"),
        )

    def read(self, model: PrivateFairModel, tolerance: float | None) -> NumberByName:
        """Return measurements of a model, and of the correction with its disclosed tolerance."""
        data, train, test = self.data, self.splits.train, self.splits.test
        seed = child_seed(self.seed, f"landscape, tolerance {tolerance}")
        drawn = model.predict(data.features, data.sensitive, seed=seed)
        unfair = {
            f"{name}_{part}": of(drawn[rows], data.sensitive[rows], metric=self.plan.metric, labels=data.labels[rows])
            for name, of in (("unfairness", unfairness), ("difference", difference_between_groups))
            for part, rows in (("train", train), ("test", test))
        }
        disclosed, after = self.corrected(drawn, tolerance)
        return {"told": disclosed, "after": after, "accuracy": (drawn[test] == data.labels[test]).mean(), **unfair}

    def corrected(self, drawn: Codes, tolerance: float | None) -> tuple[float, float]:
        """Return the disclosed tolerance and the accuracy after correction; nan and that before it without one."""
        attacked = replace(self.attack.attacked, predictions=drawn[self.splits.train])
        if tolerance is None:
            return math.nan, float((attacked.guess == attacked.truth).mean())
        metric, k = self.plan.metric, self.data.n_groups
        closest = smallest_tolerance(attacked.predictions, metric=metric, labels=attacked.labels, n_groups=k)
        disclosed = max(tolerance, closest)
        if disclosed > 1:  # no tolerance can be met
            return math.nan, math.nan
        held_out = replace(self.attack.held_out, predictions=drawn[self.splits.validation])
        disclosure = disclose(attacked, held_out, tolerance=disclosed, metric=metric, draws=0)
        return disclosed, math.nan if disclosure.after is None else disclosure.after.value

    def members(self, tree: PrivateFairTree) -> float:
        """Return how well the tree's score of people's own label tells members from others."""
        scores = tree.tree.predict_proba(self.data.features)[:, 1]
        log_probability = np.log(np.maximum(true_label_probability(scores, self.data.labels), _LEAST))
        return area(log_probability[self.splits.train], log_probability[self.splits.test]).value
