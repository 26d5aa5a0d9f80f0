"""What a model card reveals, in sentences and tables: every reader of the study shows these and no others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...stats.estimates import (
    Estimate,
    Quantity,
    Row,
    at_most,
    change,
    change_decimals,
    count,
    number_text,
    percent,
    point_interval,
    points,
    share,
)
from ..study import Finding
from .card_result import EVERYBODY_ELSE, ModelCardResult, ReleasedPeople
from .equations import DISTANCE_MEDIAN, DISTANCE_WORST
from .pinned_people import DRAWS, SETTLED, UNSURE, Advice, Pinned, cells_of
from .release import precision_text

KNOWS = "features, label and predictions of everybody, and the published numbers"

DISCLOSED = (
    f"Attribute disclosed: the probability of one group is {UNSURE[0]:.0%} to {UNSURE[1]:.0%} before publication, and "
    f"above {SETTLED[1]:.1%} or below {SETTLED[0]:.1%} after."
)
"""What a near-certain inference is."""

APPROXIMATE = (
    "Probabilities are approximate (information projection). Against exact enumeration for 6 to 12 people the mean "
    f"error is {100 * DISTANCE_MEDIAN:.0f} points in the median release, {100 * DISTANCE_WORST:.0f} in the worst."
)
"""How far the projection is from the exact posterior."""


def headline(study: ModelCardResult) -> Finding:
    """Say whose attribute the card discloses, and what to publish instead once that is known."""
    finding = disclosure(study)
    if study.advice is None or not study.most_pinned or not finding.to_do:
        return finding
    return replace(finding, to_do=advice(study.advice, study).text)


def disclosure(study: ModelCardResult) -> Finding:
    """Say whose attribute the card discloses."""
    n = study.pinned.count
    worst = study.most_pinned
    several = study.worst
    attribute = study.people.attribute
    numbers = f"{_precision(study)} (models: {study.n_models})"
    correct = _correct(study)
    if study.status == "infeasible":
        point = f"{numbers} contradict what the attacker knows for certain: what they reveal is not known."
    elif several is not None and not worst and not several.converged:
        point = f"{numbers}: near-certain inference could not be computed in all of {several.draws} draws of the noise."
    else:
        point = f"{numbers} make the {attribute} near certain for {n:,} of {study.n:,} people"
        if correct:
            point += f" ({correct})"
        point += "."
        if several is not None and (worst > n or not n):
            point += f" In the worst of {several.draws} draws of the noise: {worst:,}."
    exposed = worst < 0.05 * study.n and study.measured.accuracy_gain.high < 0.05
    if worst:
        so_what = f"Single people are inferred with near certainty.{' The average hardly moves.' * exposed}"
        to_do = f"{_less(study)}."
    else:
        so_what = "This card exposes 0 people; a card of more models may expose some."
        if study.published.noise is None:
            what = "these numbers"
        else:
            what = "a draw of this noise with a secret seed"
        to_do = f"Publish {what} at this precision only. Estimate again before anything is added."
    if study.status == "infeasible" or (several is not None and not several.converged):
        so_what = to_do = ""
    caveats = (
        study.reason and f"Not reliable: {study.reason}",
        left_out(study.people),
        APPROXIMATE,
    )
    evidence = ""
    if study.status != "infeasible":
        evidence = average_accuracy(study)
    return Finding(
        point=point,
        evidence=evidence,
        so_what=so_what,
        to_do=to_do,
        caveats=tuple(filter(None, caveats)),
        estimate=study.measured.bits,
        baseline=study.measured.majority,
        attacker_knows=KNOWS,
    )


def _less(study: ModelCardResult) -> str:
    """Say what reveals less than this card."""
    if study.settings.epsilon is not None:
        return f"Publish with a smaller ε, or {_fewer(study)}"
    if study.settings.decimals in (0, 1):
        return f"Add DP noise, or publish {_fewer(study)}"
    return "Publish fewer decimals or add DP noise"


def _fewer(study: ModelCardResult) -> str:
    """Say what can be left out of this card."""
    if study.n_models > 1:
        return "fewer models"
    if study.n_numbers > 1:
        return "fewer numbers"
    return "no number"


def near_certain(study: ModelCardResult) -> Finding:
    """Say how many of those the attacker was unsure about are disclosed, as what, and what they share."""
    disclosed = study.pinned
    worst = study.worst
    if study.status == "infeasible":
        return Finding(
            point="Near-certain inference: not known, because no posterior agrees with the numbers."
        )
    if worst is None:
        draw_text = ""
    else:
        draw_text = " in this draw of the noise"
    correct = _correct(study)
    evidence = [f"{correct.capitalize()}."] if correct else []
    if most := settled_as_most(study):
        evidence.append(
            f"Inferred of all: “{most[0]}”, as {percent(most[1], decimals=0)} of people are."
        )
    if worst is not None and (worst.converged or study.most_pinned):
        evidence.append(f"In the worst of {worst.draws} draws: {study.most_pinned:,}.")
    elif worst is not None:
        evidence.append(
            f"Not known in all of {worst.draws} draws: in some no posterior agrees with the numbers."
        )
    so_what = ""
    if disclosed.count:
        cells, other_cells = cells_of(disclosed, study.published.release)
        rest = ""
        if other_cells.size:
            rest = f", anybody else with {np.median(other_cells) - 1:,.0f}"
        shared_with = f"{np.median(cells) - 1:,.0f} others{rest}"
        so_what = f"A disclosed person shares label and predictions with {shared_with} (medians)."
        if not study.common:
            so_what += " No other value is clearly more frequent among them."
    return Finding(
        point=f"Near-certain inference{draw_text}: {count(disclosed.count)} of {count(disclosed.n_unsure)} people "
        f"whose {study.people.attribute} was uncertain.",
        evidence=" ".join(evidence),
        so_what=so_what,
        caveats=(DISCLOSED,),
        estimate=disclosed.right,
        attacker_knows=KNOWS,
    )


def information_gain(study: ModelCardResult) -> Finding:
    """Say what the attacker gained in bits, and whether chance alone explains the difference to what was expected."""
    bits = study.measured.bits
    prediction = study.prediction
    expected = bits_text(prediction.bits.value)
    if study.status == "infeasible":
        return Finding(point=f"Expected information gain over imputation: {expected} bits.")
    if math.isnan(bits.low):
        interval = ""
    else:
        interval = f"95% CI: {bits_text(bits.low)} to {bits_text(bits.high)}; "
    if prediction.draws:
        how = f"The expected gain is the mean of {prediction.draws} simulated cards."
    else:
        how = "The expected gain follows from a formula, because hardly anybody's attribute becomes certain."
    evidence = so_what = ""
    if study.status == "converged" and not math.isnan(bits.low):
        if study.settings.epsilon is not None:
            noise = " and the noise"
        else:
            noise = ""
        evidence = (
            f"With the attribute{noise} drawn from what the attacker believes, 95% of such cards give "
            f"{bits_text(prediction.low)} to {bits_text(prediction.high)} bits."
        )
        added, low, high = (
            bits_text(at - prediction.bits.value) for at in (bits.value, bits.low, bits.high)
        )
        so_what = {
            0: "Chance explains the difference between measured and expected gain.",
            1: "More was gained than chance explains: the attacker's prior is wrong here, and the numbers correct it. "
            f"That adds {added} bits (95% CI: {low} to {high}).",
            -1: "Less was gained than chance explains: the numbers came out closer to what the attacker expected.",
        }[study.unpredicted]
    return Finding(
        point=(
            f"Information gain over imputation: {bits_text(bits.value)} bits in total ({interval}expected: {expected})."
        ),
        evidence=evidence,
        so_what=so_what,
        caveats=(
            f"{how} It needs no true attributes.",
            "It assumes that the attacker's prior is calibrated. If not, the numbers also correct the prior.",
        ),
        estimate=bits,
        attacker_knows=KNOWS,
    )


def uncertainty_resolved(study: ModelCardResult) -> Finding:
    """Say how much of the remaining uncertainty the numbers are expected to resolve, for everybody together."""
    meter = study.meter
    if meter.share >= 0.01:
        share = percent(meter.share, decimals=0)
    else:
        share = "less than 1%"
    point = f"Expected share of the remaining uncertainty (entropy) resolved: {share}."
    if meter.share >= 1.0:
        point = "The numbers could determine everybody's attribute."
        limited = study.ceiling is not None and study.ceiling < SETTLED[1]
        if study.pinned.count < study.pinned.n_unsure or limited:
            point = "The numbers hold as many bits as are uncertain, but not everybody's attribute is near certain."
    if not meter.prior_bits:
        point = "There was no uncertainty to resolve."
    return Finding(
        point=point,
        evidence=f"Jointly the numbers hold {bits_text(meter.joint_bits)} of {bits_text(meter.prior_bits)} bits; at a "
        "share of 1 they could determine everybody's attribute. Person by person an attacker gains less.",
    )


def average_accuracy(study: ModelCardResult) -> str:
    """Say what happens to the accuracy over all people, beside always guessing the larger group."""
    measured = study.measured
    people = study.people
    gain = measured.accuracy_gain
    decimals = change_decimals(measured.accuracy_before, measured.accuracy_after, gain)
    before, after = (
        percent(level, decimals=decimals)
        for level in (measured.accuracy_before, measured.accuracy_after)
    )
    who, guess = (
        ("always", people.group)
        if 2 * int(people.sensitive.sum()) > people.n
        else ("always", people.other_group)
    )
    if guess == EVERYBODY_ELSE:
        who = "never"
        guess = people.group
    return (
        f"Accuracy over all people: {before} before, {after} after "
        f"({points(gain, decimals=decimals)}; 95% CI: {point_interval(gain)}). "
        f"Majority-class baseline ({who} guess “{guess}”): {percent(measured.majority)}.{_ceiling(study)}"
    )


def _ceiling(study: ModelCardResult) -> str:
    """Say what no attacker with this prior can exceed, where that is known; all is conditional on the prior."""
    epsilon = study.published.release.epsilon
    if study.ceiling is None:
        return ""
    if epsilon is None:
        how = "exact posterior"
    else:
        how = f"ε = {epsilon:g}, mean over the noise"
    return f" {at_most(study.ceiling, how)}"


def noise_seed(study: ModelCardResult) -> Finding:
    """Say that noise drawn from a seed hides nothing."""
    seed = study.settings.seed
    return Finding(
        point=f"The published numbers have DP noise drawn once, from seed {seed}.",
        so_what="Anybody can draw the same noise from the seed and remove it.",
        to_do="Do not publish these numbers; publish a draw with a secret seed.",
    )


def advice(advised: Advice, study: ModelCardResult) -> Finding:
    """Say which precision discloses nobody."""
    attribute = study.people.attribute
    caveats = ["Valid for these people and these models only."]
    if advised.decimals is None:
        rounding = ""
    else:
        rounding = f"at most {precision_text(advised.decimals, None)}"
    if advised.epsilon is None:
        noise = ""
    else:
        noise = f"DP noise with ε ≤ {advised.epsilon:g}"
    noisy = any(row.epsilon is not None for row in advised.tried)
    precision = " or ".join(filter(None, (rounding, noise)))
    point = f"Publish {precision}: the {attribute} is then disclosed here for 0 people."
    if advised.exact:
        point = f"Even exact numbers disclose the {attribute} here for 0 people."
        if advised.misled:
            caveats.append(
                "With noise some draws disclose people: noise also misleads the attacker."
            )
    elif not rounding and not noise:
        if noisy:
            reason = "neither one decimal nor the strongest noise tried"
        else:
            reason = "not even one decimal"
        point = f"Publish {_fewer(study)}: {reason} prevents every disclosure."
    elif not rounding:
        caveats.append("Rounding to one decimal is not enough.")
    if noise and not advised.exact:
        caveats.append(f"Noise is advised only if {DRAWS} draws disclose 0 people.")
    elif not noisy and not advised.exact:
        caveats.append("DP noise was not tried, because it comes with group sizes.")
    elif rounding and not advised.exact:
        caveats.append("No noise tried is enough.")
    return Finding(point=point, caveats=tuple(caveats))


def findings(study: ModelCardResult) -> Iterator[Finding]:
    """Yield everything that was found, the headline first; what to publish comes once."""
    opening = headline(study)
    yield opening
    yield near_certain(study)
    yield information_gain(study)
    yield uncertainty_resolved(study)
    if study.published.noise is not None:
        yield noise_seed(study)
    if study.advice is not None:
        advised = advice(study.advice, study)
        if advised.text != opening.to_do:
            yield advised


def left_out(people: ReleasedPeople) -> str:
    """Say which records of the table nobody looks at, and why; empty where there are none."""
    if people.left_out:
        return f"Records of the table: {people.rows_read:,}. {' '.join(people.left_out)}"
    return ""


def settled_as_most(study: ModelCardResult) -> tuple[str, float] | None:
    """Return the group that everybody disclosed is inferred as, and its share, where most people are in it."""
    inferred = study.pinned.inferred
    people = study.people
    if not inferred.size or inferred.min() != inferred.max():
        return None
    share = float((people.sensitive == inferred[0]).mean())
    if share > 0.5:
        if inferred[0]:
            return people.group, share
        return people.other_group, share
    return None


def bits_text(bits: float) -> str:
    """Write a number of bits with the digits it deserves, and a true minus."""
    if abs(bits) >= 99.95:
        return number_text(bits, ",.0f")
    return number_text(bits, ".1f")


def _precision(study: ModelCardResult) -> str:
    settings = study.settings
    if settings.epsilon is not None:
        return f"Fairness numbers with DP noise (ε = {settings.epsilon:g})"
    if settings.decimals is None:
        return "Exact fairness numbers"
    return f"Fairness numbers rounded to {settings.precision}"


def _correct(study: ModelCardResult) -> str:
    """Say how many of the disclosed are inferred correctly; empty where that is not known."""
    n = study.pinned.count
    share = study.pinned.right
    if n and share is not None:
        return f"correct: {round(share.value * n):,}"
    return ""


# Tables

ATTACKS = "Attacks on this card"
PUBLISHED = "Published numbers"
DRAWN = "The numbers with noise drawn once, not for publishing"


def tables(study: ModelCardResult) -> dict[str, list[Row]]:
    """Return accuracies and bits, what the disclosed share, other precisions, and every number published."""
    sizes, counts = np.unique(
        cells_of(study.pinned, study.published.release)[0], return_counts=True
    )
    cell_rows: list[Row] = [
        {"people alike": size, "disclosed among them": n}
        for size, n in zip(sizes.tolist(), counts.tolist(), strict=True)
    ]
    numbers = PUBLISHED if study.published.noise is None else DRAWN
    by_number: list[Row] = []
    if study.fewer:
        by_number = model_rows(study)
    by_precision: list[Row] = []
    if study.advice is not None:
        by_precision = precision_rows(study.advice)
    rows: dict[str, list[Row]] = {
        "Average accuracy with the card": accuracy_rows(study),
        ATTACKS: attack_rows(study),
        "Bits of the card": bits_rows(study),
        "By the number of models": by_number,
        "What disclosed people have in common": common_rows(study),
        "Precisions tried": by_precision,
        "People with the same label and predictions": cell_rows,
        numbers: [number.to_dict() for number in study.published.numbers],
    }
    return {title: title_rows for title, title_rows in rows.items() if title_rows}


def accuracy_rows(study: ModelCardResult) -> list[Row]:
    """Return the accuracy of inference before and after, over all people and balanced."""
    measured = study.measured
    rows = (
        (
            "over all",
            measured.accuracy_before,
            measured.accuracy_after,
            measured.accuracy_gain,
            measured.majority,
        ),
        (
            "balanced",
            measured.balanced_before,
            measured.balanced_after,
            measured.balanced_gain,
            measured.majority_balanced,
        ),
    )
    return [
        {
            "accuracy": name,
            "before": share(before),
            "after": share(after),
            "gain": change(gain),
            "majority-class baseline": share(majority),
        }
        for name, before, after, gain, majority in rows
    ]


def attack_rows(study: ModelCardResult) -> list[Row]:
    """Return what the projection infers, beside imputation and what no attacker can exceed."""
    measured = study.measured
    rows: list[Row] = [_attack_row("imputation, no card", measured.accuracy_before)]
    if study.status != "infeasible":
        rows.append(
            _attack_row(
                "information projection",
                measured.accuracy_after,
                measured.accuracy_gain,
                study.pinned,
            )
        )
    if study.ceiling is not None:
        rows.append(_attack_row("no attacker exceeds, if the prior is right", study.ceiling))
    return rows


def _attack_row(
    attack: str,
    accuracy: Estimate | float,
    gain: Estimate | None = None,
    disclosed: Pinned | None = None,
) -> Row:
    n_disclosed = None
    right = None
    if disclosed is not None:
        n_disclosed = disclosed.count
        if disclosed.count:
            right = disclosed.right
    return {
        "attack": attack,
        "accuracy": share(accuracy),
        "gain": change(gain),
        "near certain": n_disclosed,
        "of these correct": share(right),
    }


def bits_rows(study: ModelCardResult) -> list[Row]:
    """Return the information gained, measured and expected, beside what there is to know."""
    meter = study.meter
    numbers: dict[str, Estimate | float] = {
        "measured": study.measured.bits,
        "expected": study.prediction.bits,
        "all numbers together": meter.joint_bits,
        "of that, person by person": meter.person_bits,
        "uncertainty before publication": meter.prior_bits,
    }
    return [
        {"information": name, "amount": Quantity(number, "bits")}
        for name, number in numbers.items()
    ]


def model_rows(study: ModelCardResult) -> list[Row]:
    """Return how many bits the first few models give, and how many people they disclose."""
    return [
        {
            "models": card.n_models,
            "numbers": card.n_numbers,
            "measured": Quantity(card.measured.bits, "bits"),
            "expected": Quantity(card.prediction.bits.value, "bits"),
            "share of uncertainty": card.meter.share,
            "disclosed": card.pinned.count,
        }
        for card in (*study.fewer, study)
    ]


def common_rows(study: ModelCardResult) -> list[Row]:
    """Return the values that the disclosed have more often than the rest."""
    return [
        {
            "column": value.column,
            "value": value.value,
            "among the disclosed": share(value.among_pinned),
            "among the rest": share(value.among_rest),
        }
        for value in study.common
    ]


def precision_rows(advice: Advice) -> list[Row]:
    """Return whom each precision discloses."""
    rows: list[Row] = []
    for row in advice.tried:
        disclosed: int | str = "not known"
        if row.converged:
            disclosed = row.pinned
        draws = None
        if row.epsilon is not None:
            draws = row.draws
        rows.append(
            {
                "precision": precision_text(row.decimals, row.epsilon),
                "disclosed, most of all draws": disclosed,
                "draws of the noise": draws,
                "expected gain": Quantity(row.df_bits, "bits"),
            }
        )
    return rows
