"""The study of model cards: what an attacker infers from published fairness numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...base.validation import child_generator
from ..study import Finding, Plant, ReportProgress, Row, Study, subject_of, synthetic_people
from ..subject import Progress, Subject
from . import findings as wording
from .card_result import ModelCardResult, advice_on, measure_cards, released_people
from .pinned_people import precisions_tried
from .release import ModelCardSettings

if TYPE_CHECKING:
    from ...charts.drawing import Drawing

_SETS = (100, 600, 300)
"""Training records, people the attacker knows, people on the card."""


def _people(seed: int, planted: bool) -> tuple[Subject, ModelCardSettings]:
    """Return people whose features hint at their group, and a model that accepts one group alone, or draws lots."""
    rng = child_generator(seed, f"model card, planted {planted}")
    n = sum(_SETS)
    sensitive = (rng.random(n) < 0.4).astype(np.uint8)
    features = np.column_stack([rng.normal(0.8 * sensitive, 1.0), rng.normal(size=n)])
    people = synthetic_people(features, (rng.random(n) < 0.5).astype(np.uint8), sensitive)
    lots = rng.integers(0, 2, n).astype(np.uint8)
    if planted:
        predictions = sensitive
    else:
        predictions = lots
    return subject_of(people, predictions, _SETS, seed=seed), ModelCardSettings()


class ModelCard(Study[ModelCardSettings, ModelCardResult]):
    """What the fairness numbers of one or more models tell about everybody's sensitive attribute."""

    name: ClassVar[str] = "model_card"
    title: ClassVar[str] = "Model card"
    settings = ModelCardSettings
    plants = (
        Plant(
            attack="Groups inferred from a model card's numbers",
            explanation="Null: a model that draws lots. Planted: one that accepts one group alone.",
            make=_people,
            limits={},  # no policy limits a card
        ),
    )

    def steps(self, subject: Subject, settings: ModelCardSettings) -> int:
        """Return how many steps are reported: the attacker, the variants, and the precisions tried."""
        return settings.n_models + len(precisions_tried(settings.decimals, settings.epsilon))

    def run(
        self, subject: Subject, settings: ModelCardSettings, report: ReportProgress | None = None
    ) -> Iterator[ModelCardResult]:
        """Yield the card of the audited model or of its variants, then the same with advice on its precision."""
        progress = Progress(self.steps(subject, settings), report)
        people = released_people(subject, settings, lambda done, _: progress.reach(done))
        card = measure_cards(people, settings)
        yield card
        advice = advice_on(
            card, subject.dataset, lambda done, _: progress.reach(settings.n_models + done)
        )
        progress.reach(progress.total)
        yield replace(card, advice=advice)

    def findings(self, result: ModelCardResult, settings: ModelCardSettings) -> tuple[Finding, ...]:
        """Return whose attribute is disclosed, then bits, averages, what the noise is worth, and what to publish."""
        return tuple(wording.findings(result))

    def charts(self, result: ModelCardResult, settings: ModelCardSettings) -> Mapping[str, Drawing]:
        """Return what each precision exposes, whom this one exposes, and what more models add."""
        from .charts import drawings

        return drawings(result)

    def tables(
        self, result: ModelCardResult, settings: ModelCardSettings
    ) -> Mapping[str, tuple[Row, ...]]:
        """Return accuracies and bits, what the disclosed share, other precisions, and every number published."""
        return {title: tuple(rows) for title, rows in wording.tables(result).items()}


STUDY = ModelCard()
