"""Making a map: for every seed one split, one pair of attackers, and two private trees a budget.

A row of the map is one release: a tree and its noisy counts at the budget, from which the models of all tolerances
follow without further cost (`core.models.private_fair`). Where nothing is promised no counts are needed, and another
tree gets the whole budget. The models' answers are drawn once. The paper's attacker (features and label, Ferry et al.
2023) learns nothing from the answers but through the correction, so she is trained once a seed, and told the tolerance
the model was trained for; if these answers cannot meet it, the smallest they can. The attacker on membership holds the
released tree and ranks people by its score of their own label.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from core.arrays import Codes
from core.attack import AttackFindings, attack_model
from core.config import AuditConfig
from core.correction import disclose, smallest_tolerance
from core.datasets.dataset import AuditDataset
from core.datasets.splits import Splits, split
from core.fairness import difference_between_groups, unfairness
from core.landscape.cells import Landscape, Readings
from core.landscape.plan import LandscapePlan
from core.landscape.stored import landscape_key, made_by
from core.membership import area, true_label_probability
from core.models.private_fair import PrivateFairModel, PrivateFairTree, fit_private_fair
from core.seeds import child_seed
from core.training import check_cells

_DIGITS = 6
_LEAST = 1e-12
"""A probability of 0 counts as this, as in `core.membership.loss_attack`."""

Report = Callable[[int, int], None]
NumberByName = dict[str, float]
Place = tuple[float | None, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attacked:
    """One seed: who is trained on and attacked, and by whom."""

    seed: int
    dataset: AuditDataset
    plan: LandscapePlan
    splits: Splits
    attack: AttackFindings
    strong: float


def landscape_steps(plan: LandscapePlan) -> int:
    """Return how many steps a map reports: one for each seed's attackers and for each seed and budget."""
    return len(plan.seeds) * (1 + len(plan.epsilons))


def landscape(dataset: AuditDataset, plan: LandscapePlan, *, report: Report | None = None) -> Landscape:
    """Train and attack every model of a map.

    Predictions that came with the table are not used: the models of the map are trained here. `report` is called with
    (steps done, steps in all), and may raise `core.errors.Cancelled` to stop. Raises `InputError` if the table is too
    small for the splits or the metric.
    """
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        if report is not None:
            report(done, landscape_steps(plan))

    controls: list[NumberByName] = []
    found: dict[Place, list[NumberByName]] = {}
    for seed in plan.seeds:
        at = _attacked(dataset, plan, seed)
        controls.append(_controls(at))
        tick()
        for epsilon in plan.epsilons:
            for tolerance, numbers in _row(at, epsilon):
                found.setdefault((tolerance, epsilon), []).append(numbers)
            tick()
    return Landscape(
        plan=plan,
        title=dataset.title,
        attribute=dataset.roles.attribute,
        majority_name=dataset.group_names[int(np.bincount(dataset.sensitive).argmax())],
        readings=tuple(
            Readings(tolerance=tolerance, epsilon=epsilon, **_by_name(numbers))
            for (tolerance, epsilon), numbers in found.items()
        ),
        made_from=landscape_key(dataset, plan),
        made_by=made_by(),
        **_by_name(controls),
    )


def _by_name(numbers: list[NumberByName]) -> dict[str, tuple[float, ...]]:
    """Return the seeds' numbers by name, rounded to the digits that are kept."""
    # one nan, so that equal maps compare equal
    return {
        name: tuple(math.nan if math.isnan(one[name]) else round(float(one[name]), _DIGITS) for one in numbers)
        for name in numbers[0]
    }


def _attacked(dataset: AuditDataset, plan: LandscapePlan, seed: int) -> _Attacked:
    """Split the people and train the attackers, who need no model for that."""
    splits = split(dataset, train_share=plan.train_share, seed=seed)
    check_cells(plan.metric, dataset, splits)
    config = AuditConfig(metric=plan.metric, train_share=plan.train_share, seed=seed)
    no_answers = np.zeros(dataset.n, dtype=np.uint8)
    attack, strong = (
        attack_model(kind, "held_out", dataset, splits, no_answers, config=config) for kind in ("features", "strong")
    )
    right = strong.attacked.guess == strong.attacked.truth
    return _Attacked(seed=seed, dataset=dataset, plan=plan, splits=splits, attack=attack, strong=float(right.mean()))


