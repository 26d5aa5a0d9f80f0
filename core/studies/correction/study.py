"""The study of reconstruction correction: what attackers gain from a disclosed tolerance (Ferry et al. 2023).

What attackers know of the model's fairness holds. One who believes a false tolerance is misled, and that they gain
nothing says nothing about the release: where the disclosed tolerance is below the model's unfairness on these records,
they use the smallest that is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from ...base.errors import InputError
from ...base.serialize import fingerprint
from ...base.validation import child_generator
from ...datasets.build import build_dataset
from ...datasets.catalog import demo_table
from ...datasets.dataset import AuditDataset
from ...datasets.splits import split
from ...models import GIVEN_PREDICTIONS
from ...stats.estimates import Estimate, estimate_columns
from ...stats.fairness import METRIC_TITLES
from ..study import (
    KNOWN_RECORDS,
    Check,
    Finding,
    Measurement,
    Plant,
    ReportProgress,
    Row,
    Study,
    draw_people,
    not_run,
    posterior,
    subject_of,
)
from ..subject import AuditConfig, Progress, Subject, train_model
from . import findings
from .attribute_attacks import ATTACKERS, KINDS, CorrectionResult, attack_saying, attacks_of
from .attribute_attacks import CorrectionSettings as CorrectionSettings
from .attribution import STEP_TITLES
from .disclosure import Disclosure, gain_of_best
from .exact import true_tolerance
from .numbers import NUMBERS, number_of

DECLARED = (
    Check(
        name="correction_gain",
        title="{attribute} inferred from the disclosed fairness constraint: gain",
        unit="points",
        definition="Accuracy of the best attacker after reconstruction correction with the disclosed tolerance (Ferry "
        "et al. 2023) minus that of the best attacker before disclosure. The majority-class baseline counts before and "
        "after.",
    ),
)

TOLERANCES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
"""Tolerances of the table of corrections, besides the disclosed one."""

_MANY = (0.01, 0.05, 0.1)
"""The same with more than two groups, where each takes a program of its own."""

_MAJORITY = "the majority-class baseline"


def applied_tolerance(result: CorrectionResult) -> float:
    """Return the disclosed tolerance, raised in steps of 0.001 until it holds for the attacked records."""
    return true_tolerance(result.config.tolerance, result.model.unfairness_train)


def _best_text(first: str, last: str) -> str:
    """Write who is the best attacker before the disclosure, and after it."""
    if first == last:
        return f"The best before and after disclosure is {first}."
    return f"The best before disclosure is {first}, after it {last}."


def correction_gain(result: CorrectionResult) -> Measurement:
    """Return what a true tolerance adds to the best attacker without it.

    See `core.studies.correction.disclosure.gain_of_best`.
    """
    subject = result.subject
    config = result.config
    disclosures = {kind: _disclosed(result, kind, None) for kind in ATTACKERS}
    if reason := _unsolved(disclosures):
        return not_run("correction_gain", reason)
    now = next(iter(disclosures.values()))
    before, after = (_accuracies(disclosures, when) for when in ("before", "after"))
    first, last = (max(reached, key=lambda who: reached[who].value) for reached in (before, after))
    measured = {
        f"{ATTACKERS[kind]}, {when}": getattr(disclosure, when).value
        for kind, disclosure in disclosures.items()
        for when in ("before", "after", "gain")
    }
    return Measurement(
        check="correction_gain",
        estimate=gain_of_best(
            {kind: result.attack(kind)[0] for kind in disclosures},
            disclosures,
            seed=config.seed,
        ),
        control=before[first],
        control_name="the best attacker before disclosure",
        attacked=_attacked(result, now, _best_text(first, last)),
        knows=(
            f"Features, label and prediction of everybody, the {subject.attribute} of "
            f"{subject.splits.attacker_rows.size:,} "
            f"other people, and the disclosed constraint on {METRIC_TITLES[config.metric].lower()} "
            f"within {now.used:g}."
        ),
        assumptions=(
            *subject.over_people,
            _truth(result, now),
            "The interval holds for the attackers tried together.",
        ),
        details={
            **measured,
            "majority-class baseline": now.majority.value,
            "disclosed tolerance used": now.used,
            "unfairness on these records": now.achieved,
            "best before": before[first].value,
            "best after": after[last].value,
            "disclosed tolerance": config.tolerance,
            KNOWN_RECORDS: int(subject.splits.attacker_rows.size),
            "difference between groups on these records": subject.model.difference_train,
        },
    )


def _unsolved(disclosures: Mapping[str, Disclosure]) -> str:
    """Return why the best attacker is unknown; "" where every correction was solved."""
    unsolved = [kind for kind, disclosure in disclosures.items() if disclosure.after is None]
    if not unsolved:
        return ""
    if len(unsolved) < len(disclosures):
        return f"The correction of {ATTACKERS[unsolved[0]]} was not solved, so the best is unknown."
    now = disclosures[unsolved[0]]
    return f"No correction with tolerance {now.used:g} was found: the solver says {now.certificate.status}."


def _accuracies(disclosures: Mapping[str, Disclosure], when: str) -> dict[str, Estimate]:
    """Return what attackers and the majority-class baseline reach "before" or "after" the disclosure."""
    reached = {
        ATTACKERS[kind]: getattr(disclosure, when) for kind, disclosure in disclosures.items()
    }
    return {**reached, _MAJORITY: next(iter(disclosures.values())).majority}


def _attacked(result: CorrectionResult, now: Disclosure, best: str) -> str:
    """Return who was attacked by whom, after the tolerance where that is false."""
    subject = result.subject
    attacked = (
        f"The {subject.attribute} of {subject.trained_on}, by {len(ATTACKERS)} "
        f"attackers and the majority-class baseline. {best}"
    )
    return f"{findings.false_promise(result.config.tolerance, now.achieved)} {attacked}".lstrip()


def _truth(result: CorrectionResult, now: Disclosure) -> str:
    """Return whether the disclosed tolerance holds, and what was used instead where it does not."""
    truth = findings.truth_of(now, result.config.tolerance, result.model.difference_train)
    says = f"{truth.point} {truth.evidence}"
    if not truth.so_what:
        return says
    instead = f"So the attackers used {now.used:g}, the smallest that holds in steps of 0.001."
    return f"{says} {truth.so_what} {instead}"


def attribution_rows(result: CorrectionResult) -> Iterator[Row]:
    """Yield what each piece of knowledge adds, for the published attack and the imputation baseline."""
    for name in KINDS:
        for step in result.attribution(name, applied_tolerance(result)).steps:
            yield {
                "attacker": f"The {name} attacker",
                "step": STEP_TITLES[step.step],
                **estimate_columns("accuracy", step.values["accuracy"]),
                **estimate_columns("balanced accuracy", step.values["balanced_accuracy"]),
                **estimate_columns("change", step.changes.get("accuracy")),
            }


def _disclosed(result: CorrectionResult, kind: str, tolerance: float | None) -> Disclosure:
    """Return what one attacker gains from a tolerance; from the disclosed one, raised until it holds, when left out."""
    if tolerance is None:
        disclosed = result.config.tolerance
    else:
        disclosed = tolerance
    return result.disclose(disclosed, adversary=kind, until_true=tolerance is None)


def _tolerance_rows(result: CorrectionResult, tolerance: float | None) -> Iterator[Row]:
    """Yield what every attacker gains from a tolerance as it is; from the disclosed one, raised, when left out."""
    for kind, title in ATTACKERS.items():
        disclosure = _disclosed(result, kind, tolerance)
        if disclosure.is_true:
            is_true = "yes"
        else:
            is_true = "no"
        yield {
            "tolerance": disclosure.used,
            "attacker": title,
            "true": is_true,
            **_corrected_columns(disclosure),
        }


def _corrected_columns(disclosure: Disclosure) -> Row:
    """Return the accuracy before and after a correction, and the gain."""
    return {
        **estimate_columns("before", disclosure.before),
        **estimate_columns("after", disclosure.after),
        **estimate_columns("gain", disclosure.gain),
    }


def _published_rows(result: CorrectionResult, settings: CorrectionSettings) -> Iterator[Row]:
    """Yield the corrections of the two published attackers by the paper's protocol, from the disclosed tolerance."""
    tolerance = settings.tolerance
    if tolerance is None:
        tolerance = findings.first_tolerance(result)
    for kind in KINDS["published"]:
        now = result.disclose(tolerance, adversary=kind, cost=settings.cost, as_published=True)
        yield {
            "disclosed tolerance": now.disclosed_tolerance,
            "tolerance": now.used,
            "attacker": ATTACKERS[kind],
            **_corrected_columns(now),
            "exponent": now.exponent,
        }


