"""The study of two models of one table: what releasing both adds to what the better one alone reveals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from core.arrays import Floats
from core.estimates import Estimate, count, estimate_columns, percent, points, strongest
from core.models import METHOD_TITLES
from core.planted import Drawn, subject_of
from core.seeds import child_generator
from core.serialize import Result
from core.study import Check, Finding, Measurement, Plant, Redacted, Report, Row, Study
from core.subject import Subject
from core.two_models.pair import COUNTERPART, NONE, Inferred, TwoModelsSettings, attributes, companion_of, membership


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoModels(Result):
    """What is inferred from two models of the same training records."""

    audited: str
    second: str
    """What the models' methods are called."""
    attribute: str
    released: str
    membership: Inferred
    attributes: tuple[Inferred, ...]
    """Of each group that is large enough."""


_SETS = (300, 100, 300)
"""Training, attack and test records of the people it is tried on."""


def _people(seed: int, planted: bool) -> tuple[Subject, TwoModelsSettings]:
    """Return two models whose scores are noise, the same in both models for half of the people.

    Planted, these are the members, or the people of group 1, in turn by the seed; else they are drawn at random. Each
    score alone is the same noise for everybody.
    """
    rng, n = child_generator(seed, f"two models, planted {planted}"), sum(_SETS)
    people = Drawn(
        features=np.zeros((n, 1)),
        labels=rng.integers(0, 2, n).astype(np.uint8),
        sensitive=rng.integers(0, 2, n).astype(np.uint8),
    )
    marked = people.sensitive == 1 if seed % 2 else np.arange(n) < _SETS[0]
    shared = marked if planted else rng.random(n) < 0.5
    scores: Floats = rng.random(n)
    second = np.where(shared, scores, rng.random(n))
    subject = subject_of(people, (scores >= 0.5).astype(np.uint8), _SETS, seed=seed, scores=scores)
    subject.trainable, settings = True, TwoModelsSettings(companion=COUNTERPART)
    answers = (second >= 0.5).astype(np.uint8), second
    subject.once(f"second model {companion_of(subject, settings)}", lambda: answers)
    return subject, settings


class TwoModelsStudy(Study[TwoModelsSettings, TwoModels]):
    """Gain of two models of the same training records over the better one, for membership and attribute inference."""

    name = "two_models"
    title = "Two models of one table"
    settings = TwoModelsSettings
    plants = (
        Plant(
            attack="Members and groups inferred from the difference of two models' scores",
            told="Null: two models whose scores agree about half of the people, drawn at random. Planted, in turn: "
            "models that agree about members alone, or about one group alone.",
            make=_people,
            limits={"two_models_gain": 0.0},
        ),
    )
    declared = (
        Check(
            name="two_models_gain",
            title="Two models released: gain over the better one",
            unit="points",
            definition="Balanced accuracy of an attack on a fair and an unmitigated model of the same records, minus "
            "that of the same attack on the better of the two alone. It is the larger of the gains in membership and "
            "attribute inference.",
            needs=("a model trained here",),
            redacted=Redacted(
                attacked="Which records are training records, and the {attribute} of training records, inferred from "
                "{released} of the audited model and of a second model of the same records.",
                knows="Everybody's features, label and {released} by both models; the truth about half of the people.",
                control="the better of the two models alone",
                assumptions=(
                    "The interval is over people like these; both models are fixed.",
                    "The interval holds for membership and all groups together.",
                ),
            ),
        ),
    )

    def unavailable(self, subject: Subject, settings: TwoModelsSettings) -> str:
        """Return why there is one model alone: it was not trained here, or the second would be the same."""
        if settings.companion == NONE:
            return "No second model is released: choose its method to see what both models reveal together."
        if not subject.trainable:
            return "Two models of the same records are needed; only the predictions of one are given."
        if (method := companion_of(subject, settings)) == subject.config.method:
            return f"The second model must be of another method than the audited one, got {METHOD_TITLES[method]}."
        return ""

    def run(self, subject: Subject, settings: TwoModelsSettings, report: Report | None = None) -> Iterator[TwoModels]:
        """Train the second model, and infer membership and groups from either model and from both."""
        method = companion_of(subject, settings)
        members, groups = membership(subject, method), attributes(subject, method)
        if report is not None:
            report(1, 1)
        yield TwoModels(
            audited=METHOD_TITLES[subject.config.method],
            second=METHOD_TITLES[method],
            attribute=subject.attribute,
            released=subject.outputs.text,
            membership=members,
            attributes=groups,
        )

    def findings(self, result: TwoModels, settings: TwoModelsSettings) -> tuple[Finding, ...]:
        """Return what both models add to membership inference, then to inferring the attribute."""
        found = [_finding(result, result.membership, result.membership.gain)]
        if result.attributes:
            best, gain = _largest(result.attributes)
            found.append(_finding(result, best, gain))
        return tuple(found)

    def checks(self, result: TwoModels, settings: TwoModelsSettings) -> Mapping[str, Measurement]:
        """Return the larger of the gains, with an interval for all that was inferred."""
        best, gain = _largest((result.membership, *result.attributes))
        details: dict[str, float] = {}
        for each in (result.membership, *result.attributes):
            details |= {f"{each.target}, {name}": level.value for name, level in _levels(result, each).items()}
        return {
            "two_models_gain": Measurement(
                check="two_models_gain",
                estimate=gain,
                control=best.alone[best.better],
                control_name=f"{_models(result)[best.better]} alone, balanced accuracy",
                attacked=f"{_inferring(result, best).capitalize()} from the {result.released} of two models of the "
                f"same records ({result.audited}; {result.second}), by boosting.",
                knows=_knows(result, best),
                assumptions=(*_CAVEATS, "The interval holds for membership and all groups together."),
                details=details,
            )
        }

    def tables(self, result: TwoModels, settings: TwoModelsSettings) -> Mapping[str, tuple[Row, ...]]:
        """Return the balanced accuracy from each model alone and from both, of membership and of each group."""
        rows: list[Row] = []
        for each in (result.membership, *result.attributes):
            for name, level in _levels(result, each).items():
                rows.append({"inferred": each.target, "from": name, **estimate_columns("balanced accuracy", level)})
        return {self.title: tuple(rows)}


