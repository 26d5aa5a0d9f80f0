"""The study of bias queries (Hamman et al. 2023): what planned answers reveal about the test records.

Page, terminal and reports take their sentences from here. The checks of planned answers are the gain over the features,
and the bound on one person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...base.errors import InputError
from ...base.validation import child_generator
from ...stats.estimates import (
    ALMOST_ALL,
    at_most,
    certain,
    change_decimals,
    count,
    interval,
    percent,
    points,
    share,
)
from ..study import (
    Basis,
    Check,
    Finding,
    Measurement,
    Plant,
    ReportProgress,
    Row,
    Study,
    not_run,
    subject_of,
    synthetic_people,
)
from ..subject import Subject
from .decoders import DECODER_TITLES, DECODERS
from .gaps import DESIGNS, SINGLE
from .guarantees import accuracy_limit, error_text, targeted_leakage
from .mechanisms import NOISES, Mechanism
from .trials import (
    BiasQueriesResult,
    BiasQueriesSettings,
    QueryPool,
    Trials,
    best_by_number,
    needed,
    query_pool,
    two_sided,
)

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
    people = synthetic_people(np.zeros((n, 1)), np.ones(n, dtype=np.uint8), sensitive)
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
    declared = (
        Check(
            name="answers_excess",
            title="{attribute} inferred from bias-query answers: gain",
            unit="points",
            definition="Balanced accuracy of the best decoder after the planned answers to bias queries minus that of "
            "the features alone (Hamman et al. 2023).",
            needs=("scores", "planned answers"),
        ),
        Check(
            name="targeted_leakage",
            title="Targeted query on one person (bound)",
            unit="percent",
            chance=0.5,
            definition="Largest balanced accuracy with which the planned answers can reveal one person's group, "
            "whatever is asked and without a prior: calculated from the declared mechanism and budget, not measured.",
            needs=("planned answers",),
        ),
    )
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
        """Return the finding: what the answers reveal, what that means, and what can be done."""
        if not result.leaks or result.prior is None:
            return (Finding(point=result.reason or "No answers to bias queries are planned."),)
        now = result.best
        people = count(sum(result.sizes))
        evidence = (
            f"Best decoder: {percent(now.leakage)} balanced accuracy (95% CI "
            f"{interval(now.leakage)}; {count(now.leakage.n)} repetitions with {people} people). Features alone give "
            f"{percent(result.prior)}, random guessing 50%."
        )
        if result.ceiling is not None and result.ceiling < ALMOST_ALL:
            if settings.answer_mechanism.noisy:
                how = f"ε = {settings.epsilon:g}"
            else:
                how = "exact posterior"
            if settings.mechanism == "smooth_laplace":
                how += f", δ = {settings.delta:g}"
            evidence += (
                f" {at_most(result.ceiling, f'{how}, group sizes known', of=' balanced accuracy')}"
            )
        headline = Finding(
            point=_point(result, settings),
            evidence=evidence,
            so_what=_so_what(result, settings),
            to_do=_to_do(result, settings),
            caveats=_caveats(settings),
            estimate=now.leakage,
            baseline=result.prior,
            attacker_knows="Features and labels, the group sizes, every queried score, and how the answers are made.",
        )
        return (headline,)

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
                {
                    "attacker": attacker,
                    "answers": m,
                    "draws": settings.repeats,
                    "balanced accuracy": share(leakage),
                }
                for attacker, m, leakage in rows
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


def answers_text(m: int, mechanism: Mechanism) -> str:
    """Write what answers there are: "answers: 10, Cauchy noise at ε = 5", "answers: 1, exact"."""
    return f"answers: {count(m)}, {mechanism.text}"


def _useless(result: BiasQueriesResult, settings: BiasQueriesSettings) -> bool:
    """Return whether half of the noisy answers are off by more than the largest gap, and gain nothing significant."""
    error = result.errors.get(settings.mechanism)
    return (
        settings.answer_mechanism.noisy
        and error is not None
        and error.exceeds_range
        and not result.gain.low > 0
    )


def _point(result: BiasQueriesResult, settings: BiasQueriesSettings) -> str:
    now = result.best
    attribute = result.attribute
    error = result.errors.get(settings.mechanism)
    answers = answers_text(now.m, settings.answer_mechanism)
    gain = result.gain
    alone = ""
    decimals = None
    if result.prior is not None:
        decimals = change_decimals(result.prior, now.leakage, gain)
        alone = f" over features alone ({percent(result.prior, decimals=decimals)})"
    if error is not None and _useless(result, settings):
        median = f"median error {error_text(error.median)}"
        return f"Noise makes the answers useless ({answers}): {median}, a gap is at most 1."
    if now.complete == 1.0 and gain.value > 0:
        return f"The answers reveal everybody's {attribute} ({answers})."
    if gain.low > 0:
        level = percent(now.leakage, decimals=decimals)
        change = points(gain, decimals=decimals)
        reached = f"{level} balanced accuracy, a gain of {change}{alone}"
        return f"The answers reveal {attribute} ({answers}): {reached}."
    if gain.high < 0:
        return f"The answers mislead the attacker about {attribute} ({answers}): {points(gain)}{alone}."
    # an interval that is not known decides nothing
    return f"The answers have no statistically significant effect on inferring {attribute} ({answers})."


def _so_what(result: BiasQueriesResult, settings: BiasQueriesSettings) -> str:
    if settings.mechanism == "exact":
        return (
            f"Each exact answer is an equation in everybody's {result.attribute}, and enough "
            "of them have one solution."
        )
    if settings.mechanism == "rounded":
        return "Rounding guarantees nothing: what it hides in one query, another query shows."
    error = result.errors[settings.mechanism]
    off = f"Half of the answers are off by more than {error_text(error.median)}."
    return (
        f"{off} A targeted query with the whole budget reveals a person's group with {percent(result.targeted)} "
        "balanced accuracy (no prior). The check of a targeted query is the bound for any query, with the group sizes "
        f"known: {percent(declared_limits(settings)[0])}."
    )


def _to_do(result: BiasQueriesResult, settings: BiasQueriesSettings) -> str:
    error = result.errors.get(settings.mechanism)
    sums = result.errors.get("noisy_sums")
    desk = "The query desk answers real queries."
    if sums is None:
        return desk
    if not settings.answer_mechanism.noisy:
        at = f"at ε = {settings.epsilon:g} noisy sums answer with median error {error_text(sums.median)}."
        if sums.exceeds_range:
            return f"Add answer noise, and ask about more people: {at}"
        return f"Add answer noise: {at} {desk}"
    if error is not None and sums.median < error.median:
        return f"Noisy sums keep the same ε with median error {error_text(sums.median)}. {desk}"
    if _useless(result, settings):
        return f"Ask fewer queries, about more people, or raise ε. {desk}"
    if result.gain.low > 0:
        return f"Lower ε, answer fewer queries, or ask about more people. {desk}"
    return "Answer real queries at the query desk, with one total privacy budget."


def _caveats(settings: BiasQueriesSettings) -> tuple[str, ...]:
    if settings.mechanism == "smooth_laplace" and settings.epsilon >= 1:
        return ("The theorem behind this noise is stated for ε below 1.",)
    return ()


def curve_finding(
    results: Sequence[BiasQueriesResult], settings: BiasQueriesSettings, *, complete: bool = True
) -> Finding:
    """Return how many answers the best decoder needs by results with other numbers of them; `complete` when all are in.

    And how accurate the queried models are, by the result with most answers.
    """
    how = {"exact": "without noise", "rounded": "with this rounding"}.get(
        settings.mechanism, "with this noise"
    )
    start = f"Answers needed {how} for 95% balanced accuracy:"
    if not complete:
        return Finding(point=f"{start} still counting.", evidence=_accuracy_text(results))
    curve = best_by_number([leak for result in results for leak in result.leaks])
    last = max((leak.m for leak in curve), default=0)
    most, everybody = (
        f"not reached with {count(last)}" if fewest is None else count(fewest)
        for fewest in (needed(curve, 0.95), needed(curve, 1.0))
    )
    point = f"{start} {most}; for everybody in every repetition: {everybody}."
    return Finding(point=point, evidence=_accuracy_text(results))


def _accuracy_text(results: Sequence[BiasQueriesResult]) -> str:
    """Return how accurate the queried models are; those that accept one person each are none."""
    result = max(results, key=lambda result: result.best.m, default=None)
    if result is None or result.accuracy is None:
        return ""
    base, queried, spread = result.accuracy
    # people of one label alone are asked about
    rate = {
        "equal_opportunity": "True positive rate",
        "predictive_equality": "True negative rate",
    }.get(result.metric)
    return (
        f"{rate or 'Accuracy'} of the queried models: {percent(queried)} "
        f"(± {100 * spread:.1f} from model to model); of the audited model: {percent(base)}. "
        "Counted on the people asked about."
    )


def declared_limits(settings: BiasQueriesSettings) -> tuple[float, float]:
    """Return the largest balanced accuracy about one person, with the group sizes known and without.

    Exact answers reveal everything; rounded ones have no guarantee: what one query hides, another one shows.
    """
    if not settings.questions:
        return 0.5, 0.5
    mechanism = settings.answer_mechanism
    if not mechanism.holds:
        return 1.0, 1.0
    delta = getattr(mechanism, "delta", 0.0)
    return (
        accuracy_limit(settings.epsilon, delta=delta, with_sizes=True),
        accuracy_limit(settings.epsilon, delta=delta),
    )


def _declared(settings: BiasQueriesSettings) -> list[str]:
    if settings.mechanism == "exact":
        return [
            "Exact answers have no guarantee: one query that accepts a single person reveals them."
        ]
    if settings.mechanism == "rounded":
        return ["Rounding has no guarantee: where one query hides a person, others show them."]
    if not settings.answer_mechanism.holds:
        return ["There is no guarantee: the theorem behind this noise is stated for ε below 1."]
    return [
        f"The answers keep ε = {settings.epsilon:g} together; an attacker who knows the group "
        "sizes is bounded by twice that.",
        f"Without the group sizes the bound is {percent(declared_limits(settings)[1])} balanced accuracy.",
        "The bound is for an attacker without a prior; one with a prior starts from it.",
    ]


def answers_excess(result: BiasQueriesResult, settings: BiasQueriesSettings) -> Measurement:
    """Return the balanced accuracy after the answers minus that of the features alone, of the best decoder."""
    if not settings.questions:
        return _none_planned("answers_excess", result, 0.0)
    if not result.leaks:
        return not_run("answers_excess", result.reason)
    if result.largest:
        target = f"Whether the {result.attribute} is {result.largest},"
    else:
        target = f"The {result.attribute}"
    n1, n0 = result.sizes
    queries = "slight changes of the audited model"
    if settings.design != "jitter":
        queries = f"of one design ({(DESIGNS | SINGLE)[settings.design].lower()})"
    assumptions = [f"The queries are {queries}; other queries may reveal more or less."]
    if result.largest:
        assumptions.append(
            f"Answers compare two groups: of {result.n_groups} the largest, {result.largest}, stands against "
            "everybody else; answers about other groups may reveal more or less."
        )
    gains = {f"{DECODER_TITLES[leak.decoder]}, gain": leak.gain.value for leak in result.leaks}
    rates = {
        f"{DECODER_TITLES[leak.decoder]}, balanced accuracy": leak.leakage.value
        for leak in result.leaks
    }
    return Measurement(
        check="answers_excess",
        estimate=result.gain,
        freedom=result.freedom,
        control=result.prior,
        control_name="features alone, no answers",
        attacked=f"{target} of {settings.people:,} test people at a time, in {settings.repeats:,} repetitions, read by "
        f"the {DECODER_TITLES[result.best.decoder]} ({answers_text(settings.questions, settings.answer_mechanism)}).",
        knows=f"The features and labels of these people, that {n1:,} and {n0:,} of them are in the two groups, {_HOW}.",
        assumptions=(
            *assumptions,
            "The interval is over repetitions with other people, queries and noise, and holds for the decoders tried "
            "together.",
        ),
        details=gains | rates,
    )


def targeted_bound(result: BiasQueriesResult, settings: BiasQueriesSettings) -> Measurement:
    """Return the guarantee of the planned answers against an attacker who knows the group sizes."""
    n = settings.people if settings.questions else result.n_people
    chance: dict[str, Any] = {"control": certain(0.5, n), "control_name": "random guessing"}
    if not settings.questions:
        return _none_planned("targeted_leakage", result, 0.5, **chance)
    informed_limit, unknown = declared_limits(settings)
    answers = answers_text(settings.questions, settings.answer_mechanism)
    return Measurement(
        check="targeted_leakage",
        basis=Basis.DECLARED,
        estimate=certain(informed_limit, settings.people),
        attacked=f"The {result.attribute} of one person among {settings.people:,} ({answers}).",
        knows=f"The group sizes, {_HOW}; nothing else of the person.",
        assumptions=tuple(_declared(settings)),
        details={"group sizes known": informed_limit, "group sizes not known": unknown},
        **chance,
    )


_HOW = "every queried score, and how the answers are made"


def _none_planned(
    check: str, result: BiasQueriesResult, value: float, **control: Any
) -> Measurement:
    """Return the number that follows from giving no answers."""
    return Measurement(
        check=check,
        basis=Basis.NOT_RELEASED,
        estimate=certain(value, result.n_people),
        attacked="No answers to bias queries are planned.",
        knows="No answers.",
        assumptions=(
            "The plan declares 0 answers; it was not measured, and does not hold once a query is answered.",
        ),
        **control,
    )


STUDY = BiasQueries()
