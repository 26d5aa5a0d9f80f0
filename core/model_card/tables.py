"""What a model card reveals, as tables: page, terminal and files show these numbers."""

from __future__ import annotations

from core.estimates import Estimate
from core.model_card.leakage import ReleaseStudy
from core.model_card.pinned_people import Advice, Pinned
from core.model_card.settings import precision_text
from core.quantities import Quantity, Row, Tables, change, share

ATTACKS = "Attacks on this card"
PUBLISHED, FIGURES = "Published numbers", "Every figure"
DRAWN = "The numbers with noise drawn once, not for publishing"
DETAILS = (PUBLISHED, DRAWN, "People with the same label and predictions", FIGURES)
"""Titles of the long tables."""


def tables(study: ReleaseStudy, advice: Advice | None = None) -> Tables:
    """Return accuracies and bits, what the disclosed share, other precisions, and every number published and found."""
    alike = [{"people alike": size, "disclosed among them": n} for size, n in study.in_common.cell_sizes]
    return {
        "Average accuracy": accuracy_rows(study),
        ATTACKS: attack_rows(study),
        "Bits": bits_rows(study),
        "What disclosed people have in common": common_rows(study),
        "Precisions tried": [] if advice is None else precision_rows(advice),
        DETAILS[2]: alike if study.pinned.count else [],
        PUBLISHED if study.published.noise is None else DRAWN: [one.to_dict() for one in study.published.numbers],
        FIGURES: study.to_frame().to_dict("records"),
    }


def accuracy_rows(study: ReleaseStudy) -> list[Row]:
    """Return the accuracy of inference before and after, over all people and balanced."""
    found = study.measured
    rows = (
        ("over all", found.accuracy_before, found.accuracy_after, found.accuracy_gain, found.majority),
        ("balanced", found.balanced_before, found.balanced_after, found.balanced_gain, found.majority_balanced),
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


def attack_rows(study: ReleaseStudy) -> list[Row]:
    """Return what each attack infers from the same numbers, beside imputation and what no attacker can exceed."""
    found, other = study.measured, study.desia
    rows: list[Row] = [_attack_row("imputation, no card", found.accuracy_before)]
    if study.status != "infeasible":
        rows.append(_attack_row("information projection", found.accuracy_after, found.accuracy_gain, study.pinned))
    if other is not None:
        rows.append(_attack_row("DeSIA", other.accuracy, other.gain, other.pinned, other.proved))
    if study.ceiling is not None:
        rows.append(_attack_row("no attacker exceeds, if the prior is right", study.ceiling.accuracy))
    return rows


def _attack_row(
    attack: str,
    accuracy: Estimate | float,
    gain: Estimate | None = None,
    found: Pinned | None = None,
    proved: int | None = None,
) -> Row:
    return {
        "attack": attack,
        "accuracy": share(accuracy),
        "gain": change(gain),
        "near certain": None if found is None else found.count,
        "of these correct": share(None if found is None or not found.count else found.right),
        "proved": proved,
    }


def bits_rows(study: ReleaseStudy) -> list[Row]:
    """Return the information gained, measured and expected, beside what there is to know."""
    meter = study.meter
    numbers: dict[str, Estimate | float] = {
        "measured": study.measured.bits,
        "expected": study.prediction.bits,
        "all numbers together": meter.joint_bits,
        "of that, person by person": meter.person_bits,
        "uncertainty before publication": meter.prior_bits,
    }
    return [{"information": name, "amount": Quantity(number, "bits")} for name, number in numbers.items()]


def common_rows(study: ReleaseStudy) -> list[Row]:
    """Return the values that the disclosed have more often than the rest."""
    return [
        {
            "column": value.column,
            "value": value.value,
            "among the disclosed": share(value.among_pinned),
            "among the rest": share(value.among_rest),
        }
        for value in study.in_common.values
    ]


def precision_rows(advice: Advice) -> list[Row]:
    """Return whom each precision discloses."""
    return [
        {
            "precision": precision_text(row.decimals, row.epsilon),
            "disclosed": row.pinned if row.known else "not known",
            "worst of random draws": None if row.epsilon is None else row.draws,
            "expected gain": Quantity(row.df_bits, "bits"),
        }
        for row in advice.tried
    ]
