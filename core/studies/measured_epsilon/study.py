"""The study of privacy budgets: what is promised, what is spent, and the least that is measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...base.settings import Param, Settings
from ...base.validation import child_generator
from ...charts.drawing import Drawing, Scale
from ...charts.rows import Mark, draw_rows
from ...charts.rows import Row as ChartRow
from ...stats.estimates import certain, epsilon_text
from ..study import (
    Check,
    Finding,
    Measurement,
    Plant,
    ReportProgress,
    Row,
    Study,
    draw_people,
    not_run,
    subject_of,
)
from ..subject import Subject
from .audits import MechanismAudit, OneRun, audits

SURE = 0.9999
"""Confidence at which a mechanism counts as measured above the ε that is promised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredEpsilonSettings(Settings):
    """What is promised, and how hard it is tested."""

    epsilon: Annotated[
        float,
        Param(
            "Promised ε",
            "Privacy budget that every mechanism is run with.",
            least=0.1,
            most=10.0,
            flag="--promised-epsilon",
        ),
    ] = 1.0
    canaries: Annotated[
        int,
        Param(
            "Canaries",
            "Records put into the private tree's table or not, at random.",
            least=50,
            most=5_000,
        ),
    ] = 1_000
    repeats: Annotated[
        int,
        Param(
            "Repeats",
            "Outputs of each other mechanism on each of two tables.",
            least=200,
            most=100_000,
        ),
    ] = 5_000
    confidence: Annotated[
        float,
        Param("Confidence", "Confidence of each lower bound.", least=0.5, most=SURE, step=0.01),
    ] = 0.95
    noise: Annotated[
        float,
        Param(
            "Noise, as a share of what ε needs",
            "Noise as a share of what the promised ε needs; below 1 the guarantee is broken on purpose.",
            least=0.1,
            most=1.0,
            step=0.1,
        ),
    ] = 1.0

    @property
    def level(self) -> str:
        """The confidence in words: "95%"."""
        return f"{100 * self.confidence:.4g}%"


Audits = tuple[MechanismAudit, ...]
"""The mechanisms audited so far, the private tree first."""


def exceeding(audits_run: Audits) -> Audits:
    """Return those whose bound is above what is promised, at the confidence `SURE`."""
    return tuple(audit for audit in audits_run if audit.seen.bound(SURE) > audit.promised)


def demonstrable(audits_run: Audits) -> Audits:
    """Return those of which so many outputs could show more than is promised, however little noise there were."""
    return tuple(audit for audit in audits_run if audit.seen.clearest.bound(SURE) > audit.promised)


_SETS = (100, 100, 100)
"""Training, attack and test records of the people it is tried on, who play no part."""


def _people(seed: int, planted: bool) -> tuple[Subject, MeasuredEpsilonSettings]:
    people = draw_people(sum(_SETS), child_generator(seed, "people without a part"))
    subject = subject_of(people, np.arange(sum(_SETS), dtype=np.uint8) % 2, _SETS, seed=seed)
    if planted:
        noise = 0.5
    else:
        noise = 1.0
    return subject, MeasuredEpsilonSettings(canaries=500, repeats=2_000, noise=noise)


_TABLES = (
    "The tables are built so that one person shows most; they do not depend on the audited data."
)
_NO_PROOF = "A lower bound below the promised ε proves nothing more: another attack may show more."


