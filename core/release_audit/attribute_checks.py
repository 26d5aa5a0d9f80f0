"""What a release adds to imputation of the attribute, and what AttriGuard leaves of it.

Two attackers: one stands outside and knows the attribute of the attack records; the other knows it of half of the
training records and judges the other half, in turn: a leak that only training records have is seen by this one alone.
The second is tried only where it is told which records the model was trained on; else both would see the same people.

One attack, three measures of what it adds to imputation. Accuracy cannot show what is given away about a small group,
balanced accuracy can; bits count changes of probability that change no guess.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from core.adversaries import Outputs, ReleasedAttack, attack_released, decimals_of
from core.arrays import Floats
from core.attriguard import TABLE_ATTACKER_TITLES, Study, TableSettings, study_steps, study_table, table_guard
from core.estimates import Estimate, accuracy, balanced_accuracy, balanced_gain, mean, paired_gain, strongest
from core.release_audit.inputs import Audited
from core.release_audit.plan import AuditPlan
from core.seeds import child_generator
from core.study import Measurement
from core.subject import OutputsPlan

PLACES = {"outside": "from outside", "inside": "knowing half of the training records"}
"""Where an attacker stands, and how a sentence says it."""

_LEAST_EACH = 20
"""Fewest people of a group in each half of the training records for the attacker who knows one half."""

_CLOSED = 0.02
"""Largest gain with which a leak counts as closed."""


def outputs_text(outputs: OutputsPlan) -> str:
    """Return what to call what is released: "predicted labels and scores with 3 decimals"."""
    if outputs.released == "labels":
        return "predicted labels"
    decimals = {None: "", 1: " with 1 decimal"}.get(outputs.decimals, f" with {outputs.decimals} decimals")
    return f"predicted labels and scores{decimals}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """What one attacker believes of m training records, beside the truth.

    `before` and `after`, shape (m, K), are probabilities of the groups by imputation and with what is released;
    `share`, shape (K,), are the groups' shares among the `n_known` people whose attribute the attacker knows. `attack`
    is one of `core.adversaries.ATTACKS`, or both where the halves chose differently.
    """

    truth: npt.NDArray[np.intp] = field(repr=False)
    before: Floats = field(repr=False)
    after: Floats = field(repr=False)
    share: Floats
    attack: str
    n_known: int

    def level(self, measure: str, probability: Floats) -> Estimate:
        """Return a measure of these probabilities."""
        if measure == "bits":
            return mean(self.bits(probability))
        balanced = measure == "balanced_accuracy"
        return (balanced_accuracy if balanced else accuracy)(self.truth, self.guess(probability, balanced=balanced))

    def gain(self, measure: str) -> Estimate:
        """Return what the release adds to a measure, on the same people."""
        if measure == "bits":
            return mean(self.bits(self.before) - self.bits(self.after))
        balanced = measure == "balanced_accuracy"
        before, after = (self.guess(p, balanced=balanced) for p in (self.before, self.after))
        if balanced:
            return balanced_gain(self.truth, before, after)
        was, now = before == self.truth, after == self.truth
        return paired_gain(int(np.count_nonzero(now & ~was)), int(np.count_nonzero(was & ~now)), self.truth.size)

    def guess(self, probability: Floats, *, balanced: bool = False) -> npt.NDArray[np.intp]:
        """Return the likeliest group, or the one whose probability is farthest above its share."""
        return np.asarray((probability / self.share if balanced else probability).argmax(axis=1))

    def bits(self, probability: Floats) -> Floats:
        """Return everybody's log-loss in bits."""
        return -np.log2(np.maximum(probability[np.arange(self.truth.size), self.truth], 1e-9))


def released_judged(audited: Audited, outputs: OutputsPlan | None = None) -> dict[str, Judged]:
    """Return what each attacker of `PLACES` makes of a release, the plan's unless another one is asked about."""
    plan = audited.plan.outputs if outputs is None else outputs
    return audited.once(f"released {plan}", lambda: _judged(audited, plan))


def released_gain(
    audited: Audited, measure: str, outputs: OutputsPlan | None = None
) -> tuple[str, Estimate, dict[str, Judged]]:
    """Return who gains most by a measure, how much, with an interval for all tried, and what each believes."""
    found = released_judged(audited, outputs)
    within = (-1.0, 1.0) if measure != "bits" else (-10.0, 10.0)
    place, estimate = strongest({name: own.gain(measure) for name, own in found.items()}, within=within)
    return place, estimate, found


