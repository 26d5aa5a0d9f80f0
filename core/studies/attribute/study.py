"""The study of attribute inference from outputs, beside imputation, on the training records.

Two attackers: one stands outside and knows the attribute of the attack records; the other knows it of half of the
training records and judges the other half, in turn: a leak that only training records have is seen by this one alone.
The second is tried only where it is known which records the model was trained on; else both would see the same people.

One attack, three measures of what it adds to imputation. Accuracy cannot show what is revealed about a small group,
balanced accuracy can; bits count changes of probability that change no guess.

A significant gain is tried twice more, on other outputs of the same people. Permuted among people of the same label
they tell nothing: a gain from these would be the attack's own, and the check is not run. Replaced by a regression of
them on the features they tell what any well-fitted score of these features would. Both are asked only where a gain is
significant, and of many people only about a sample, as they decide nothing elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from ...adversaries import (
    AttackerPosteriors,
    ImputationAttacker,
    Outputs,
    attack_released,
    known_records,
    train_imputation,
)
from ...adversaries.imputation import Imputed
from ...adversaries.released_outputs import NO_ATTACK, fitted_outputs, permuted_outputs
from ...base.serialize import Result
from ...base.settings import Param, Settings
from ...base.validation import Codes, Floats, Ints, child_generator, decimals_of
from ...datasets.splits import attacker_sample
from ...stats.estimates import (
    Estimate,
    count,
    interval,
    number_text,
    percent,
    point_interval,
    points,
    strongest,
)
from ..study import (
    KNOWN_RECORDS,
    RELEASE_METHODS,
    Check,
    Finding,
    Measurement,
    Plant,
    ReportProgress,
    Study,
    answers_of_model,
    draw_people,
    not_run,
    subject_of,
    synthetic_people,
    turned_for_minority,
)
from ..subject import OutputsPlan, Progress, Subject, attacker_columns, imputation_of, imputed

ATTACKER_POSITIONS = {"outside": "from outside", "inside": "knowing half of the training records"}
"""Where an attacker stands, and how a sentence says it."""

_MIN_PER_GROUP = 20
"""Fewest people of a group in each half of the training records for the attacker who knows one half."""

CLOSED = 0.02
"""Largest gain with which a leak counts as closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeSettings(Settings):
    """When a leak counts as closed; at 1 every one does, and none is explained."""

    closed: Annotated[
        float,
        Param(
            "Gain that counts as closed",
            "Largest gain, as a share, at which a release counts as having no leak; the coarser ones are held to it.",
            least=0.0,
            most=1.0,
        ),
    ] = CLOSED


def released_posteriors(
    subject: Subject, outputs: OutputsPlan | None = None
) -> dict[str, AttackerPosteriors]:
    """Return what each attacker of `ATTACKER_POSITIONS` makes of a release, by default the plan's."""
    plan = subject.outputs if outputs is None else outputs
    return subject.once_for_model(
        f"released {plan}",
        lambda: {name: _attacked(subject, plan, name) for name in _attackers(subject)},
    )


def released_gain(
    subject: Subject, measure: str, outputs: OutputsPlan | None = None
) -> tuple[str, Estimate, dict[str, AttackerPosteriors]]:
    """Return who gains most by a measure, how much, with an interval for all tried, and what each believes."""
    posteriors = released_posteriors(subject, outputs)
    within = (-1.0, 1.0) if measure != "bits" else (-10.0, 10.0)
    position, estimate = strongest(
        {
            name: attacker_posteriors.gain(measure)
            for name, attacker_posteriors in posteriors.items()
        },
        within=within,
    )
    return position, estimate, posteriors


