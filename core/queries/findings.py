"""What answers to bias queries give away, worded once: page, terminal and reports take their sentences from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.estimates import Estimate, count, interval, percent, points
from core.queries.guarantees import ErrorQuantiles, targeted_leakage
from core.queries.mechanisms import Exact
from core.queries.settings import NOISES, Answering
from core.queries.trials import Leak, QuestionAccuracy, Trials, needed
from core.serialize import Result
from core.study import Finding


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
    reason: str = ""
    """Why nothing was measured."""

    @property
    def best(self) -> Leak:
        """The leak of the decoder that gains most."""
        return max(self.leaks, key=lambda leak: leak.gain.value)


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
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def noise_text(answering: Answering) -> str:
    """Write how answers are made: "exact", "rounded to 3 decimals", "Cauchy noise at ε = 5", "noisy sums at ε = 1"."""
    if answering.noise == "exact":
        return "exact"
    if answering.noise == "rounded":
        return f"rounded to {answering.decimals} decimal{'' if answering.decimals == 1 else 's'}"
    noise = "noisy sums" if answering.noise == "noisy_sums" else f"{NOISES[answering.noise]} noise"
    return f"{noise} at ε = {answering.epsilon:g}"


def answers_text(m: int, answering: Answering) -> str:
    """Write what answers there are: "10 answers with Cauchy noise at ε = 5", "1 exact answer"."""
    answers, how = "answer" if m == 1 else "answers", noise_text(answering)
    if answering.noise == "exact":
        return f"{count(m)} exact {answers}"
    joined = {"rounded": "", "noisy_sums": "from "}.get(answering.noise, "with ")
    return f"{count(m)} {answers} {joined}{how}"


def findings(found: AnswersLeak, answering: Answering) -> tuple[Finding, ...]:
    """Return what the answers give away; after it, where that is so, that nobody can use them."""
    if not found.leaks or found.prior is None:
        return (Finding(point=found.reason or "No answers to bias queries are planned."),)
    now, s = found.best, "" if found.best.m == 1 else "s"
    evidence = [
        f"After {count(now.m)} answer{s} the best decoder reaches {percent(now.leakage)} balanced accuracy (95% CI "
        f"{interval(now.leakage)}).",
        f"Features alone give {percent(found.prior)}, random guessing 50%.",
    ]
    error = found.errors.get(answering.noise)
    if answering.private:
        evidence.append(
            f"A targeted query reveals one person's group with {percent(found.targeted)} balanced accuracy."
        )
    if error is not None and not error.exceeds_range:
        evidence.append(f"The median error of an answer is {error_text(error.median)}.")
    sums = found.errors.get("noisy_sums")
    better = ""
    if sums is not None and error is not None and answering.private and sums.median < error.median:
        better = f"Noisy sums keep the same ε with median error {error_text(sums.median)}. "
    headline = Finding(
        point=_point(found, answering),
        evidence=" ".join(evidence),
        so_what="Exact or rounded answers do not protect anyone; noise protects, at a price in accuracy.",
        to_do=f"{better}To answer real queries use the private query desk.",
        caveats=_caveats(answering),
        estimate=now.leakage,
        baseline=found.prior,
        attacker_knows="Features and labels, the group sizes, every score asked about, and how the answers are made.",
    )
    if error is None or not error.exceeds_range:
        return (headline,)
    span = "between 0 and 1" if answering.absolute else "between −1 and 1"
    unusable = f"Half of them are off by more than {error_text(error.median)}; a gap lies {span}."
    return headline, Finding(point="These answers are not usable.", evidence=unusable)


def _point(found: AnswersLeak, answering: Answering) -> str:
    now, attribute, error = found.best, found.attribute, found.errors.get(answering.noise)
    answers, one, gain = answers_text(now.m, answering), now.m == 1, now.gain
    if not now.m:
        return f"Without any answer, features alone infer {attribute} with {percent(now.leakage)} balanced accuracy."
    if answering.private and error is not None and error.exceeds_range:
        noise = noise_text(answering)
        make = "make" if answering.noise == "noisy_sums" else "makes"
        median = error_text(error.median)
        return f"{noise[:1].upper()}{noise[1:]} {make} the answers useless: median error {median}, a gap is at most 1."
    if now.complete == 1.0 and gain.value > 0:
        return f"{answers} reveal{'s' if one else ''} everybody's {attribute}."
    if gain.low > 0:
        reached = f"{percent(now.leakage)} balanced accuracy (baseline 50%)"
        return f"{answers} reveal{'s' if one else ''} {attribute} with {reached}: {points(gain)} beyond the features."
    if gain.high < 0:
        return f"{answers} mislead{'s' if one else ''}: {points(gain)} in balanced accuracy on {attribute}."
    # an interval that is not known decides nothing
    return f"{answers} {'has' if one else 'have'} no statistically significant effect on inferring {attribute}."


def _caveats(answering: Answering) -> tuple[str, ...]:
    more = []
    if answering.private:
        more.append("The targeted query takes the whole budget; nothing else is known of the person.")
    if answering.as_published and answering.noise not in ("exact", "rounded", "noisy_sums"):
        more.append(answering.mechanism().why(True))
    if answering.noise == "smooth_laplace" and answering.epsilon >= 1:
        more.append("The theorem behind this noise is stated for ε below 1.")
    return tuple(more)


def needed_text(curve: Sequence[Leak], last: int, answering: Answering, *, whole: bool = True) -> str:
    """Say how many answers of a curve up to `last` reach 95% and everybody; `whole` unless it is still growing."""
    how = {"exact": "Without noise", "rounded": "So rounded"}.get(answering.noise, "With this noise")
    if not whole:
        return f"{how}: still counting the answers that 95% takes."
    most, everybody = needed(curve, 0.95), needed(curve, 1.0)
    if most is None:
        return f"{how}, {count(last)} answers are not enough for a balanced accuracy of 95%."
    rest = f"{count(last)} are not enough" if everybody is None else f"{count(everybody)} suffice"
    return f"{how}, {count(most)} answers reach a balanced accuracy of 95%; {rest} for everybody in every draw."


def accuracy_text(found: QuestionAccuracy) -> str:
    """Say how odd the models asked about look."""
    return (
        f"Accuracy of the queried models: {percent(found.asked)} (± {100 * found.spread:.1f} from model to model); "
        f"of the audited model: {percent(found.base)}."
    )
