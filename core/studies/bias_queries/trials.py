"""Trials: leakage from answers to bias queries, over repetitions with other people, queries and noise.

A repeat draws people from the test set, one series of questions about them, and one stream of noise. The curve over
the number of questions uses the same repeats throughout, so that it moves only with the answers.

The model's developers hold features, labels and the audited model; the attribute only the compliance team. So the
developers' prior, the probability that a person belongs to the advantaged group, is that of the imputation baseline
(`core.studies.subject.prior_of`), which is judged on records it was not trained on.

The larger group of the dataset counts as the advantaged one (Hamman et al. 2023 take N0 <= N1).

Last stand the settings of the study, those of a plan's [bias_queries], the command, the page and an experiment, and its
result, which grows by decoder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import takewhile
from typing import Annotated, Any

import numpy as np

from ...base.errors import InputError
from ...base.serialize import UNSAID, Result
from ...base.settings import Param, Settings
from ...base.validation import LEAST_EPSILON, Codes, Floats, child_generator, whole_number
from ...datasets.dataset import AuditDataset
from ...stats.estimates import Estimate, mean_over_repeats, rate_over_repeats, strongest
from ...stats.fairness import METRIC_TITLES
from ..subject import Subject, prior_of
from .decoders import AnsweredQueries, read_answers
from .gaps import DESIGNS, SINGLE, design_scores, leakage, most_questions
from .guarantees import (
    ErrorQuantiles,
    accuracy_limit_with_prior,
    answer_error,
    exact_accuracy_limit,
    prior_given_sizes,
    two_flips,
)
from .mechanisms import DELTA, NOISE_TITLES, Exact, Mechanism, mechanism_of
from .reveal import DecodedAttribute

FEWEST_IN_GROUP = 2
"""Fewest sampled people of each group; with one, the first answer reveals them."""

_ASKED_LABEL = {"equal_opportunity": 1, "predictive_equality": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueriedRecords(Result):
    """People whose gap is asked for; arrays of shape (n,)."""

    sensitive: Codes
    """0 or 1; 1 = advantaged."""
    base: Floats
    """In [0, 1]. The audited model's scores."""
    prior: Floats
    """In (0, 1). P(advantaged) before any answer."""
    labels: Codes

    @property
    def n(self) -> int:
        """How many they are."""
        return int(self.sensitive.size)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many advantaged and disadvantaged there are."""
        advantaged = int(self.sensitive.sum())
        return advantaged, self.n - advantaged

    def drawn(self, sizes: tuple[int, int], rng: np.random.Generator) -> QueriedRecords:
        """Return people drawn without replacement, in random order, in groups of these sizes."""
        groups = [
            rng.choice(np.flatnonzero(self.sensitive == group), size, replace=False)
            for group, size in zip((1, 0), sizes, strict=True)
        ]
        rows = rng.permutation(np.concatenate(groups))
        return QueriedRecords(
            sensitive=self.sensitive[rows],
            base=self.base[rows],
            prior=self.prior[rows],
            labels=self.labels[rows],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPool(Result):
    """Everybody in the test set the metric speaks about, and what the groups are called.

    The metric is "statistical_parity", "equal_opportunity" (label 1 only) or "predictive_equality" (label 0 only).
    """

    people: QueriedRecords = field(repr=False)
    advantaged: str
    disadvantaged: str
    metric: str
    advantaged_code: int = 1

    def sizes(self, n: int) -> tuple[int, int]:
        """Return how many advantaged and disadvantaged people a sample of `n` holds: the pool's shares, rounded.

        Raises `InputError` if `n` is above the pool's size or leaves fewer than `FEWEST_IN_GROUP` of a group.
        """
        if not 2 * FEWEST_IN_GROUP <= n <= self.people.n:
            raise InputError(
                f"The sample must hold {2 * FEWEST_IN_GROUP} to {self.people.n:,} people, got {n:,}."
            )
        n_disadvantaged = round(n * self.people.sizes[1] / self.people.n)
        sizes = n - n_disadvantaged, n_disadvantaged
        for size, name in zip(sizes, (self.advantaged, self.disadvantaged), strict=True):
            if size < FEWEST_IN_GROUP:
                raise InputError(
                    f"A gap needs at least {FEWEST_IN_GROUP} people of each group, or the first answer reveals them; "
                    f"a sample of {n} holds {size} of {name}."
                )
        return sizes

    def sample(self, n: int, rng: np.random.Generator) -> QueriedRecords:
        """Return `n` people drawn without replacement, in random order, in groups of these `sizes`."""
        return self.people.drawn(self.sizes(n), rng)


def query_pool(subject: Subject) -> QueryPool:
    """Return the test records as a compliance team and the developers see them; made once a subject.

    Of more than two groups the largest stands against everybody else. Equalized odds is asked as equal opportunity, its
    half about label 1.

    Raises `InputError` if the metric speaks of fewer than two people of a group, or the audited model gives labels
    alone.
    """
    return subject.once("query pool", lambda: _pool(subject))


def _pool(subject: Subject) -> QueryPool:
    if not subject.has_scores:
        raise InputError("Scores are needed; only predicted labels are given.")
    dataset = two_sided(subject.dataset)
    config = subject.config
    labels = dataset.labels
    if config.metric == "equalized_odds":
        metric = "equal_opportunity"
    else:
        metric = config.metric
    rows = subject.splits.test
    if metric in _ASKED_LABEL:
        rows = rows[labels[rows] == _ASKED_LABEL[metric]]
    advantaged = int(np.bincount(dataset.sensitive, minlength=2).argmax())
    people = QueriedRecords(
        sensitive=(dataset.sensitive[rows] == advantaged).astype(np.uint8),
        base=subject.model.scores[rows],
        prior=prior_of(dataset, subject.splits, rows, seed=config.seed)[:, advantaged],
        labels=labels[rows],
    )
    if min(people.sizes) < FEWEST_IN_GROUP:
        raise InputError(
            f"{METRIC_TITLES[metric]} needs at least {FEWEST_IN_GROUP} people of each group among the test records it "
            f"speaks about, got {min(people.sizes)} of one."
        )
    return QueryPool(
        people=people,
        advantaged=dataset.group_names[advantaged],
        disadvantaged=dataset.group_names[1 - advantaged],
        metric=metric,
        advantaged_code=advantaged,
    )


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


def question_numbers(n: int, design: str = "jitter") -> tuple[int, ...]:
    """Return the numbers of questions of a curve, from 0 to where (nearly) everybody is known.

    There are about 24 of them, 12 where decoding takes long.
    """
    most = _last_question(design, n)
    n_steps = 24
    if most is not None:
        last = most
    elif n > 300:
        last = round(0.42 * n)
        n_steps = 12
    else:
        last = round(0.6 * n)
    step = max(1, round(last / n_steps))
    return tuple(dict.fromkeys([*range(0, last, step), last]))


def _last_question(design: str, n: int) -> int | None:
    if design in SINGLE:
        return n
    return most_questions(design, n)


def coarse_first(numbers: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of questions of a curve but 0, in an order in which it shows as it grows."""
    ordered = dict.fromkeys([numbers[-1], *numbers[::6], *numbers[::2], *numbers])
    return tuple(number for number in ordered if number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak(Result):
    """What one kind of attacker recovers after m answers."""

    m: int
    decoder: str
    leakage: Estimate
    """Balanced accuracy, mean and 95% interval over repeats."""
    gain: Estimate
    """The same minus that of the features alone, paired by repeat."""
    complete: float
    """Share of the repeats in which everybody was recovered."""
    typical: int
    """The repeat whose leakage is nearest to the mean."""


class Trials:
    """Repeats that are drawn once and answered as often as wanted.

    At most `most` questions are asked, by default until (nearly) everybody is known; the first questions are the same.
    Raises `InputError` if the pool cannot give such samples, or the design has fewer questions.
    """

    def __init__(
        self,
        pool: QueryPool,
        *,
        n: int = 100,
        design: str = "jitter",
        repeats: int = 20,
        seed: int = 42,
        most: int | None = None,
    ) -> None:
        self.metric = pool.metric
        self.design = design
        self.repeats = repeats
        self.seed = seed
        self.n_advantaged, self.n_disadvantaged = pool.sizes(n)
        self.numbers = question_numbers(n, design)
        if most is not None:
            also = f" with {design} questions about {n} people"
            whole_number(most, name="questions", least=0, most=_last_question(design, n), also=also)
            self.numbers = (*(number for number in self.numbers if number < most), most)
        self.people = tuple(pool.sample(n, self._rng("people", r)) for r in range(repeats))
        self._questions = cache(self._made_questions)

    def _rng(self, name: str, repeat: int) -> np.random.Generator:
        return child_generator(self.seed, f"bias queries, {name}, repeat {repeat}")

    @cached_property
    def prior(self) -> Floats:
        """P(advantaged) of everybody in every repeat, shape (R, n)."""
        return np.stack([people.prior for people in self.people])

    def _made_questions(self, repeat: int) -> Floats:
        """Return all questions of one repeat."""
        people = self.people[repeat]
        most = self.numbers[-1]
        if self.design in SINGLE:
            return np.eye(people.n)[:most]
        return design_scores(self.design, people.base, most, rng=self._rng("questions", repeat))

    def ask(self, m: int, mechanism: Any, repeats: Sequence[int] | None = None) -> AnsweredQueries:
        """Return the first `m` questions of some repeats (all of them by default) with their answers."""
        chosen = range(self.repeats) if repeats is None else repeats
        if not 0 <= m <= self.numbers[-1]:
            raise InputError(
                f"The number of questions must be in 0 to {self.numbers[-1]}, got {m}."
            )
        scores = np.stack([self._questions(r)[:m] for r in chosen])
        answers = np.zeros(scores.shape[:2])
        released = []
        asked_repeats: Sequence[int] = ()
        if m:
            asked_repeats = chosen
        for i, r in enumerate(asked_repeats):
            rng = self._rng("noise", r)
            answers[i], sums = mechanism.release(scores[i], self.people[r].sensitive, rng=rng)
            if sums is not None:
                released.append(sums)
        return AnsweredQueries(
            design=self.design,
            scores=scores,
            answers=answers,
            released=released,
            prior=self.prior[list(chosen)],
            mechanism=mechanism,
            n_advantaged=self.n_advantaged,
            n_disadvantaged=self.n_disadvantaged,
        )

    def leakages(self, m: int, mechanism: Any, decoder: str) -> list[float]:
        """Return the balanced accuracy of an attacker of this kind after the first `m` answers, one a repeat."""
        readings = read_answers(self.ask(m, mechanism), decoder)
        return [
            leakage(p.sensitive, x.recovered) for p, x in zip(self.people, readings, strict=True)
        ]

    @cached_property
    def _alone(self) -> list[float]:
        """What the features alone, and the group sizes, tell the attacker with a prior, one a repeat."""
        return self.leakages(0, Exact(), "strongest")

    @property
    def alone(self) -> Estimate:
        """Balanced accuracy from the features alone."""
        return self.leak_of(0, "strongest", self._alone, self._alone).leakage

    def leak(self, m: int, mechanism: Any, decoder: str) -> Leak:
        """Return what an attacker of this kind recovers from the first `m` answers."""
        return self.leak_of(m, decoder, self.leakages(m, mechanism, decoder), self._alone)

    def leak_of(
        self, m: int, decoder: str, values: Sequence[float], alone: Sequence[float]
    ) -> Leak:
        """Return the leak of balanced accuracies, one a repeat, beside those of the features alone."""
        one_person = 0.5 / min(self.n_advantaged, self.n_disadvantaged)  # in balanced accuracy
        gains = [after - before for after, before in zip(values, alone, strict=True)]
        return Leak(
            m=m,
            decoder=decoder,
            leakage=rate_over_repeats(values, resolution=one_person),
            gain=mean_over_repeats(gains, resolution=one_person),
            complete=float(np.mean(np.equal(values, 1.0))),
            typical=int(np.argmin(np.abs(np.subtract(values, np.mean(values))))),
        )

    def error(self, m: int, mechanism: Any) -> ErrorQuantiles:
        """Return how far off each of `m` answers is, at least one."""
        rng = child_generator(self.seed, "bias queries, error of answers")
        scores = [self._questions(r)[:m] for r in range(self.repeats)]
        return answer_error(
            mechanism, scores, [p.sensitive for p in self.people], rng=rng, draws=400
        )

    @cached_property
    def _prior_given_sizes(self) -> Floats:
        return prior_given_sizes(self.prior, self.n_advantaged)

    def limit(self, epsilon: float, *, delta: float = 0.0, with_sizes: bool) -> float:
        """Return the best balanced accuracy of any attacker with the prior, against answers that keep (ε, δ)."""
        if with_sizes:
            return accuracy_limit_with_prior(self._prior_given_sizes, *two_flips(epsilon, delta))
        return accuracy_limit_with_prior(self.prior, epsilon, delta)

    def bound(self, mechanism: Any) -> float | None:
        """Return the limit on attackers who know the sizes; None where the noise is not proved to keep its ε."""
        if not mechanism.holds:
            return None
        return self.limit(
            mechanism.epsilon, delta=getattr(mechanism, "delta", 0.0), with_sizes=True
        )

    def ceiling(self, m: int, mechanism: Any) -> float | None:
        """Return what no attacker with the prior and the sizes can exceed after `m` answers, in balanced accuracy.

        With noise the limit of its ε and δ; without, that of the exact posterior, where all repeats have one.
        """
        if mechanism.noisy:
            return self.bound(mechanism)
        answered = self.ask(m, mechanism)
        kind: dict[str, Any] = {"half_width": mechanism.half_width, "absolute": mechanism.absolute}
        return exact_accuracy_limit(
            answered.scores, answered.answers, answered.prior, self.n_advantaged, **kind
        )

    def decoding(
        self, m: int, mechanism: Any, decoder: str, repeat: int = 0
    ) -> tuple[QueriedRecords, DecodedAttribute]:
        """Return one repeat in full: its people, and what the attacker makes of the answers."""
        return self.people[repeat], read_answers(self.ask(m, mechanism, [repeat]), decoder)[0]

    def accuracy(self, m: int) -> tuple[Estimate, Estimate, float]:
        """Return how well the audited model, and the first `m` models asked about, predict the label.

        Both are mean accuracies, with intervals over repeats, at a threshold of 0.5; among people of one label rates of
        true positives or negatives. Last comes the standard deviation among the models of a repeat, mean over repeats.
        """
        base = []
        queried = []
        spread = []
        for r, people in enumerate(self.people):
            right = (self._questions(r)[: max(m, 1)] >= 0.5) == people.labels
            base.append(float(((people.base >= 0.5) == people.labels).mean()))
            queried.append(float(right.mean()))
            spread.append(float(right.mean(axis=1).std()))
        return rate_over_repeats(base), rate_over_repeats(queried), float(np.mean(spread))


def best_by_number(leaks: Sequence[Leak]) -> list[Leak]:
    """Return of each number of answers the leak of the decoder that recovers most, in their order."""
    best = {leak.m: leak for leak in sorted(leaks, key=lambda leak: leak.leakage.value)}
    return [best[m] for m in sorted(best)]


def needed(leaks: Sequence[Leak], share: float) -> int | None:
    """Return the fewest answers of a curve from which on the leakage stays at `share`, None if there are none.

    For `share` 1 everybody must be recovered in every repeat.
    """

    def reached(leak: Leak) -> bool:
        if share == 1.0:
            return leak.complete == 1.0
        return leak.leakage.value >= share

    last = takewhile(reached, sorted(leaks, key=lambda leak: leak.m, reverse=True))
    return min((leak.m for leak in last), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasQueriesSettings(Settings):
    """The answers to bias queries that are planned, about people drawn from the test records."""

    questions: Annotated[
        int,
        Param(
            "Planned answers",
            "Answers to bias queries that are planned; 0 for none. More than 100 take long.",
            least=0,
            most=1_000,
        ),
    ] = 0
    people: Annotated[
        int,
        Param(
            "Test-set size n",
            "People the queries are about, drawn from the test records.",
            least=4,
            most=5_000,
        ),
    ] = 100
    mechanism: Annotated[
        str, Param("Answer noise", "Noise on the answers: {options}.", options=NOISE_TITLES)
    ] = "noisy_sums"
    epsilon: Annotated[
        float,
        Param(
            "Privacy budget ε (all answers together)",
            "Privacy budget of all answers together; smaller is more private and less accurate. Exact and rounded "
            "answers have none.",
            least=LEAST_EPSILON,
            most=1_000.0,
            step=0.1,
            flag="--answer-epsilon",
        ),
    ] = 1.0
    decimals: Annotated[
        int, Param("Decimals of an answer", "Decimals of rounded answers.", least=0, most=15)
    ] = 3
    repeats: Annotated[
        int,
        Param("Repeats", "Repetitions with other people, queries and noise.", least=2, most=1_000),
    ] = 20
    design: Annotated[
        str,
        Param(
            "Query design", "Query design: {options}.", options={**DESIGNS, **SINGLE}, written=False
        ),
    ] = field(default="jitter", metadata=UNSAID)
    """A name of `DESIGNS`, or "single": question j accepts person j only, and the gap has no sign."""
    delta: Annotated[
        float,
        Param(
            "Failure probability δ",
            "Probability with which smooth_laplace may fail.",
            least=0.0,
            most=1.0,
            above=True,
            below=True,
            only=("mechanism", ("smooth_laplace",)),
        ),
    ] = field(default=DELTA, metadata=UNSAID)

    @property
    def answer_mechanism(self) -> Mechanism:
        """How answers are made."""
        return mechanism_of(
            self.mechanism,
            epsilon=self.epsilon,
            decimals=self.decimals,
            delta=self.delta,
            absolute=self.design in SINGLE,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasQueriesResult(Result):
    """What attackers recover from a number of answers, beside what they infer without."""

    attribute: str
    largest: str = ""
    """With more than two groups the one that is compared with everybody else; "" with two."""
    n_groups: int = 2
    n_people: int = 0
    """Test records."""
    sizes: tuple[int, int] = (0, 0)
    """How many of the people asked about are of the advantaged and the disadvantaged group."""
    prior: Estimate | None = None
    """Balanced accuracy from the features alone; None where nothing was measured."""
    leaks: tuple[Leak, ...] = ()
    """One a decoder, after as many answers as are planned."""
    errors: Mapping[str, ErrorQuantiles] = field(default_factory=dict)
    """Way to answer -> error of one of so many answers; those without noise have none."""
    accuracy: tuple[Estimate, Estimate, float] | None = None
    """Of the audited model and the queried ones, as of `Trials.accuracy`; None where these are no models."""
    metric: str = "statistical_parity"
    """Whose gap is asked for, which says of whom the accuracy is."""
    targeted: float = 1.0
    """Balanced accuracy against one person whom one query singles out with the whole budget."""
    ceiling: float | None = None
    """Balanced accuracy that no attacker with the prior can exceed, where that is known."""
    reason: str = ""
    """Why nothing was measured."""

    @property
    def best(self) -> Leak:
        """The leak of the decoder that gains most."""
        return max(self.leaks, key=lambda leak: leak.gain.value)

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the intervals over repetitions."""
        return self.leaks[0].leakage.n - 1

    @property
    def gain(self) -> Estimate:
        """The gain of that decoder, with an interval that holds although it was picked among those tried."""
        gains = {leak.decoder: leak.gain for leak in self.leaks}
        return strongest(gains, freedom=self.freedom, within=(-1.0, 1.0))[1]