_CAVEATS = (
    "The interval is over people like these; both models, attackers and seed are taken as they are.",
    "The second model is trained here on the same records; other pairs may reveal more.",
)


def _largest(found: tuple[Inferred, ...]) -> tuple[Inferred, Estimate]:
    """Return what gains most, and its gain with an interval for all."""
    named = {each.target: each for each in found}
    name, gain = strongest({target: each.gain for target, each in named.items()}, within=(-1.0, 1.0))
    return named[name], gain


def _models(result: TwoModels) -> tuple[str, str]:
    return f"the audited model ({result.audited})", f"the second model ({result.second})"


def _levels(result: TwoModels, found: Inferred) -> dict[str, Estimate]:
    return {**dict(zip(_models(result), found.alone, strict=True)), "both models": found.both}


def _inferring(result: TwoModels, found: Inferred) -> str:
    if found is result.membership:
        return "training records inferred"
    return f"{result.attribute} ({found.target}) inferred"


def _knows(result: TwoModels, found: Inferred) -> str:
    if found is result.membership:
        return f"Everybody's label and {result.released} by both models; who is a member, for half of the people."
    whose = f"the {result.attribute} of half of the training records"
    return f"Everybody's features, label and {result.released} by both models; {whose}."


def _finding(result: TwoModels, found: Inferred, gain: Estimate) -> Finding:
    """Return what both models add to inferring one thing."""
    members, leaks = found is result.membership, gain.low > 0
    what = "identifying training records" if members else f"inferring the {result.attribute} ({found.target})"
    reveals = "whether a person was in the training data" if members else f"the {result.attribute}"
    alone, low = found.alone[found.better], points(gain.low).removesuffix(" points")
    return Finding(
        point=f"Releasing both models adds {points(gain)} to {what}"
        f"{'' if leaks else ', which is not statistically significant'}.",
        evidence=f"95% CI {low} to {points(gain.high)}, {count(gain.n)} people. Balanced accuracy: {percent(alone)} "
        f"from {_models(result)[found.better]} alone, {percent(found.both)} from both.",
        so_what=f"How the two models' scores differ reveals {reveals}." if leaks else "",
        to_do="Do not release both models: withdraw one, or train them on different people." if leaks else "",
        caveats=_CAVEATS,
        redacted=f"What a second model of the same records adds to {what.partition(' (')[0]} was measured.",
        estimate=gain,
        baseline=alone,
        attacker_knows=_knows(result, found),
    )


STUDY = TwoModelsStudy()