def closing_precision(
    subject: Subject, *, closed: float = CLOSED
) -> list[tuple[str, Estimate, Estimate]]:
    """Return the gains in accuracy and balanced accuracy of coarser releases, finest first, until one is small.

    The last one is the finest whose gains, with their whole intervals, are at most `closed`, if there is one. Empty
    where labels alone are released, and where what is released has no significant effect or such gains itself.
    """
    measures = ("accuracy", "balanced_accuracy")
    if closed >= 1.0 or subject.released_scores is None:
        return []
    release_gains = [released_gain(subject, measure)[1] for measure in measures]
    if not _significant(release_gains) or _within(release_gains, closed):
        return []
    tried = []
    for plan in coarser_releases(subject):
        gains = [released_gain(subject, measure, plan)[1] for measure in measures]
        tried.append((plan.text, gains[0], gains[1]))
        if _within(gains, closed):
            break
    return tried


def coarser_releases(subject: Subject) -> list[OutputsPlan]:
    """Return releases that tell less of the scores, finest first; none where labels alone are released."""
    if subject.released_scores is None:
        return []
    released_decimals = decimals_of(subject.released_scores)
    coarser = [OutputsPlan(decimals=d) for d in (4, 3, 2, 1) if d < released_decimals]
    return [*coarser, OutputsPlan(released="labels")]


def _significant(gains: Sequence[Estimate]) -> bool:
    return any(gain.low > 0.0 for gain in gains)


def _lower(gains: Sequence[Estimate], release_gains: Sequence[Estimate]) -> bool:
    """Whether each gain is lower than the release's."""
    return all(gain.value < now.value for gain, now in zip(gains, release_gains, strict=True))


def _within(gains: Sequence[Estimate], closed: float) -> bool:
    """Whether gains are small with their whole intervals."""
    return all(gain.high <= closed for gain in gains)


CONTROLS = ("permuted", "fitted")
"""Outputs that are attacked in place of the released: permuted within the label; fitted on the features."""

_MOST_IN_CONTROL = 20_000
"""People judged at most in a control."""


def control_gain(subject: Subject, control: str, position: str, measure: str) -> Estimate:
    """Return what one attacker gains from the outputs of a control; see `CONTROLS`."""
    posteriors = subject.once_for_model(
        _control(control, position, subject.outputs),
        lambda: _attacked(subject, subject.outputs, position, control=control),
    )
    return posteriors.gain(measure)


def _control(control: str, position: str, outputs: OutputsPlan) -> str:
    """Return the name under which a subject keeps what is made of a control."""
    return f"released, {control}, {position}, {outputs}"


_Attacker = tuple[ImputationAttacker, Ints, Imputed]
"""An imputation, the rows that it judges, and what it says of them."""


def _attackers(subject: Subject) -> dict[str, tuple[_Attacker, ...]]:
    """Return the attackers by position, made once; all outputs are attacked from the same imputations."""
    return subject.once_for_model("attackers without the release", lambda: _imputing(subject))


def attacked_rows(subject: Subject, position: str) -> Ints:
    """Return the records that the attackers of a position judge, in the order of their posteriors."""
    return np.concatenate([rows for _, rows, _ in _attackers(subject)[position]])


def _imputing(subject: Subject) -> dict[str, tuple[_Attacker, ...]]:
    dataset = subject.dataset
    seed = subject.config.seed
    splits = subject.everyone
    outside = (
        imputation_of(dataset, splits, seed=seed),
        splits.train,
        imputed(dataset, splits, splits.train, seed=seed),
    )
    sensitive = dataset.sensitive.astype(np.intp)
    first, second = _halves(splits.train, sensitive, seed)
    smallest = min(
        np.bincount(sensitive[half], minlength=dataset.n_groups).min() for half in (first, second)
    )
    if not subject.has_true_sets or smallest < _MIN_PER_GROUP:
        return {"outside": (outside,)}
    x = attacker_columns(dataset)
    inside = []
    for known_rows, rows in ((first, second), (second, first)):
        before = train_imputation(
            x,
            sensitive,
            known_records(attacker_sample(known_rows, seed), sensitive, seed=seed),
            n_groups=dataset.n_groups,
            categorical=np.append(dataset.categorical, False),
            seed=seed,
        )
        inside.append((before, rows, before.about(x[rows])))
    return {"outside": (outside,), "inside": tuple(inside)}