def _controls(at: _Attacked) -> NumberByName:
    attacked, labels = at.attack.attacked, at.dataset.labels[at.splits.test]
    return {
        "majority": np.bincount(attacked.truth).max() / attacked.truth.size,
        "before": (attacked.guess == attacked.truth).mean(),
        "strong": at.strong,
        "majority_label": np.bincount(labels).max() / labels.size,
    }


def _row(at: _Attacked, epsilon: float) -> Iterator[tuple[float | None, NumberByName]]:
    """Yield what is read off the models of one budget, tolerance by tolerance."""
    trees: dict[bool, tuple[PrivateFairTree, float]] = {}
    for tolerance in at.plan.tolerances:
        promised = tolerance is not None
        if promised not in trees:
            tree = _tree(at, epsilon, at.plan.tree_share if promised else 1.0)
            trees[promised] = tree, _members(at, tree)
        tree, members = trees[promised]
        model = tree.unchanged() if tolerance is None else tree.fair(tolerance, metric=at.plan.metric)
        yield tolerance, {**_read(at, model, tolerance), "members": members}


def _tree(at: _Attacked, epsilon: float, tree_share: float) -> PrivateFairTree:
    """Grow a tree with noise of its own for every budget, so that no two rows share their luck."""
    rows, data = at.splits.train, at.dataset
    return fit_private_fair(
        data.features[rows],
        data.labels[rows],
        data.sensitive[rows],
        epsilon=epsilon,
        n_groups=data.n_groups,
        domains=data.domains,
        tree_share=tree_share,
        seed=child_seed(at.seed, f"landscape, epsilon {epsilon:g}"),
    )


def _read(at: _Attacked, model: PrivateFairModel, tolerance: float | None) -> NumberByName:
    """Ask a model once for everybody, and correct with what it promises."""
    data, train, test, metric = at.dataset, at.splits.train, at.splits.test, at.plan.metric
    drawn = model.predict(data.features, data.sensitive, seed=child_seed(at.seed, f"landscape, tolerance {tolerance}"))
    unfair = {
        f"{name}_{part}": measure(drawn[rows], data.sensitive[rows], metric=metric, labels=data.labels[rows])
        for name, measure in (("unfairness", unfairness), ("difference", difference_between_groups))
        for part, rows in (("train", train), ("test", test))
    }
    told, after = _corrected(at, drawn, tolerance)
    return {"told": told, "after": after, "accuracy": (drawn[test] == data.labels[test]).mean(), **unfair}


def _corrected(at: _Attacked, drawn: Codes, tolerance: float | None) -> tuple[float, float]:
    """Return what the attacker is told and how often she is right then; without a promise she keeps her guesses."""
    attacked = replace(at.attack.attacked, predictions=drawn[at.splits.train])
    if tolerance is None:
        return math.nan, float((attacked.guess == attacked.truth).mean())
    metric, k = at.plan.metric, at.dataset.n_groups
    closest = smallest_tolerance(attacked.predictions, metric=metric, labels=attacked.labels, n_groups=k)
    told = max(tolerance, closest)
    if told > 1:  # no tolerance can be met
        return math.nan, math.nan
    held_out = replace(at.attack.held_out, predictions=drawn[at.splits.validation])
    found = disclose(attacked, held_out, tolerance=told, metric=metric, draws=0)
    return told, math.nan if found.after is None else found.after.value


def _members(at: _Attacked, tree: PrivateFairTree) -> float:
    """Return how well the tree's score of people's own label tells members from others."""
    data = at.dataset
    scores = tree.tree.predict_proba(data.features)[:, 1]
    own = np.log(np.maximum(true_label_probability(scores, data.labels), _LEAST))
    return area(own[at.splits.train], own[at.splits.test]).value