_SETS = (400, 400, 100)
"""Training, attack and test records of the people the study is tried on."""


def _people(seed: int, misled: bool) -> tuple[Subject, CorrectionSettings]:
    """Return people, predictions by chance, and attackers who have done their guessing.

    The misled ones take some people for group 1 because they were accepted, and are unsure of them. The model is fair,
    so an attacker who knows this can find them all: about a quarter of the people.
    """
    rng = child_generator(seed, f"correction, misled: {misled}")
    n = sum(_SETS)
    people = draw_people(n, rng)
    predictions = (rng.random(n) < 0.5).astype(np.uint8)
    subject = subject_of(people, predictions, _SETS, seed=seed)
    for kind in ATTACKERS:
        p = posterior(people, noise=0.3 * rng.standard_normal(n))
        if misled:
            p = np.where(people.sensitive == 1, 0.9, 0.1)
            wrong = (predictions != people.sensitive) & (
                rng.random(n) < 0.5
            )  # half of the unexpected answers mislead
            p = np.where(wrong, np.where(predictions == 1, 0.6, 0.4), p)
        probabilities = np.column_stack([1.0 - p, p])
        rows = subject.splits.train, subject.splits.validation
        set_probabilities = probabilities[rows[0]], probabilities[rows[1]]
        subject.once(
            f"attack {kind} held_out",
            partial(
                attack_saying,
                set_probabilities,
                set_probabilities,
                rows,
                subject.dataset,
                predictions,
            ),
        )
    return subject, CorrectionSettings()