def _attacked(
    subject: Subject, plan: OutputsPlan, position: str, *, control: str = ""
) -> AttackerPosteriors:
    """Return what the attackers of a place make of a release, or of the outputs of a control."""
    dataset = subject.dataset
    seed = subject.config.seed
    x = attacker_columns(dataset)
    sensitive = dataset.sensitive.astype(np.intp)
    released = _outputs(subject, plan)
    attacks = []
    for before, rows, about in _attackers(subject)[position]:
        outputs = released
        if control and rows.size > _MOST_IN_CONTROL:
            chosen = child_generator(seed, f"people of a control, {position}").permutation(
                rows.size
            )[:_MOST_IN_CONTROL]
            odds, probability = about
            rows = rows[chosen]
            about = odds[chosen], probability[chosen]
        known_rows = before.records.known_rows
        if control == "permuted":
            outputs = permuted_outputs(released, dataset.labels, (known_rows, rows), seed=seed)
        elif control == "fitted":
            fitted_rows = np.concatenate([before.records.learned, rows])
            outputs = fitted_outputs(
                x, released, fitted_rows, countable=before.countable, seed=seed
            )
        attacks.append(attack_released(x, outputs, sensitive, before, rows, imputed=about))
    return _together(attacks)


def _outputs(subject: Subject, plan: OutputsPlan) -> Outputs:
    dataset = subject.dataset
    scores = subject.scores_of(plan)
    if scores is not None and dataset.withheld is not None:
        scores = np.where(dataset.withheld, np.nan, scores)
    if scores is None:
        decimals = 0
    else:
        decimals = decimals_of(scores)
    return Outputs(
        labels=subject.model.predictions,
        scores=scores,
        decimals=decimals,
        answered=dataset.answered,
    )


def _halves(rows: Ints, sensitive: Ints, seed: int) -> tuple[Ints, Ints]:
    order = child_generator(seed, "halves of the training records").permutation(rows)
    order = order[np.argsort(sensitive[order], kind="stable")]  # every other one of each group
    return order[::2], order[1::2]


def _together(attacks: Sequence[AttackerPosteriors]) -> AttackerPosteriors:
    """Return what attackers on several parts of the records believe, as one."""
    return AttackerPosteriors(
        truth=np.concatenate([attack.truth for attack in attacks]),
        before=np.concatenate([attack.before for attack in attacks]),
        after=np.concatenate([attack.after for attack in attacks]),
        share=attacks[0].share,
        attack=" and ".join(sorted({attack.attack for attack in attacks})),
        n_attacker_records=attacks[0].n_attacker_records,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttributeInference(Result):
    """What everything released adds to imputation of the attribute, by each measure of `MEASURES`."""

    attribute: str
    trained_on: str
    released: str
    """What is attacked: the attribute, of whom, and from what, in words."""
    posteriors: Mapping[str, AttackerPosteriors] = field(repr=False)
    """Where the attacker stands -> what they believe."""
    gains: Mapping[str, tuple[str, Estimate]]
    """Measure -> the attacker who gains most, and how much, with an interval for all tried."""
    closing: tuple[tuple[str, Estimate, Estimate], ...]
    """Coarser releases tried, with their gains in accuracy and balanced accuracy; see `closing_precision`."""
    over_people: tuple[str, ...]
    permuted: Mapping[str, Estimate] = field(default_factory=dict)
    fitted: Mapping[str, Estimate] = field(default_factory=dict)
    """Measure with a significant gain -> what the same attacker gains from the outputs of each of `CONTROLS`."""


MEASURES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "bits": "log-loss in bits",
}

_CHECKED = {
    "attribute_excess": "accuracy",
    "attribute_balanced": "balanced_accuracy",
    "attribute_bits": "bits",
}

ATTACKS = {
    NO_ATTACK: "no attack, as none beat imputation on the attacker's validation records",
    "label": "a likelihood ratio of the predicted label",
    "values": "a regression on the label and a table of exact scores",
    "regression": "a regression on likelihood ratios of label and score and on tables of exact values",
    "boosting": "boosting on label, score, residuals and digits",
    "mean": "a regression on likelihood ratios and boosting together",
}
"""Attack -> what sentences call it."""