def closing_precision(audited: Audited) -> list[tuple[str, Estimate, Estimate]]:
    """Return the gains in accuracy and balanced accuracy of coarser releases, finest first, until one is small.

    The last one is the finest whose gains, with their whole intervals, are at most 2 points, if there is one. Empty
    where labels alone are released, or where what is released gives nothing measurable away.
    """
    measures = ("accuracy", "balanced_accuracy")
    if audited.released_scores is None or all(released_gain(audited, m)[1].low <= 0.0 for m in measures):
        return []
    shown = decimals_of(audited.released_scores)
    tried = []
    coarser = [OutputsPlan(decimals=d) for d in (4, 3, 2, 1) if d < shown] + [OutputsPlan(released="labels")]
    for plan in coarser:
        gains = [released_gain(audited, measure, plan)[1] for measure in measures]
        tried.append((outputs_text(plan), gains[0], gains[1]))
        if all(gain.high <= _CLOSED for gain in gains):
            break
    return tried


def _judged(audited: Audited, plan: OutputsPlan) -> dict[str, Judged]:
    dataset, splits, seed = audited.dataset, audited.splits, audited.config.seed
    x = np.column_stack([dataset.features, dataset.labels])
    categorical = np.append(dataset.categorical, False)
    sensitive = dataset.sensitive.astype(np.intp)
    scores = audited.scores_of(plan)
    if scores is not None and dataset.withheld is not None:
        scores = np.where(dataset.withheld, np.nan, scores)
    outputs = Outputs(
        labels=audited.model.predictions, scores=scores, decimals=0 if scores is None else decimals_of(scores)
    )

    def ask(known: npt.NDArray[np.intp], judged: npt.NDArray[np.intp]) -> ReleasedAttack:
        return attack_released(
            x, outputs, sensitive, known, judged, n_groups=dataset.n_groups, categorical=categorical, seed=seed
        )

    made = {"outside": _together([(ask(splits.known, splits.train), splits.train)], sensitive)}
    first, second = _halves(splits.train, sensitive, seed)
    if audited.sets_known and min(np.bincount(sensitive[half]).min() for half in (first, second)) >= _LEAST_EACH:
        made["inside"] = _together([(ask(first, second), second), (ask(second, first), first)], sensitive)
    audited.progress.tick()
    return made


def _halves(
    rows: npt.NDArray[np.intp], sensitive: npt.NDArray[np.intp], seed: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    order = child_generator(seed, "halves of the training records").permutation(rows)
    order = order[np.argsort(sensitive[order], kind="stable")]  # every other one of each group
    return order[::2], order[1::2]


def _together(found: list[tuple[ReleasedAttack, npt.NDArray[np.intp]]], sensitive: npt.NDArray[np.intp]) -> Judged:
    return Judged(
        truth=np.concatenate([sensitive[rows] for _, rows in found]),
        before=np.concatenate([attack.before for attack, _ in found]),
        after=np.concatenate([attack.after for attack, _ in found]),
        share=found[0][0].share,
        attack=" and ".join(dict.fromkeys(attack.attack for attack, _ in found)),
        n_known=found[0][0].n_known,
    )


_MEASURES = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "bits": "log-loss in bits"}
_ATTACKS = {
    "label": "a likelihood ratio of the predicted label",
    "all": "boosting on label, score, residuals and digits",
    "label and all": "a likelihood ratio of the label in one half, boosting on everything in the other",
    "all and label": "a likelihood ratio of the label in one half, boosting on everything in the other",
}


def _gain(check: str, measure: str, audited: Audited) -> Measurement:
    place, estimate, found = released_gain(audited, measure)
    own = found[place]
    details = {}
    for name, judged in found.items():
        for key, title in _MEASURES.items():
            details[f"{PLACES[name]}, imputation, {title}"] = judged.level(key, judged.before).value
            details[f"{PLACES[name]}, with the release, {title}"] = judged.level(key, judged.after).value
            details[f"{PLACES[name]}, gain in {title}"] = judged.gain(key).value
    return Measurement(
        check=check,
        estimate=estimate,
        control=own.level(measure, own.before),
        control_name="imputation, without the model" + (", log-loss" if measure == "bits" else ""),
        attacked=(
            f"The {audited.attribute} of {audited.trained_on}, inferred from {_released(audited)} by "
            f"{_ATTACKS[own.attack]}, {PLACES[place]}."
        ),
        knows=(
            f"Features and label of everybody, {_released(audited)}, and the {audited.attribute} of {own.n_known:,} "
            f"{'training records' if place == 'inside' else 'other people'}."
        ),
        assumptions=(*audited.over_people, *(_TRIED if len(found) > 1 else ()), *_closing(audited)),
        details=details,
    )


