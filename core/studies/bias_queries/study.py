"""The study of bias queries (Hamman et al. 2023): what planned answers reveal about the test records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...base.errors import InputError
from ...base.validation import child_generator
from ..study import (
    Finding,
    Measurement,
    Plant,
    ReportProgress,
    Row,
    Study,
    SyntheticRecords,
    subject_of,
)
from ..subject import Subject
from .decoders import DECODER_TITLES, DECODERS
from .findings import DECLARED, answers_excess, findings, leak_row, targeted_bound
from .guarantees import targeted_leakage
from .mechanisms import NOISES
from .trials import BiasQueriesResult, BiasQueriesSettings, QueryPool, Trials, query_pool, two_sided

if TYPE_CHECKING:
    from ...charts.drawing import Drawing

_SETS = (400, 400, 400)
"""Training, attack and test records of the people the study is tried on."""


def _people(seed: int, planted: bool) -> tuple[Subject, BiasQueriesSettings]:
    """Return people with known group proportions alone, and answers about them, exact or very noisy.

    They have no features: a prior learned from chance would be wrong about these people as a whole, and a decoder
    that leaves it aside would gain without a leak.
    """
    n = sum(_SETS)
    rng = child_generator(seed, f"bias queries, planted {planted}")
    sensitive = np.concatenate(
        [rng.permutation((np.arange(size) < 0.4 * size).astype(np.uint8)) for size in _SETS]
    )
    people = SyntheticRecords(
        features=np.zeros((n, 1)), labels=np.ones(n, dtype=np.uint8), sensitive=sensitive
    )
    scores = rng.random(n)
    subject = subject_of(people, (scores >= 0.5).astype(np.uint8), _SETS, seed=seed, scores=scores)
    mechanism = "exact" if planted else "laplace"
    return subject, BiasQueriesSettings(
        questions=12, people=20, repeats=6, mechanism=mechanism, epsilon=0.01
    )


class BiasQueries(Study[BiasQueriesSettings, BiasQueriesResult]):
    """Ask the planned queries about draws of test people, and let every kind of attacker read the answers.

    Of more than two groups the answers compare the largest with everybody else.
    """

    name = "bias_queries"
    title = "Bias queries"
    settings = BiasQueriesSettings
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

    def steps(self, subject: Subject, settings: BiasQueriesSettings) -> int:
        """Return how many decoders read the answers."""
        if settings.questions:
            return len(DECODERS)
        return 0

    def run(
        self, subject: Subject, settings: BiasQueriesSettings, report: ReportProgress | None = None
    ) -> Iterator[BiasQueriesResult]:
        """Yield the leak with one decoder more each time; what cannot be asked has a reason and no leak."""
        dataset = subject.dataset
        result = BiasQueriesResult(
            attribute=subject.attribute,
            n_groups=dataset.n_groups,
            n_people=subject.splits.test.size,
        )
        m = settings.questions
        mechanism = settings.answer_mechanism
        if not m:
            yield result
            return
        try:
            pool = query_pool(subject)
            trials = trials_of(pool, settings, seed=subject.config.seed)
        except InputError as error:
            yield replace(result, reason=str(error))
            return
        if dataset.n_groups > 2:
            result = replace(result, largest=two_sided(dataset).group_names[1])
        noises = {
            name: replace(settings, mechanism=name).answer_mechanism
            for name in NOISES
            if name != "exact"
        }
        n1 = trials.n_advantaged
        n0 = trials.n_disadvantaged
        accuracy = None
        if not mechanism.absolute:
            accuracy = trials.accuracy(m)
        result = replace(
            result,
            sizes=(n1, n0),
            prior=trials.alone,
            errors={name: trials.error(m, noise) for name, noise in noises.items()},
            accuracy=accuracy,
            metric=pool.metric,
            targeted=targeted_leakage(mechanism, n1, n0),
            ceiling=trials.ceiling(m, mechanism),
        )
        for done, decoder in enumerate(DECODERS, start=1):
            result = replace(result, leaks=(*result.leaks, trials.leak(m, mechanism, decoder)))
            if report is not None:
                report(done, len(DECODERS))
            yield result

    def findings(
        self, result: BiasQueriesResult, settings: BiasQueriesSettings
    ) -> tuple[Finding, ...]:
        """Return what the answers reveal."""
        return findings(result, settings)

    def charts(
        self, result: BiasQueriesResult, settings: BiasQueriesSettings
    ) -> Mapping[str, Drawing]:
        """Return the leakage and, for every kind of noise, the error of an answer."""
        from .charts import draw_answer_errors, draw_leakage

        if not result.leaks:
            return {}
        return {
            "Leakage by number of answers": draw_leakage([result], settings),
            "Error per answer": draw_answer_errors(result.errors, settings.mechanism),
        }

    def checks(
        self, result: BiasQueriesResult, settings: BiasQueriesSettings
    ) -> Mapping[str, Measurement]:
        """Return the gain over the features, and the bound that the mechanism guarantees."""
        return {
            "answers_excess": answers_excess(result, settings),
            "targeted_leakage": targeted_bound(result, settings),
        }

    def tables(
        self, result: BiasQueriesResult, settings: BiasQueriesSettings
    ) -> Mapping[str, tuple[Row, ...]]:
        """Return the leak of each decoder, and what the features give alone."""
        if result.prior is None:
            if result.reason:
                return {"Planned answers": ({"not made": result.reason},)}
            return {}
        rows = [("Features alone, no answers", 0, result.prior)]
        rows += [(DECODER_TITLES[leak.decoder], leak.m, leak.leakage) for leak in result.leaks]
        return {
            "Planned answers": tuple(
                leak_row(who, m, settings.repeats, rate) for who, m, rate in rows
            )
        }


def trials_of(pool: QueryPool, settings: BiasQueriesSettings, *, seed: int) -> Trials:
    """Return the repetitions in which the queries are asked; InputError if the pool cannot give such samples."""
    return Trials(
        pool,
        n=settings.people,
        design=settings.design,
        repeats=settings.repeats,
        seed=seed,
        most=settings.questions,
    )


STUDY = BiasQueries()