_TITLE = "{attribute} inferred from predictions: "

# People and models of which it is known whether what is released gives an attribute away.

_SETS = (900, 1_300, 100)
"""Training, attack and test records."""


def _released(seed: int, planted: bool) -> tuple[Subject, AttributeSettings]:
    """Return a model that releases the group, or features alone; `RELEASE_METHODS` take turns by the seed."""
    release_method = RELEASE_METHODS[seed % len(RELEASE_METHODS)]
    n = sum(_SETS)
    rng = child_generator(seed, f"released attribute, planted {planted}")
    people = draw_people(4 * n, rng)
    # of group 1, two fifths of everybody: a sixth makes it a tenth
    if release_method is turned_for_minority:
        share = 1 / 6
    else:
        share = 1.0
    rows = np.flatnonzero((people.sensitive == 0) | (rng.random(people.sensitive.size) < share))[:n]
    people = synthetic_people(people.features[rows], people.labels[rows], people.sensitive[rows])
    predictions, scores = release_method(people, rng, planted)
    settings = AttributeSettings(closed=1.0)  # which asks of no coarser release
    subject = subject_of(people, predictions, _SETS, seed=seed, scores=scores)
    _leave_out_controls(subject)
    return subject, settings


_TABLE_SETS = (680, 462, 100)
"""Of the same, for an attacker who learns a table."""

_LOOKS = 18
"""How many kinds of people a table distinguishes by two features and the label."""


def _tabled(seed: int, planted: bool) -> tuple[Subject, AttributeSettings]:
    """Return a model that releases labels, and an attacker who has learned how frequent the groups are by looks."""
    rng = child_generator(seed, f"attribute by table, planted {planted}")
    people = draw_people(sum(_TABLE_SETS), rng)
    predictions = answers_of_model(people, rng, planted=planted)
    subject = subject_of(people, predictions, _TABLE_SETS, seed=seed)
    features = people.features.astype(np.int64)
    looks = features[:, 0] + 3 * features[:, 1] + 9 * people.labels
    attacked = subject.splits.train
    known_rows = subject.splits.attacker_rows
    share = people.sensitive[known_rows].mean()
    before, after = (
        _frequencies(kinds[known_rows], people.sensitive[known_rows], share)[kinds[attacked]]
        for kinds in (looks, looks + _LOOKS * predictions)
    )
    posteriors = AttackerPosteriors(
        truth=people.sensitive[attacked].astype(np.intp),
        before=before,
        after=after,
        share=np.array([1.0 - share, share]),
        attack="label",
        n_attacker_records=known_rows.size,
    )
    subject.once_for_model(f"released {subject.outputs}", lambda: {"outside": posteriors})
    _leave_out_controls(subject)
    return subject, AttributeSettings()


def _leave_out_controls(subject: Subject) -> None:
    """Let nothing be gained from controls: a trial asks what the release gives, and they triple its time."""
    for position, posteriors in released_posteriors(subject).items():
        no_gain = replace(posteriors, after=posteriors.before)
        for control in CONTROLS:
            key = _control(control, position, subject.outputs)
            subject.once_for_model(key, lambda result=no_gain: result)  # type: ignore[misc]


def _frequencies(kinds: Ints, sensitive: Codes, share: float) -> Floats:
    """Return how frequent the groups are among each kind of people, with the share of all as one person more."""
    counts = np.bincount(2 * kinds + sensitive, minlength=4 * _LOOKS).reshape(-1, 2)
    with_one_more = counts + np.array([1.0 - share, share])
    return with_one_more / with_one_more.sum(axis=1, keepdims=True)


