"""The study of model cards: what an attacker infers from published fairness numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from core.arrays import Codes
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.datasets.roles import Roles
from core.datasets.splits import Splits
from core.model_card import findings as wording
from core.model_card.card_people import released_people
from core.model_card.leakage import ReleaseStudy, drawn_again, measure_card
from core.model_card.settings import ReleaseSettings
from core.models import GIVEN
from core.seeds import child_generator
from core.study import Finding, Report, Study
from core.subject import Progress, Subject, train_model


class ModelCard(Study[ReleaseSettings, ReleaseStudy]):
    """What the fairness numbers of one or more models tell about everybody's sensitive attribute."""

    name: ClassVar[str] = "model_card"
    title: ClassVar[str] = "Model card"
    settings = ReleaseSettings

    def unavailable(self, subject: Subject, settings: ReleaseSettings) -> str:
        """Return why there can be no card of a subject: it has one model, and no columns of predictions."""
        return "Prediction columns belong to a table; an audit has one model." if settings.family == GIVEN else ""

    def steps(self, subject: Subject, settings: ReleaseSettings) -> int:
        """Return how many steps are reported: the attacker, the audited model, and the others."""
        return 2 + (0 if settings.family == "audited" else settings.count)

    def run(self, subject: Subject, settings: ReleaseSettings, report: Report | None = None) -> Iterator[ReleaseStudy]:
        """Yield the card of the audited model, or of its family."""
        audited = subject.model.predictions
        people = released_people(subject.config, subject.dataset, settings, audited=audited, report=report)
        yield drawn_again(measure_card(people, settings))

    def findings(self, result: ReleaseStudy, settings: ReleaseSettings) -> tuple[Finding, ...]:
        """Return whose attribute is disclosed, then bits, averages and what the noise is worth."""
        return tuple(wording.findings(result))

    def planted(self, seed: int) -> Subject:
        """Return a model that accepts one group alone: its gap says who is in which."""
        return _subject(seed, planted=True)

    def harmless(self, seed: int) -> Subject:
        """Return a model that draws lots: its numbers tell next to nothing about anybody."""
        return _subject(seed, planted=False)


STUDY = ModelCard()

_TRAINED, _KNOWN, _TESTED = 100, 600, 300
"""Training records, people the attacker knows, people on the card."""


def _subject(seed: int, *, planted: bool) -> Subject:
    """Return people of two groups whose features hint at theirs, with a model's predictions."""
    rng = child_generator(seed, f"model card, planted {planted}")
    n = _TRAINED + _KNOWN + _TESTED
    sensitive: Codes = (rng.random(n) < 0.4).astype(np.uint8)
    features = np.column_stack([rng.normal(0.8 * sensitive, 1.0), rng.normal(size=n)])
    lots = rng.integers(0, 2, n).astype(np.uint8)
    roles = Roles(label="label", positive="1", sensitive="group", group=("1",), prediction="prediction", sets="set")
    dataset = AuditDataset(
        title="People of the self-test",
        source="Synthetic.",
        features=features,
        feature_names=("first", "second"),
        categorical=np.zeros(2, dtype=np.bool_),
        labels=(rng.random(n) < 0.5).astype(np.uint8),
        sensitive=sensitive,
        group_names=("group 0", "group 1"),
        roles=roles,
        rows_read=n,
        predictions=sensitive if planted else lots,
        sets=np.repeat(["train", "attack", "test"], (_TRAINED, _KNOWN, _TESTED)),
    )
    config = AuditConfig(method=GIVEN, roles=roles, seed=seed)
    train, known, test = np.split(np.arange(n), np.cumsum((_TRAINED, _KNOWN)))
    splits = Splits(train=train, attack=known[: _KNOWN // 2], validation=known[_KNOWN // 2 :], test=test)
    return Subject(config, dataset, splits, train_model(config, dataset, splits), Progress(1), trainable=False)
