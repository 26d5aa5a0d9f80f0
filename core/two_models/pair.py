"""What is inferred of people from two models of the same training records, and from each of them alone.

The idea is that of Tian et al. (2023, FD-MIA, arXiv 2311.03865; 2025, FD-AIA, arXiv 2503.06150): a fair model and the
biased one it replaces answer one person differently, and by how much depends on whether the person was trained on.
Differs from the papers, of which the idea alone is taken: half of the people teach the attackers, instead of shadow
models, so that what is found bounds what shadows would find; the gain is counted against the better model alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import numpy.typing as npt

from core.adversaries.cross_fitting import cross_fitted, released_columns, taught_both_ways
from core.arrays import Codes, Floats
from core.estimates import Estimate, balanced_accuracy, balanced_gain, least
from core.models import METHOD_TITLES, METHODS
from core.param import Param
from core.serialize import Result
from core.settings import Settings
from core.subject import Subject, fit_rows

COUNTERPART = "counterpart"
"""The unmitigated model of a mitigated one; of another one exponentiated gradient at the audited tolerance."""

NONE = "none"
"""One model is released."""

_COMPANIONS = {
    NONE: "None",
    COUNTERPART: "Unmitigated or fair counterpart",
    **{name: METHOD_TITLES[name] for name in METHODS},
}

UNFAIR = ("unmitigated", "dp_id3")
"""Methods without a fairness constraint."""

WARNING = "These models are variants of one table: if two are released, their difference can reveal people."
"""What is said wherever a biased and a fair model, or other variants, could both be released."""

FEWEST = 40
"""Fewest people of either kind: of 20 in each half something can be learned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoModelsSettings(Settings):
    """Which model is released beside the audited one."""

    companion: Annotated[
        str,
        Param(
            "Second model",
            'Method of the model that is released beside the audited one: {options}. "counterpart" is the unmitigated '
            "model beside a fair one, else exponentiated gradient at the audited tolerance.",
            options=_COMPANIONS,
        ),
    ] = NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred(Result):
    """How well one thing is inferred of people, in balanced accuracy: 0.5 is random guessing."""

    target: str
    """ "membership", or the group that people are inferred to belong to."""
    alone: tuple[Estimate, Estimate]
    """From what the audited model releases, and from what the second one does."""
    both: Estimate
    gain: Estimate
    """Of both over the better one alone, on the same people."""

    @property
    def better(self) -> int:
        """Which model alone reveals more: 0 is the audited one."""
        return int(self.alone[1].value > self.alone[0].value)


def companion_of(subject: Subject, settings: TwoModelsSettings) -> str:
    """Return the method of the second model."""
    if settings.companion != COUNTERPART:
        return settings.companion
    return "exponentiated_gradient" if subject.config.method in UNFAIR else "unmitigated"


def second_model(subject: Subject, method: str) -> tuple[Codes, Floats]:
    """Return everybody's predictions and scores by a model of another method, trained once on the same records."""

    def train() -> tuple[Codes, Floats]:
        dataset, seed = subject.dataset, subject.config.seed
        x, s = dataset.features, dataset.sensitive
        model = fit_rows(replace(subject.config, method=method), dataset, subject.splits.train, seed=seed)
        return model.predict(x, s, seed=seed), model.scores(x, s)

    return subject.once(f"second model {method}", train)


def membership(subject: Subject, method: str) -> Inferred:
    """Infer who of the training and test records was trained on."""
    train, test = subject.splits.train, subject.splits.test
    rows = np.concatenate([train, test])
    member = np.repeat([1, 0], [train.size, test.size]).astype(np.uint8)
    return _inferred(subject, method, rows, member, (), target="membership")


def attributes(subject: Subject, method: str) -> tuple[Inferred, ...]:
    """Infer the group of the training records, each group against all others; of two groups the second alone.

    Left out are groups with fewer than `FEWEST` people inside or outside. The attackers know everybody's features.
    """
    dataset, rows = subject.dataset, subject.splits.train
    found = []
    for code in range(int(dataset.n_groups == 2), dataset.n_groups):
        inside = (dataset.sensitive[rows] == code).astype(np.uint8)
        if np.bincount(inside, minlength=2).min() >= FEWEST:
            features = tuple(dataset.features[rows].T)
            found.append(_inferred(subject, method, rows, inside, features, target=dataset.group_names[code]))
    return tuple(found)


def _inferred(
    subject: Subject,
    method: str,
    rows: npt.NDArray[np.intp],
    truth: Codes,
    known: Sequence[Floats],
    *,
    target: str,
) -> Inferred:
    """Let three attackers judge the same people, taught by the same half: each model's, and that of both."""
    labels, seed = subject.dataset.labels[rows], subject.config.seed
    predictions, scores = second_model(subject, method)
    shown, decimals = subject.released_scores, subject.outputs.decimals
    if shown is not None and decimals is not None:
        scores = np.round(scores, decimals)
    audited: _Answers = (subject.model.predictions[rows], None if shown is None else shown[rows])
    second: _Answers = (predictions[rows], None if shown is None else scores[rows])
    columns = {"audited": released_columns(audited[0], labels, audited[1])}
    columns["second"] = released_columns(second[0], labels, second[1])
    columns["both"] = [*columns["audited"], *columns["second"], *_differences(audited, second, labels)]
    said = {
        name: cross_fitted([*known, *own], truth, seed=seed, name=f"two models, {target}, {name}")[1]
        for name, own in columns.items()
    }
    both = said.pop("both")
    gains = {name: taught_both_ways(balanced_gain(truth, own, both), 0.0) for name, own in said.items()}
    one, other, together = (
        taught_both_ways(balanced_accuracy(truth, own), 0.5) for own in (said["audited"], said["second"], both)
    )
    return Inferred(target=target, alone=(one, other), both=together, gain=least(gains)[1].within(-1.0, 1.0))


_Answers = tuple[Codes, Floats | None]
"""Predictions, and scores where these are released."""


def _differences(one: _Answers, other: _Answers, labels: Codes) -> list[npt.NDArray[np.float64]]:
    """Return by how much two models differ on each person: as it is, towards the person's own label, and its size."""
    (predicted, score), (other_predicted, other_score) = one, other
    if score is None or other_score is None:
        return [predicted.astype(np.float64) - other_predicted]
    apart = np.round(score - other_score, 12)  # equal scores, no difference, but for rounding
    return [apart, np.where(labels == 1, apart, -apart), np.abs(apart)]