PLANTED = (
    Plant(
        attack="Attribute inferred from labels, by an attacker who learns a table",
        explanation="Null: answers that follow features and label alone. Planted: answers that follow the group as "
        "well.",
        make=_tabled,
        limits={"attribute_excess": 0.0},
        share=1.0,
    ),
    Plant(
        attack="Attribute inferred from what is released, by the audit's own attack",
        explanation="Null: labels and scores that follow features alone. Planted, in turn: labels or scores that "
        "follow the "
        "group, a last digit, a feature turned round for a minority of 10%, scores of a third of the people.",
        make=_released,
        limits={"attribute_excess": 0.0, "attribute_balanced": 0.0},
    ),
)
"""What the study is tried on."""


class AttributeStudy(Study[AttributeSettings, AttributeInference]):
    """Gain of everything released over imputation of the sensitive attribute."""

    name = "attribute"
    title = "Attribute inference from outputs"
    settings = AttributeSettings
    plants = PLANTED
    reads_outputs = True
    declared = (
        Check(
            name="attribute_excess",
            title=f"{_TITLE}gain over imputation",
            unit="points",
            definition="Accuracy of the best attack on everything released, labels, scores and their digits, minus "
            "that of imputation from features and label alone.",
        ),
        Check(
            name="attribute_balanced",
            title=f"{_TITLE}gain in balanced accuracy",
            unit="points",
            definition="By how much the released outputs raise the balanced accuracy of inferring the attribute: the "
            "mean over groups of the share inferred correctly. It sees what accuracy cannot where one group is small.",
        ),
        Check(
            name="attribute_bits",
            title=f"{_TITLE}bits per person",
            unit="bits",
            definition="By how many bits a person the released outputs lower the log-loss of inferring the attribute: "
            "how much better the attacker's probabilities become, whether or not a guess changes.",
        ),
    )

    def steps(self, subject: Subject, settings: AttributeSettings) -> int:
        """Return how many attackers are trained at most: fewer where nothing leaks, or a release closes the leak."""
        attackers = 3  # from outside, and of each half of the training records
        return attackers * (2 + len(CONTROLS) + len(coarser_releases(subject)))

    def run(
        self, subject: Subject, settings: AttributeSettings, report: ReportProgress | None = None
    ) -> Iterator[AttributeInference]:
        """Yield what the attackers of `ATTACKER_POSITIONS` gain."""
        progress = Progress(self.steps(subject, settings), report)
        attackers = sum(map(len, _attackers(subject).values()))
        progress.reach(attackers)
        gains = {}
        for measure in MEASURES:
            position, estimate, posteriors = released_gain(subject, measure)
            gains[measure] = (position, estimate)
        if not _significant([gain for _, gain in gains.values()]):
            progress.total = 2 * attackers  # no control, no coarser release
        progress.reach(2 * attackers)
        controls: dict[str, dict[str, Estimate]] = {}
        for control in CONTROLS:
            explains = control == "fitted"  # whose gain is no part of a check
            if explains and settings.closed >= 1.0:
                continue
            controls[control] = {
                measure: control_gain(subject, control, position, measure)
                for measure, (position, gain) in gains.items()
                if gain.low > 0
            }
            progress.reach(progress.done + attackers)
        closing = tuple(closing_precision(subject, closed=settings.closed))
        progress.total = progress.done + attackers * len(closing)
        progress.reach(progress.total)
        yield AttributeInference(
            attribute=subject.attribute,
            trained_on=subject.trained_on,
            released=f"the {subject.released_text}",
            posteriors=posteriors,
            gains=gains,
            closing=closing,
            over_people=subject.over_people,
            **controls,
        )

    def findings(
        self, result: AttributeInference, settings: AttributeSettings
    ) -> tuple[Finding, ...]:
        """Return the first significant gain, of accuracy if there is none, then that in bits.

        Accuracy leads, then balanced accuracy: what is revealed about a small group may change no accuracy.
        """
        measure = next((name for name in MEASURES if result.gains[name][1].low > 0), "accuracy")
        position, gain = result.gains[measure]
        bits = result.gains["bits"][1]
        bits_text, low, high = (
            number_text(number, ".3f") for number in (bits.value, bits.low, bits.high)
        )
        return (
            Finding(
                point=_headline(result, measure),
                evidence=f"{_levels(result, measure)} {_of_which(result, measure)}".strip(),
                so_what=_so_what(result, measure),
                to_do=closing_sentence(result, settings),
                caveats=result.over_people,
                estimate=gain,
                baseline=result.posteriors[position].level(
                    measure, result.posteriors[position].before
                ),
                attacker_knows=_knows(result, position),
            ),
            Finding(
                point=f"The release tells {bits_text} bits a person beyond imputation.",
                evidence=f"95% CI {low} to {high} bits.",
                estimate=bits,
            ),
        )

    def checks(
        self, result: AttributeInference, settings: AttributeSettings
    ) -> Mapping[str, Measurement]:
        """Return the gains in accuracy, balanced accuracy and bits."""
        details = {}
        for name, posteriors in result.posteriors.items():
            for key, title in MEASURES.items():
                details[f"{ATTACKER_POSITIONS[name]}, imputation, {title}"] = posteriors.level(
                    key, posteriors.before
                ).value
                details[f"{ATTACKER_POSITIONS[name]}, with the release, {title}"] = (
                    posteriors.level(key, posteriors.after).value
                )
                details[f"{ATTACKER_POSITIONS[name]}, gain in {title}"] = posteriors.gain(key).value
        assumptions = [*result.over_people]
        if len(result.posteriors) > 1:
            assumptions.append(
                "Attackers tried: 2, one from outside, one who knows half of the training records. The interval holds "
                "for them together."
            )
        assumptions.append(closing_sentence(result, settings))
        measurements = {}
        for check, measure in _CHECKED.items():
            position, estimate = result.gains[measure]
            strongest_posteriors = result.posteriors[position]
            if reason := _control_reason(result, measure):
                measurements[check] = not_run(check, reason)
                continue
            control_name = "imputation, without the model"
            if measure == "bits":
                control_name += ", log-loss"
            measurements[check] = Measurement(
                check=check,
                estimate=estimate,
                control=strongest_posteriors.level(measure, strongest_posteriors.before),
                control_name=control_name,
                attacked=f"The {result.attribute} of {result.trained_on}, inferred from {result.released} by "
                f"{_attack_text(strongest_posteriors)}, {ATTACKER_POSITIONS[position]}.",
                knows=_knows(result, position),
                assumptions=tuple(filter(None, (*assumptions, _of_which(result, measure)))),
                details=details | {KNOWN_RECORDS: strongest_posteriors.n_attacker_records},
            )
        return measurements