attribute_excess = partial(_gain, "attribute_excess", "accuracy")
attribute_balanced = partial(_gain, "attribute_balanced", "balanced_accuracy")
attribute_bits = partial(_gain, "attribute_bits", "bits")


def _released(audited: Audited) -> str:
    plan = audited.plan.outputs if audited.released_scores is not None else OutputsPlan(released="labels")
    return f"the {outputs_text(plan)}"


_TRIED = (
    "Two attackers were tried, one from outside and one who knows half of the training records; the interval "
    "holds for both together.",
)


def _closing(audited: Audited) -> tuple[str, ...]:
    """Say which precision would give away at most 2 points, where something is given away."""
    tried = closing_precision(audited)
    if not tried:
        return ()
    name, gain, balanced = tried[-1]
    told = f"{_points(gain)} in accuracy and {_points(balanced)} in balanced accuracy"
    if max(gain.high, balanced.high) <= _CLOSED:
        return (f"Releasing the {name} would close the leak to within 2 points: the gains would be {told}.",)
    return (f"No coarser release closes the leak to within 2 points: the {name} would still give {told}.",)


def _points(estimate: Estimate) -> str:
    value, low, high = (f"{100 * x:+.1f}".replace("-", "−") for x in (estimate.value, estimate.low, estimate.high))
    return f"{value} points (95% CI {low} to {high})"


def guard_settings(plan: AuditPlan) -> TableSettings:
    """Return AttriGuard's settings; attackers who train against the noise do so at the planned budget."""
    return TableSettings(seed=plan.config.seed, trained_budgets=(plan.guard.budget,))


def guard_steps(plan: AuditPlan) -> int:
    """Return how many steps the study reports."""
    return study_steps(guard_settings(plan)) if plan.guard.budget else 0


def guard_study(audited: Audited) -> Study:
    """Return the study of the test records with every attacker."""

    def make() -> Study:
        guard = table_guard(audited.dataset, audited.config, guard_settings(audited.plan))
        *_, study = study_table(guard, report=lambda done, total: audited.progress.tick())
        return study

    return audited.once("guard study", make)


def attriguard_exposure(audited: Audited) -> Measurement:
    """Return the accuracy of the best attacker at the planned budget, never below the majority guess."""
    study, budget = guard_study(audited), audited.plan.guard.budget
    points = {point.attacker: point for point in study.at(budget)}
    clean = {point.attacker: point.accuracy for point in study.undefended()}
    name, estimate = strongest({key: point.reported for key, point in points.items()}, within=(0.0, 1.0))
    _, control = strongest(clean, within=(0.0, 1.0))
    best = TABLE_ATTACKER_TITLES[name]
    details = {TABLE_ATTACKER_TITLES[key]: point.accuracy.value for key, point in points.items()}
    details |= {f"{TABLE_ATTACKER_TITLES[key]}, without noise": found.value for key, found in clean.items()}
    return Measurement(
        check="attriguard_exposure",
        estimate=estimate,
        control=control,
        control_name="the best attacker without noise",
        attacked=(
            f"The {audited.attribute} of {study.truth.size:,} test people whose records change by {budget:g} columns "
            f"each on average, guessed by {best[0].lower()}{best[1:]}."
        ),
        knows=(
            f"The records as published, without their label, records and {audited.attribute} of "
            f"{audited.splits.known.size:,} other people, and how the noise is made."
        ),
        assumptions=(
            "The interval is over people, and holds for the attackers tried together.",
            "Attackers who train against the noise do so at the planned budget.",
        ),
        details=details | {"majority guess": study.majority.value},
    )


def attriguard_cost(audited: Audited) -> Measurement:
    """Return the columns changed per person on average at the planned budget."""
    study, budget = guard_study(audited), audited.plan.guard.budget
    spent = study.spent(budget)
    if spent.high - spent.low < 1e-9:  # everybody spends the budget: nothing is left to estimate
        spent = replace(spent, low=spent.value, high=spent.value)
    return Measurement(
        check="attriguard_cost",
        estimate=spent,
        attacked=f"The records of {study.truth.size:,} test people, changed by AttriGuard.",
        knows="There is no attacker.",
        assumptions=("The interval is over people; what a person's noise costs is its mean over the draws.",),
        details={"budget": budget, "columns": float(len(audited.dataset.feature_names))},
    )