class CorrectionStudy(Study[CorrectionSettings, CorrectionResult]):
    """What is gained from a disclosed fairness constraint, by attackers who guess well or badly without it."""

    name = "correction"
    title = "Reconstruction correction"
    settings = CorrectionSettings
    declared = DECLARED
    numbers = NUMBERS

    plants = (
        Plant(
            attack="Attribute inferred from the disclosed constraint",
            explanation="Null: the constraint is about shuffled answers. Planted: a fair model, and attackers who "
            "take accepted people for one group.",
            make=_people,
            limits={"correction_gain": 0.0},
            share=0.5,
        ),
    )

    def steps(self, subject: Subject, settings: CorrectionSettings) -> int:
        """Return the number of attackers."""
        return len(attacks_of(as_published=settings.as_published))

    def run(
        self, subject: Subject, settings: CorrectionSettings, report: ReportProgress | None = None
    ) -> Iterator[CorrectionResult]:
        """Train every attacker; under the paper's protocol too where the settings ask for it."""
        yield CorrectionResult.of(subject, as_published=settings.as_published, report=report)

    def findings(
        self, result: CorrectionResult, settings: CorrectionSettings
    ) -> tuple[Finding, ...]:
        """Return what disclosure changes, the constraint's part in it, its truth, the proof, two controls, the noise.

        The last is there only where the model was trained with noise.
        """
        adversary = settings.adversary
        published = settings.as_published
        attacker = {"adversary": adversary, "cost": settings.cost, "as_published": published}
        if settings.tolerance is None:
            tolerance = findings.first_tolerance(result)
        else:
            tolerance = settings.tolerance
        now = result.disclose(tolerance, **attacker)  # type: ignore[arg-type]
        control = result.disclose(now.used, permuted=True, **attacker)  # type: ignore[arg-type]
        effect = findings.constraint_effect(result.explained(adversary, now.used))
        if published:
            effect = replace(effect, evidence=f"{effect.evidence} By the {findings.HELD_OUT}.")
        noise = findings.privacy_noise(result, now)
        noise_findings: tuple[Finding, ...] = ()
        if noise is not None:
            noise_findings = (noise,)
        return (
            findings.headline(result, now, adversary=adversary, as_published=published),
            effect,
            findings.truth_of(now, now.used, result.model.difference_train),
            findings.certificate(now),
            findings.permutation(control),
            findings.held_out(result, adversary, published),
            *noise_findings,
        )

    def checks(
        self, result: CorrectionResult, settings: CorrectionSettings
    ) -> Mapping[str, Measurement]:
        """Return the gain of the best attacker from a true tolerance."""
        return {
            "correction_gain": result.subject.once(
                "correction gain", lambda: correction_gain(result)
            )
        }

    def number(
        self, name: str, result: CorrectionResult, settings: CorrectionSettings
    ) -> Measurement:
        """Return a number of the attacker that the settings name."""
        return number_of(name, result, settings)

    def tables(
        self, result: CorrectionResult, settings: CorrectionSettings
    ) -> Mapping[str, tuple[Row, ...]]:
        """Return the steps of the attribution, and every attacker's corrections.

        They are by the held-out protocol. Where the paper's is asked for, their titles say so, and its own corrections
        come first.
        """
        plan = result.config.tolerance
        if len(result.group_names) == 2:
            tolerances = sorted({*TOLERANCES, plan})
        else:
            tolerances = sorted({*_MANY, plan})
        holds = applied_tolerance(result) == plan
        tolerance_rows: tuple[Row, ...] = ()
        if not holds:
            tolerance_rows = tuple(_tolerance_rows(result, None))
        held_out: dict[str, tuple[Row, ...]] = {
            "Where the leak comes from": tuple(attribution_rows(result)),
            "Corrections over tolerances": tuple(
                row for tolerance in tolerances for row in _tolerance_rows(result, tolerance)
            ),
            "Correction with a true tolerance": tolerance_rows,
        }
        if not settings.as_published:
            return held_out
        titled = {f"{title} ({findings.HELD_OUT})": rows for title, rows in held_out.items()}
        return {
            "Correction by the paper's protocol": tuple(_published_rows(result, settings)),
            **titled,
        }