def _headline(result: AttributeInference, measure: str) -> str:
    """Say what the release adds to a measure, with the baseline in the same sentence."""
    position, gain = result.gains[measure]
    current = result.posteriors[position]
    what = result.attribute
    if not any(posteriors.beaten for posteriors in result.posteriors.values()):
        return f"No attack on what is released beat imputation of the {what} on the attacker's validation records."
    if measure == "bits":
        before = number_text(current.level("bits", current.before).value, ".3f")
        adds = number_text(gain.value, ".3f")
        return f"What is released adds {adds} bits a person to inferring the {what} (log-loss before: {before} bits)."
    if measure == "balanced_accuracy":
        balanced = " in balanced accuracy"
    else:
        balanced = ""
    if gain.low <= 0 <= gain.high:
        doubt = ", which is not statistically significant"
    else:
        doubt = ""
    alone = percent(current.level(measure, current.before))
    return (
        f"What is released adds {points(gain)}{balanced} to inferring the {what}{doubt} "
        f"(features and label alone: {alone})."
    )


def _levels(result: AttributeInference, measure: str) -> str:
    """Say what is reached without and with what is released."""
    position, _ = result.gains[measure]
    current = result.posteriors[position]
    level = "accuracy" if measure == "bits" else measure
    before, after = (
        current.level(level, probability) for probability in (current.before, current.after)
    )
    return (
        f"{MEASURES[level].capitalize()} on {count(current.truth.size)} people: {percent(before)} from features and "
        f"label alone (imputation), {percent(after)} with {result.released} (95% CI {interval(after)})."
    )