class MeasuredEpsilonStudy(Study[MeasuredEpsilonSettings, Audits]):
    """Whether the mechanisms with a privacy budget keep it."""

    name = "measured_epsilon"
    title = "Measured privacy budgets"
    settings = MeasuredEpsilonSettings
    plants = (
        Plant(
            attack="Privacy budget that is not kept",
            explanation="Null: the noise that ε needs. Planted: half of it, which no ledger shows.",
            make=_people,
            limits={"measured_epsilon": 0.0},
        ),
    )
    declared = (
        Check(
            name="measured_epsilon",
            title="FairLeak's own mechanisms that exceed their stated ε",
            unit="percent",
            definition="Share of FairLeak's own mechanisms with a privacy budget whose measured ε, a 99.99% lower "
            "bound, is above the promised one; of those of which that can be shown. The audited model is none of them.",
            needs=(),
        ),
    )

    def steps(self, subject: Subject, settings: MeasuredEpsilonSettings) -> int:
        """Return how many mechanisms there are."""
        return len(list(self._audits(subject, settings)))

    def _audits(
        self, subject: Subject, settings: MeasuredEpsilonSettings
    ) -> Iterator[Callable[[], MechanismAudit]]:
        sizes = {"canaries": settings.canaries, "repeats": settings.repeats}
        return audits(settings.epsilon, noise=settings.noise, **sizes, seed=subject.config.seed)

    def run(
        self,
        subject: Subject,
        settings: MeasuredEpsilonSettings,
        report: ReportProgress | None = None,
    ) -> Iterator[Audits]:
        """Yield the mechanisms audited, one after the other."""
        audited: Audits = ()
        total = self.steps(subject, settings)
        for audit in self._audits(subject, settings):
            audited = (*audited, audit())
            if report is not None:
                report(len(audited), total)
            yield audited

    def findings(self, result: Audits, settings: MeasuredEpsilonSettings) -> tuple[Finding, ...]:
        """Return what is measured of the private tree, or what is above its promised ε; then the others."""
        tree, *answer_audits = result
        promised = epsilon_text(settings.epsilon)
        tree_sentence = f"an audit in one run shows at least {_bound(tree, settings)} for FairLeak's private tree"
        point = f"At ε = {promised} promised, {tree_sentence}."
        n = len(result)
        n_blind = n - len(demonstrable(result))
        so_what = f"Mechanisms shown to exceed their promised ε: 0 of {n}. Too few repeats to show it: {n_blind}."
        to_do = (
            "Nothing for the audited model: this is about FairLeak's own noise. "
            "More canaries and repeats give a sharper bound."
        )
        too_large = exceeding(result)
        if too_large:
            which = ", ".join(f"{audit.mechanism} {_bound(audit, settings)}" for audit in too_large)
            point = f"At ε = {promised} promised, more is measured of FairLeak's mechanisms, at least: {which}."
            so_what = "The guarantee does not hold: the noise is too small."
            to_do = "Release nothing of it until the noise is right."
        caveats = [_NO_PROOF, _TABLES]
        if n_blind:
            caveats.append(_cap(result, settings))
        chance = [
            audit for audit in result if audit.seen.bound(settings.confidence) > audit.promised
        ]
        if chance and not too_large:
            caveats.append(f"Bounds at {settings.level}: {n}. One may be above by chance.")
        if settings.noise < 1:
            caveats.append(
                f"The noise is {settings.noise:g} times what the promised ε needs, on purpose."
            )
        headline = Finding(
            point=point,
            evidence=f"{settings.level} lower bound: {tree.seen.counts}. Spent by the tree's ledger: "
            f"ε = {epsilon_text(tree.spent or 0.0)}.",
            so_what=so_what,
            to_do=to_do,
            caveats=tuple(caveats),
            attacker_knows="The mechanism, every record but one, and what is released. Of a canary everything but "
            "whether it is in the table.",
        )
        if not answer_audits:
            return (headline,)
        tight = max(answer_audits, key=lambda audit: audit.seen.bound(settings.confidence))
        point = f"Outside the tree the largest measured is {_bound(tight, settings)}: {tight.mechanism}."
        listed = "; ".join(
            f"{audit.mechanism} {_bound(audit, settings)}" for audit in answer_audits
        )
        evidence = f"{settings.level} lower bounds, {settings.repeats:,} outputs on each of 2 tables: {listed}."
        return headline, Finding(point=point, evidence=evidence)

    def charts(self, result: Audits, settings: MeasuredEpsilonSettings) -> Mapping[str, Drawing]:
        """Return what is promised and what is measured, a row a mechanism."""
        quantity = f"Bar: measured, {settings.level} lower bound; hollow: spent, where that is proved; line: promised"
        budgets = draw_budgets(result, epsilon=settings.epsilon, confidence=settings.confidence)
        return {quantity: budgets}

    def checks(
        self, result: Audits, settings: MeasuredEpsilonSettings
    ) -> Mapping[str, Measurement]:
        """Return how many mechanisms are above; certain, as each bound leaves out no more than one in 10,000."""
        n = len(demonstrable(result))
        finding = self.findings(result, settings)[0]
        if not n:
            return {"measured_epsilon": not_run("measured_epsilon", _cap(result, settings))}
        measured = Measurement(
            check="measured_epsilon",
            estimate=certain(len(exceeding(result)) / n, 0),  # no person is behind it
            attacked=f"{n} of FairLeak's own mechanisms with a privacy budget of ε = {epsilon_text(settings.epsilon)}.",
            knows=finding.attacker_knows,
            assumptions=(
                *finding.caveats,
                "A mechanism counts as above where its 99.99% lower bound is.",
            ),
            details={
                f"{audit.mechanism}, 99.99% lower bound": audit.seen.bound(SURE) for audit in result
            },
        )
        return {"measured_epsilon": measured}

    def tables(
        self, result: Audits, settings: MeasuredEpsilonSettings
    ) -> Mapping[str, tuple[Row, ...]]:
        """Return what is promised, spent and measured of each mechanism."""
        rows = tuple(
            {
                "mechanism": audit.mechanism,
                "promised ε": audit.promised,
                "spent ε": audit.spent,
                "spent by": audit.spends if audit.spent is not None else "not proved",
                f"measured ε ({settings.level} lower bound)": audit.measured(settings.confidence),
                "measured by": "one run" if isinstance(audit.seen, OneRun) else "two tables",
                "counted": audit.seen.counts,
                "δ": audit.seen.delta,
            }
            for audit in result
        )
        return {self.title: rows}