STUDY = CorrectionStudy()


def audit_key(config: AuditConfig, dataset: AuditDataset) -> str:
    """Return the fingerprint of an audit: data, settings, version."""
    return fingerprint("audit", dataset.fingerprint, config)


def run(
    config: AuditConfig,
    report: ReportProgress | None = None,
    *,
    dataset: AuditDataset | None = None,
) -> CorrectionResult:
    """Train a model and attack it under both protocols; the data may be left out only for the built-in demo.

    `report` is called with (steps done, steps in all); it may raise `core.base.errors.Cancelled` to stop. Raises
    `InputError` if the configuration or the data break a rule.
    """
    progress = Progress(len(attacks_of(as_published=True)) + 2, report)
    if dataset is None:
        if config.dataset != "demo":
            raise InputError(
                f"The dataset {config.dataset!r} must be passed in; only 'demo' is built in."
            )
        table = demo_table()
        dataset = build_dataset(table, config.roles or table.roles[0])
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    progress.tick()
    subject = Subject(
        config,
        dataset,
        splits,
        train_model(config, dataset, splits),
        trainable=config.method != GIVEN_PREDICTIONS,
    )
    progress.tick()
    return CorrectionResult.of(
        subject, as_published=True, report=lambda done, total: progress.tick()
    )