_FITTED = "If the model's outputs are replaced by outputs predicted from the features alone, the same attack gains"


def _of_which(result: AttributeInference, measure: str) -> str:
    """Say what outputs predicted from the features would add; "" where no gain is significant."""
    if measure not in result.fitted:
        return ""
    fitted = result.fitted[measure]
    if measure == "bits":
        value, low, high = (
            number_text(number, ".3f") for number in (fitted.value, fitted.low, fitted.high)
        )
        return f"{_FITTED} {value} bits (95% CI {low} to {high})."
    return f"{_FITTED} {_with_limits(fitted)}."


def _so_what(result: AttributeInference, measure: str) -> str:
    _, gain = result.gains[measure]
    if gain.low <= 0:
        return ""
    if reason := _control_reason(result, measure):
        return reason
    if measure == "bits":
        what = result.attribute
        return f"The attacker's probabilities of the {what} become better; of their guesses this was not shown."
    return (
        f"An attacker who sees a person's data and the model's outputs infers their {result.attribute} better than "
        "without the outputs."
    )


def _control_reason(result: AttributeInference, measure: str) -> str:
    """Return why a gain is no measurement: the attack gains from permuted outputs too; "" if it does not."""
    control = result.permuted.get(measure)
    if control is None or control.low <= 0:
        return ""
    if measure == "bits":
        gained = f"{number_text(control.value, '.3f')} bits"
    else:
        gained = points(control)
    return (
        f"The attack gains {gained} in {MEASURES[measure]} from permuted outputs, which tell nothing: its gain is not "
        "the model's."
    )


def _attack_text(current: AttackerPosteriors) -> str:
    """Return what the attack, or those of the two halves, are called."""
    names = [ATTACKS[name] for name in current.attack.split(" and ")]
    if len(names) == 1:
        return names[0]
    return f"{names[0]} in one half, {names[1]} in the other"


def _knows(result: AttributeInference, position: str) -> str:
    if position == "inside":
        known_people = "training records"
    else:
        known_people = "other people"
    return (
        f"Features and label of everybody, {result.released}, and the {result.attribute} of "
        f"{result.posteriors[position].n_attacker_records:,} {known_people}."
    )


def closing_sentence(result: AttributeInference, settings: AttributeSettings) -> str:
    """Say which coarser release to hand out, or that none gains less; "" where no gain is significant.

    The gains of both measures are lower there than now. Whether it passes is for the policy, which allows for all that
    were tried.
    """
    within = f"the whole 95% CIs within {100 * settings.closed:g} points"
    release_gains = [result.gains[measure][1] for measure in ("accuracy", "balanced_accuracy")]
    if not result.closing:
        small = (
            _significant(release_gains)
            and _within(release_gains, settings.closed)
            and settings.closed < 1.0
        )
        average = f"The gains are small, {within}. No coarser release was tried."
        if small:
            return f"{average} Single people may still be exposed."
        return ""
    tried = f"releases tried: {len(result.closing)}, not adjusted for"
    lower = [row for row in result.closing if _lower(row[1:], release_gains)]
    if not lower:
        return f"Nothing narrower that was tried lowers both gains, in accuracy and in balanced accuracy ({tried})."
    name, gain, balanced = lower[-1]
    now = f"accuracy {points(release_gains[0])}, balanced accuracy {points(release_gains[1])}"
    verb = "are"
    if not _within([gain, balanced], settings.closed):
        verb = "are not"
    return (
        f"Release only {name}. The gains are then: accuracy {_with_limits(gain)}, balanced accuracy "
        f"{_with_limits(balanced)}; now: {now}. The whole 95% CIs {verb} within {100 * settings.closed:g} points "
        f"({tried})."
    )


def _with_limits(gain: Estimate) -> str:
    return f"{points(gain)} (95% CI {point_interval(gain)})"


STUDY = AttributeStudy()
