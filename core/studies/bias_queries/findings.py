"""Findings about answers to bias queries: page, terminal and reports take their sentences from here.

And the checks of planned answers: the gain over the features, and the bound on one person; tables of the leaks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from ...base.param import Param
from ...base.serialize import Result
from ...base.settings import Settings, params
from ...base.validation import LEAST_EPSILON
from ...stats.estimates import ALMOST_ALL, Estimate, at_most, certain, count, interval, percent, points, strongest
from ...stats.quantities import Row, Tables, change, share
from ..study import Basis, Check, Finding, Measurement, not_run
from .decoders import DECODER_TITLES
from .guarantees import ErrorQuantiles, accuracy_limit, targeted_leakage
from .mechanisms import NOISE_TITLES, NOISES, Answering, Exact
from .trials import Asking, Leak, Trials, best_by_number, needed

_ANSWERING, _ASKING = params(Answering), params(Asking)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAnswers(Settings):
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
    people: Annotated[int, replace(_ASKING["n"].param, most=5_000)] = 100
    mechanism: Annotated[
        str,
        replace(
            _ANSWERING["noise"].param,
            options={key: name for key, name in NOISE_TITLES.items() if key != "smooth_laplace"},
        ),
    ] = "noisy_sums"
    epsilon: Annotated[
        float, replace(_ANSWERING["epsilon"].param, least=LEAST_EPSILON, most=1_000.0, step=0.1, above=False)
    ] = 1.0
    decimals: Annotated[int, _ANSWERING["decimals"].param] = 3
    repeats: Annotated[int, replace(_ASKING["repeats"].param, least=2, most=1_000)] = 20

    @property
    def answering(self) -> Answering:
        """How they are made."""
        return Answering(noise=self.mechanism, epsilon=self.epsilon, decimals=self.decimals)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersLeak(Result):
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
    """One a decoder, after as many answers as are meant."""
    errors: Mapping[str, ErrorQuantiles] = field(default_factory=dict)
    """Way to answer -> error of one of so many answers; those without noise have none."""
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


def answers_leak(
    trials: Trials,
    m: int,
    answering: Answering,
    *,
    attribute: str,
    decoders: Sequence[str] = ("strongest",),
    noises: Sequence[str] = ("noisy_sums",),
) -> AnswersLeak:
    """Return what some decoders recover from `m` answers, with the error that each way to answer has."""
    mechanism, n1, n0 = answering.mechanism(), trials.n_advantaged, trials.n_disadvantaged
    return AnswersLeak(
        attribute=attribute,
        sizes=(n1, n0),
        prior=trials.leak(0, Exact(absolute=answering.absolute), "strongest").leakage,
        leaks=tuple(trials.leak(m, mechanism, decoder) for decoder in decoders),
        errors={
            noise: trials.error(max(m, 1), answering.mechanism(noise))
            for noise in dict.fromkeys((answering.noise, *noises))
            if noise != "exact"
        },
        targeted=targeted_leakage(mechanism, n1, n0),
        ceiling=trials.ceiling(m, mechanism) if m else None,
    )


def error_text(value: float) -> str:
    """Write an error of a gap with two digits: "0.21", "11.7", "149"."""
    if value == 0:
        return "0"
    if value < 0.0001:
        return "under 0.0001"
    if value >= 1000:
        return f"{float(f'{value:.2g}'):,.0f}"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def noise_text(answering: Answering) -> str:
    """Write how answers are made: "exact", "rounded, decimals: 3", "Cauchy noise at ε = 5", "noisy sums at ε = 1"."""
    if answering.noise == "exact":
        return "exact"
    if answering.noise == "rounded":
        return f"rounded, decimals: {answering.decimals}"
    noise = "noisy sums" if answering.noise == "noisy_sums" else f"{NOISES[answering.noise]} noise"
    return f"{noise} at ε = {answering.epsilon:g}"


def answers_text(m: int, answering: Answering) -> str:
    """Write what answers there are: "answers: 10, Cauchy noise at ε = 5", "answers: 1, exact"."""
    return f"answers: {count(m)}, {noise_text(answering)}"


def findings(result: AnswersLeak, answering: Answering) -> tuple[Finding, ...]:
    """Return the finding: what the answers reveal, what that means, and what can be done."""
    if not result.leaks or result.prior is None:
        return (Finding(point=result.reason or "No answers to bias queries are planned."),)
    now, people = result.best, count(sum(result.sizes))
    evidence = (
        f"Best decoder: {percent(now.leakage)} balanced accuracy (95% CI "
        f"{interval(now.leakage)}; {count(now.leakage.n)} repetitions with {people} people). Features alone give "
        f"{percent(result.prior)}, random guessing 50%."
    )
    if result.ceiling is not None and result.ceiling < ALMOST_ALL:
        how = f"ε = {answering.epsilon:g}" if answering.private else "exact posterior"
        how += f", δ = {answering.delta:g}" if answering.noise == "smooth_laplace" else ""
        evidence += f" {at_most(result.ceiling, f'{how}, group sizes known', of=' balanced accuracy')}"
    headline = Finding(
        point=_point(result, answering),
        evidence=evidence,
        so_what=_so_what(result, answering),
        to_do=_to_do(result, answering),
        caveats=_caveats(answering),
        estimate=now.leakage,
        baseline=result.prior,
        attacker_knows="Features and labels, the group sizes, every queried score, and how the answers are made.",
    )
    return (headline,)


def _useless(result: AnswersLeak, answering: Answering) -> bool:
    """Return whether half of the noisy answers are off by more than the largest gap, and gain nothing significant."""
    error = result.errors.get(answering.noise)
    return answering.private and error is not None and error.exceeds_range and not result.gain.low > 0


def _point(result: AnswersLeak, answering: Answering) -> str:
    now, attribute, error = result.best, result.attribute, result.errors.get(answering.noise)
    answers, gain = answers_text(now.m, answering), result.gain
    alone = "" if result.prior is None else f" over features alone ({percent(result.prior)})"
    if not now.m:
        return f"Without any answer, features alone infer {attribute} with {percent(now.leakage)} balanced accuracy."
    if error is not None and _useless(result, answering):
        median = f"median error {error_text(error.median)}"
        return f"Noise makes the answers useless ({answers}): {median}, a gap is at most 1."
    if now.complete == 1.0 and gain.value > 0:
        return f"The answers reveal everybody's {attribute} ({answers})."
    if gain.low > 0:
        reached = f"{percent(now.leakage)} balanced accuracy, a gain of {points(gain)}{alone}"
        return f"The answers reveal {attribute} ({answers}): {reached}."
    if gain.high < 0:
        return f"The answers mislead the attacker about {attribute} ({answers}): {points(gain)}{alone}."
    # an interval that is not known decides nothing
    return f"The answers have no statistically significant effect on inferring {attribute} ({answers})."


def _so_what(result: AnswersLeak, answering: Answering) -> str:
    if not result.best.m:
        return "This is known without the model's owner. Only what the answers add is a leak."
    if answering.noise == "exact":
        return (
            f"Each exact answer is an equation in everybody's {result.attribute}, and enough of them have one solution."
        )
    if answering.noise == "rounded":
        return "Rounding guarantees nothing: what it hides in one query, another query shows."
    error = result.errors[answering.noise]
    off = f"Half of the answers are off by more than {error_text(error.median)}."
    return (
        f"{off} A targeted query with the whole budget reveals a person's group with {percent(result.targeted)} "
        "balanced accuracy (no prior)."
    )


def _to_do(result: AnswersLeak, answering: Answering) -> str:
    error, sums = result.errors.get(answering.noise), result.errors.get("noisy_sums")
    desk = "The query desk answers real queries."
    if not result.best.m:
        return f"Raise the number of answers to see what they reveal. {desk}"
    if sums is None:
        return desk
    if not answering.private:
        at = f"at ε = {answering.epsilon:g} noisy sums answer with median error {error_text(sums.median)}."
        if sums.exceeds_range:
            return f"Add answer noise, and ask about more people: {at}"
        return f"Add answer noise: {at} {desk}"
    if error is not None and sums.median < error.median:
        return f"Noisy sums keep the same ε with median error {error_text(sums.median)}. {desk}"
    if _useless(result, answering):
        return f"Ask fewer queries, about more people, or raise ε. {desk}"
    if result.gain.low > 0:
        return f"Lower ε, answer fewer queries, or ask about more people. {desk}"
    return "Answer real queries at the query desk, with one total privacy budget."


def _caveats(answering: Answering) -> tuple[str, ...]:
    more = []
    if answering.noise == "smooth_laplace" and answering.epsilon >= 1:
        more.append("The theorem behind this noise is stated for ε below 1.")
    return tuple(more)


def curve_finding(trials: Trials, curve: Sequence[Leak], answering: Answering, *, complete: bool = True) -> Finding:
    """Return how many answers of a curve suffice for the best decoder in it, and the accuracy of the queried models."""
    point = _needed_text(curve, answering, complete=complete)
    if answering.absolute:
        return Finding(point=point)
    accuracy = trials.accuracy(trials.numbers[-1])
    # people of one label alone are asked about
    rate = {"equal_opportunity": "True positive rate", "predictive_equality": "True negative rate"}.get(trials.metric)
    evidence = (
        f"{rate or 'Accuracy'} of the queried models: {percent(accuracy.queried)} "
        f"(± {100 * accuracy.spread:.1f} from model to model); of the audited model: {percent(accuracy.base)}."
    )
    return Finding(point=point, evidence=evidence)


def _needed_text(curve: Sequence[Leak], answering: Answering, *, complete: bool) -> str:
    """Return how many answers of a curve reach 95% and everybody; `complete` unless it is still growing."""
    curve = best_by_number(curve)
    last = max((leak.m for leak in curve), default=0)
    how = {"exact": "without noise", "rounded": "with this rounding"}.get(answering.noise, "with this noise")
    if not complete:
        return f"Answers needed {how} for 95% balanced accuracy: still counting."
    most, everybody = (
        f"not reached with {count(last)}" if fewest is None else count(fewest)
        for fewest in (needed(curve, 0.95), needed(curve, 1.0))
    )
    return f"Answers needed {how} for 95% balanced accuracy: {most}; for everybody in every repetition: {everybody}."


DECLARED = (
    Check(
        name="answers_excess",
        title="{attribute} inferred from bias-query answers: gain",
        unit="points",
        definition="Balanced accuracy of the best decoder after the planned answers to bias queries minus that of the "
        "features alone (Hamman et al. 2023).",
        needs=("scores", "planned answers"),
    ),
    Check(
        name="targeted_leakage",
        title="Targeted query on one person (bound)",
        unit="percent",
        definition="Largest balanced accuracy with which the planned answers can reveal one person's group, whatever "
        "is asked and without a prior: calculated from the declared mechanism and budget, not measured.",
        needs=("planned answers",),
    ),
)


def declared_limits(planned: PlannedAnswers) -> tuple[float, float]:
    """Return the largest balanced accuracy about one person, with the group sizes known and without.

    Exact answers reveal everything; rounded ones have no guarantee: what one query hides, another one shows.
    """
    if not planned.questions:
        return 0.5, 0.5
    if not planned.answering.private:
        return 1.0, 1.0
    return accuracy_limit(planned.epsilon, with_sizes=True), accuracy_limit(planned.epsilon)


def _declared(planned: PlannedAnswers) -> list[str]:
    if planned.mechanism == "exact":
        return ["Exact answers have no guarantee: one query that accepts a single person reveals them."]
    if planned.mechanism == "rounded":
        return ["Rounding has no guarantee: where one query hides a person, others show them."]
    return [
        f"The answers keep ε = {planned.epsilon:g} together; an attacker who knows the group "
        "sizes is bounded by twice that.",
        f"Without the group sizes the bound is {percent(declared_limits(planned)[1])} balanced accuracy.",
        "The bound is for an attacker without a prior; one with a prior starts from it.",
    ]


def answers_excess(result: AnswersLeak, planned: PlannedAnswers) -> Measurement:
    """Return the balanced accuracy after the answers minus that of the features alone, of the best decoder."""
    if not planned.questions:
        return _none_planned("answers_excess", result, 0.0)
    if not result.leaks:
        return not_run("answers_excess", result.reason)
    target = f"Whether the {result.attribute} is {result.largest}," if result.largest else f"The {result.attribute}"
    n1, n0 = result.sizes
    assumptions = ["The queries are slight changes of the audited model; other queries may reveal more or less."]
    if result.largest:
        assumptions.append(
            f"Answers compare two groups: of {result.n_groups} the largest, {result.largest}, stands against "
            "everybody else; answers about other groups may reveal more or less."
        )
    gains = {f"{DECODER_TITLES[leak.decoder]}, gain": leak.gain.value for leak in result.leaks}
    rates = {f"{DECODER_TITLES[leak.decoder]}, balanced accuracy": leak.leakage.value for leak in result.leaks}
    return Measurement(
        check="answers_excess",
        estimate=result.gain,
        freedom=result.freedom,
        control=result.prior,
        control_name="features alone, no answers",
        attacked=f"{target} of {planned.people:,} test people at a time, in {planned.repeats:,} repetitions, read by "
        f"the {DECODER_TITLES[result.best.decoder]} ({answers_text(planned.questions, planned.answering)}).",
        knows=f"The features and labels of these people, that {n1:,} and {n0:,} of them are in the two groups, {_HOW}.",
        assumptions=(
            *assumptions,
            "The interval is over repetitions with other people, queries and noise, and holds for the decoders tried "
            "together.",
        ),
        details=gains | rates,
    )


def targeted_bound(result: AnswersLeak, planned: PlannedAnswers) -> Measurement:
    """Return the guarantee of the planned answers against an attacker who knows the group sizes."""
    n = planned.people if planned.questions else result.n_people
    chance: dict[str, Any] = {"control": certain(0.5, n), "control_name": "random guessing"}
    if not planned.questions:
        return _none_planned("targeted_leakage", result, 0.5, **chance)
    informed_limit, unknown = declared_limits(planned)
    answers = answers_text(planned.questions, planned.answering)
    return Measurement(
        check="targeted_leakage",
        basis=Basis.DECLARED,
        estimate=certain(informed_limit, planned.people),
        attacked=f"The {result.attribute} of one person among {planned.people:,} ({answers}).",
        knows=f"The group sizes, {_HOW}; nothing else of the person.",
        assumptions=tuple(_declared(planned)),
        details={"group sizes known": informed_limit, "group sizes not known": unknown},
        **chance,
    )


_HOW = "every queried score, and how the answers are made"


def _none_planned(check: str, result: AnswersLeak, value: float, **control: Any) -> Measurement:
    """Return the number that follows from giving no answers."""
    return Measurement(
        check=check,
        basis=Basis.DECLARED,
        estimate=certain(value, result.n_people),
        attacked="Nothing: no answers to bias queries are planned.",
        knows="No answers.",
        assumptions=("The plan declares 0 answers; it was not measured, and does not hold once a query is answered.",),
        **control,
    )


MEANING = (
    "Balanced accuracy: random guessing reaches 50%; 95% CIs over repetitions with other people, queries and noise.",
    "Gain: over the features alone, repetition by repetition.",
)
"""What the columns mean."""


def tables(leaks: Mapping[str, Sequence[Leak]], errors: Mapping[str, ErrorQuantiles]) -> Tables:
    """Return the leaks by how the answers are made, and the errors of an answer by kind of noise."""
    return {
        "Leakage by answers": [
            row for answers, noise_leaks in leaks.items() for row in _leak_rows(answers, noise_leaks)
        ],
        "Error of an answer": [
            {"noise": NOISES[noise], "median error": error.median, "95th percentile": error.high}
            for noise, error in errors.items()
        ],
    }


def _leak_rows(noise: str, leaks: Sequence[Leak]) -> Iterator[Row]:
    for leak in sorted(leaks, key=lambda leak: leak.m):
        cells = leak_row(DECODER_TITLES[leak.decoder], leak.m, leak.leakage.n, leak.leakage)
        everybody = {"lowest draw": share(leak.lowest), "draws with everybody inferred": share(leak.complete)}
        yield {"noise": noise, **cells, "gain": change(leak.gain), **everybody}


def leak_row(attacker: str, answers: int, draws: int, leakage: Estimate) -> dict[str, object]:
    """Return how much an attacker recovers after so many answers."""
    return {"attacker": attacker, "answers": answers, "draws": draws, "balanced accuracy": share(leakage)}
