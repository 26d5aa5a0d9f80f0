"""The study of bias queries (Hamman et al. 2023): what planned answers reveal about the test records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ...base.errors import InputError
from ...base.seeds import child_generator
from ...datasets.dataset import AuditDataset
from ..planted import SyntheticRecords, subject_of
from ..study import Finding, Measurement, Plant, ReportProgress, Row, Study
from ..subject import Subject
from .decoders import DECODER_TITLES, DECODERS
from .findings import (
    DECLARED,
    AnswersLeak,
    PlannedAnswers,
    answers_excess,
    answers_leak,
    findings,
    leak_row,
    targeted_bound,
)
from .trials import Asking, Trials, query_pool

_SETS = (400, 400, 400)
"""Training, attack and test records of the people the study is tried on."""


def _people(seed: int, planted: bool) -> tuple[Subject, PlannedAnswers]:
    """Return people with known group proportions alone, and answers about them, exact or very noisy.

    They have no features: a prior learned from chance would be wrong about these people as a whole, and a decoder
    that leaves it aside would gain without a leak.
    """
    n, rng = sum(_SETS), child_generator(seed, f"bias queries, planted {planted}")
    sensitive = np.concatenate([rng.permutation((np.arange(size) < 0.4 * size).astype(np.uint8)) for size in _SETS])
    people = SyntheticRecords(features=np.zeros((n, 1)), labels=np.ones(n, dtype=np.uint8), sensitive=sensitive)
    scores = rng.random(n)
    subject = subject_of(people, (scores >= 0.5).astype(np.uint8), _SETS, seed=seed, scores=scores)
    mechanism = "exact" if planted else "laplace"
    return subject, PlannedAnswers(questions=12, people=20, repeats=6, mechanism=mechanism, epsilon=0.01)


class Queries(Study[PlannedAnswers, AnswersLeak]):
    """Ask the planned queries about draws of test people, and let every kind of attacker read the answers.

    Of more than two groups the answers compare the largest with everybody else.
    """

    name = "bias_queries"
    title = "Bias queries"
    settings = PlannedAnswers
    command_defaults: ClassVar[Mapping[str, Any]] = {"questions": 25}
    declared = DECLARED
    plants = (
        Plant(
            attack="Attribute learned from answered questions",
            explanation="Null: answers drowned in noise. Planted: exact answers.",
            make=_people,
            limits={"answers_excess": 0.0},
            share=0.5,
        ),
    )

    def steps(self, subject: Subject, settings: PlannedAnswers) -> int:
        """Return how many decoders read the answers."""
        return len(DECODERS) if settings.questions else 0

    def run(
        self, subject: Subject, settings: PlannedAnswers, report: ReportProgress | None = None
    ) -> Iterator[AnswersLeak]:
        """Yield the leak with one decoder more each time; what cannot be asked has a reason and no leak."""
        dataset = two_sided(subject.dataset)
        largest = "" if dataset is subject.dataset else dataset.group_names[1]
        result = AnswersLeak(
            attribute=subject.attribute,
            largest=largest,
            n_groups=subject.dataset.n_groups,
            n_people=subject.splits.test.size,
        )
        if not settings.questions:
            yield result
            return
        if not subject.has_scores:
            yield replace(result, reason="Scores are needed; only predicted labels are given.")
            return
        asking = Asking(n=settings.people, repeats=settings.repeats, seed=subject.config.seed)
        try:
            pool = query_pool(subject.config, dataset, subject.model, subject.splits)
            trials = Trials(pool, asking, most=settings.questions)
        except InputError as error:
            yield replace(result, reason=str(error))
            return
        beside = answers_leak(trials, settings.questions, settings.answering, attribute=result.attribute, decoders=())
        result = replace(beside, largest=largest, n_groups=result.n_groups, n_people=result.n_people)
        for done, decoder in enumerate(DECODERS, start=1):
            leak = trials.leak(settings.questions, settings.answering.mechanism(), decoder)
            result = replace(result, leaks=(*result.leaks, leak))
            if report is not None:
                report(done, len(DECODERS))
            yield result

    def findings(self, result: AnswersLeak, settings: PlannedAnswers) -> tuple[Finding, ...]:
        """Return what the answers reveal."""
        return findings(result, settings.answering)

    def checks(self, result: AnswersLeak, settings: PlannedAnswers) -> Mapping[str, Measurement]:
        """Return the gain over the features, and the bound that the mechanism guarantees."""
        return {
            "answers_excess": answers_excess(result, settings),
            "targeted_leakage": targeted_bound(result, settings),
        }

    def tables(self, result: AnswersLeak, settings: PlannedAnswers) -> Mapping[str, tuple[Row, ...]]:
        """Return the leak of each decoder, and what the features give alone."""
        if result.prior is None:
            return {"Planned answers": ({"not made": result.reason},)} if result.reason else {}
        rows = [("Features alone, no answers", 0, result.prior)]
        rows += [(DECODER_TITLES[leak.decoder], leak.m, leak.leakage) for leak in result.leaks]
        return {"Planned answers": tuple(leak_row(who, m, settings.repeats, rate) for who, m, rate in rows)}


STUDY = Queries()


def two_sided(dataset: AuditDataset) -> AuditDataset:
    """Return a dataset in two groups: of more than two the largest (1) and everybody else (0)."""
    if dataset.n_groups == 2:
        return dataset
    largest = int(np.bincount(dataset.sensitive, minlength=dataset.n_groups).argmax())
    return replace(
        dataset,
        sensitive=(dataset.sensitive == largest).astype(np.uint8),
        group_names=("everybody else", dataset.group_names[largest]),
    )
