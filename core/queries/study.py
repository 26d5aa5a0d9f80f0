"""The study of bias queries (Hamman et al. 2023): what planned answers about the test records give away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.datasets.roles import Roles
from core.datasets.splits import split
from core.errors import InputError
from core.models import GIVEN
from core.queries.decoders import DECODER_TITLES, DECODERS
from core.queries.findings import (
    DECLARED,
    AnswersLeak,
    PlannedAnswers,
    answers_excess,
    answers_leak,
    findings,
    targeted_bound,
)
from core.queries.trials import Asking, Trials, query_pool
from core.seeds import child_generator
from core.study import Finding, Measurement, Report, Row, Study
from core.subject import Progress, Subject, train_model


class Queries(Study[PlannedAnswers, AnswersLeak]):
    """Ask the planned queries about draws of test people, and let every kind of attacker read the answers.

    Of more than two groups the answers compare the largest with everybody else.
    """

    name = "queries"
    title = "Bias queries"
    settings = PlannedAnswers
    declared = DECLARED

    def steps(self, subject: Subject, settings: PlannedAnswers) -> int:
        """Return how many decoders read the answers."""
        return len(DECODERS) if settings.questions else 0

    def run(self, subject: Subject, settings: PlannedAnswers, report: Report | None = None) -> Iterator[AnswersLeak]:
        """Yield the leak with one decoder more each time; what cannot be asked has a reason and no leak."""
        dataset = two_sided(subject.dataset)
        largest = "" if dataset is subject.dataset else dataset.group_names[1]
        found = AnswersLeak(
            attribute=subject.attribute,
            largest=largest,
            n_groups=subject.dataset.n_groups,
            n_people=subject.splits.test.size,
        )
        if not settings.questions:
            yield found
            return
        if not subject.has_scores:
            yield replace(found, reason="Scores are needed; only predicted labels are given.")
            return
        asking = Asking(n=settings.people, repeats=settings.repeats, seed=subject.config.seed)
        try:
            pool = query_pool(subject.config, dataset, subject.model, subject.splits)
            trials = Trials(pool, asking, most=settings.questions)
        except InputError as error:
            yield replace(found, reason=str(error))
            return
        beside = answers_leak(trials, settings.questions, settings.answering, attribute=found.attribute, decoders=())
        found = replace(beside, largest=largest, n_groups=found.n_groups, n_people=found.n_people)
        for done, decoder in enumerate(DECODERS, start=1):
            leak = trials.leak(settings.questions, settings.answering.mechanism(), decoder)
            found = replace(found, leaks=(*found.leaks, leak))
            if report is not None:
                report(done, len(DECODERS))
            yield found

    def findings(self, result: AnswersLeak, settings: PlannedAnswers) -> tuple[Finding, ...]:
        """Return what the answers give away."""
        return findings(result, settings.answering)

    def checks(self, result: AnswersLeak, settings: PlannedAnswers) -> Mapping[str, Measurement]:
        """Return the gain over the features, and the bound that the mechanism promises."""
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
        return {
            "Planned answers": tuple(
                {
                    "attacker": attacker,
                    "answers": answers,
                    "draws": settings.repeats,
                    "balanced accuracy": rate.value,
                    "balanced accuracy, low": rate.low,
                    "balanced accuracy, high": rate.high,
                }
                for attacker, answers, rate in rows
            )
        }

    def planted(self, seed: int) -> Subject:
        """Return people whom exact answers give away: no feature tells their group."""
        return _people(seed, told=False)

    def harmless(self, seed: int) -> Subject:
        """Return people whose group is one of their features, so that no answer adds anything."""
        return _people(seed, told=True)


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


def _people(seed: int, *, told: bool) -> Subject:
    """Return people and a model with scores by chance; a feature tells the group if `told`."""
    n, rng = 1_200, child_generator(seed, f"bias queries, people, {told}")
    sensitive = rng.permutation((np.arange(n) < 0.4 * n).astype(np.uint8))
    features, scores = rng.random((n, 3)), rng.random(n)
    if told:
        features[:, 0] = sensitive
    roles = Roles(label="label", positive="1", sensitive="group", group=("1",), prediction="prediction")
    dataset = AuditDataset(
        title="People of FairLeak's test of itself",
        source="Synthetic.",
        features=features,
        feature_names=("feature 0", "feature 1", "feature 2"),
        categorical=np.zeros(3, dtype=np.bool_),
        labels=rng.integers(0, 2, n).astype(np.uint8),
        sensitive=sensitive,
        group_names=("group 0", "group 1"),
        roles=roles,
        rows_read=n,
        predictions=(scores >= 0.5).astype(np.uint8),
        scores=scores,
    )
    config = AuditConfig(method=GIVEN, roles=roles, seed=seed)
    splits = split(dataset, train_share=config.train_share, seed=seed)
    return Subject(config, dataset, splits, train_model(config, dataset, splits), Progress(1), trainable=False)