def _cap(result: Audits, settings: MeasuredEpsilonSettings) -> str:
    """Say of which mechanisms nothing above the promised ε can be shown, and how much can be."""
    capable = demonstrable(result)
    blind = [audit for audit in result if audit not in capable]
    most = math.floor(100 * max(audit.seen.clearest.bound(SURE) for audit in blind)) / 100
    return (
        f"So many outputs cannot show more than the promised ε = {epsilon_text(settings.epsilon)}: at most {most:.2f}, "
        f"at 99.99% confidence. Mechanisms: {', '.join(audit.mechanism for audit in blind)}."
    )


def _bound(audit: MechanismAudit, settings: MeasuredEpsilonSettings) -> str:
    return f"ε = {audit.measured(settings.confidence):.2f}"


def draw_budgets(audited: Audits, *, epsilon: float, confidence: float) -> Drawing:
    """Draw each mechanism: a bar up to the lower bound measured, the ε spent hollow, the ε promised as a line."""
    rows = []
    for audit in audited:
        bound = audit.measured(confidence)
        marks = [Mark(of=bound, color="leak", name="measured", symbol="", bar=0.0)]
        if audit.spent is not None:
            marks.append(Mark(of=audit.spent, color="before", symbol="circle-open", name="spent"))
        rows.append(
            ChartRow(name=audit.mechanism, marks=marks, value=f"<b>at least {bound:.2f}</b>")
        )
    promised = Mark(of=epsilon, color="ink", symbol="diamond", name="promised")
    rows.append(
        ChartRow(name="promised", bold=True, marks=[promised], dash="dot", value=f"{epsilon:g}")
    )
    axis = Scale(title="Privacy budget ε", start=0.0)
    return draw_rows("Privacy budget by mechanism", rows, axis, first="mechanism")


STUDY = MeasuredEpsilonStudy()
