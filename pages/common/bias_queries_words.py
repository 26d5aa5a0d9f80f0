"""The sentences of the bias queries: the finding with its number, interval and control, never more than measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from core.charts.queries import error_words
from core.config import AuditConfig
from core.estimates import Estimate, count, interval, percent, points
from core.queries import NOISES, Answering, ErrorQuantiles, Leak, QueryPool, needed, targeted_leakage
from pages.common import shell, wording
from pages.common.bias_queries_trials import QueryTrials

_ERROR_ROWS = ("rounded", "noisy_sums", "laplace", "smooth_laplace", "cauchy")
_MOST_SQUARES = 400
_MUCH = 0.1  # leakage beyond the features from which on noise counts as not hiding the attribute

Errors = Mapping[str, ErrorQuantiles]


def errors(people: QueryTrials, answering: Answering, m: int) -> Errors:
    """Return the error of an answer by the name of each kind of noise, the same number of questions asked."""
    return {NOISES[noise]: people.errors(max(m, 1), answering.mechanism(noise)) for noise in _ERROR_ROWS}


def holds(people: QueryTrials, answering: Answering) -> bool:
    """Whether the noise as it is set keeps its guarantee for these groups."""
    trials = people.trials
    return bool(answering.mechanism().holds(trials.n_advantaged, trials.n_disadvantaged))


def finding(
    people: QueryTrials, now: Leak, prior: Estimate, errors: Errors, answering: Answering, config: AuditConfig
) -> tuple[str, str]:
    """Return the finding of the page, and the grey line under it."""
    attribute = shell.escape(wording.attribute(config))
    answers = f"{count(now.m)} answer{'' if now.m == 1 else 's'}"
    found = f"{percent(now.leakage)} ({interval(now.leakage)})"
    quantity = (
        f"After {answers} the strongest attacker reaches {found} balanced accuracy; from the features alone it had "
        f"{percent(prior)}. Baseline: random guessing gives 50%."
    )
    if answering.as_published and answering.noise not in ("exact", "rounded", "noisy_sums"):
        quantity += " " + answering.mechanism().why(True)
    if answering.noise == "smooth_laplace" and answering.epsilon >= 1:
        quantity += " The theorem behind this noise is stated for ε below 1."
    error = errors.get(NOISES[answering.noise])
    s = "s" if now.m == 1 else ""
    reached = (
        f"reach{'es' if now.m == 1 else ''} {percent(now.leakage)} balanced accuracy on {attribute} (baseline 50%)"
    )
    if error is None:
        does = f"give{s} away everybody's {attribute}" if now.complete == 1.0 else reached
        return f"{answers.capitalize()} without noise {does}.", quantity
    clear = now.gain.low > 0
    if answering.noise == "rounded":
        digits = f"{answering.decimals} decimal{'' if answering.decimals == 1 else 's'}"
        if clear and now.gain.value > _MUCH:
            return f"Rounding to {digits} does not help: {answers} {reached}.", quantity
        typical = f"the typical error is {error_words(error.median)}"
        return f"Rounded to {digits}, {answers} {_effect(now)}; {typical}.", quantity
    sums = answering.noise == "noisy_sums"
    noise = "noisy sums" if sums else f"{NOISES[answering.noise]} noise"
    start, ends = f"At ε = {answering.epsilon:g}, {noise}", "" if sums else "s"
    trials = people.trials
    named = targeted_leakage(answering.mechanism(), trials.n_advantaged, trials.n_disadvantaged)
    aimed = f"one question aimed at one person reaches {percent(named)} balanced accuracy"
    quantity += " Aimed at one person: the whole budget on one answer, nothing else known of them."
    typical = f"typical error {error_words(error.median)}"
    if error.exceeds_range:
        return f"{start} ruin{ends} the answers ({typical}, on a scale that ends at 1); {aimed}.", quantity
    if clear and now.gain.value > _MUCH:
        return f"{start} do{'' if sums else 'es'} not hide {attribute}: {answers} {reached}.", quantity
    return f"{start}: {answers} {_effect(now)} ({typical}); {aimed}.", quantity


def _effect(now: Leak) -> str:
    """Say what the answers add to what features tell; the interval decides whether it is anything."""
    one, gain = now.m == 1, now.gain
    if not (gain.low > 0 or gain.high < 0):  # an interval that is not known decides nothing
        return f"{'has' if one else 'have'} no statistically significant effect beyond what features tell"
    if gain.low > 0:
        return f"add{'s' if one else ''} {points(gain).lstrip('+')} to what features tell"
    return f"lower{'s' if one else ''} what features tell by {points(gain).lstrip('−')}"


def useless(errors: Errors, answering: Answering) -> str:
    """Say plainly when the noise exceeds the metric's range; empty otherwise."""
    error = errors.get(NOISES[answering.noise])
    if error is None or not error.exceeds_range:
        return ""
    span = "between 0 and 1" if answering.absolute else "between −1 and 1"
    sums = errors[NOISES["noisy_sums"]]
    better = ""
    if answering.noise != "noisy_sums" and sums.median < error.median:
        better = f" Noisy sums keep the same ε with a typical error of {error_words(sums.median)}."
    return f"Half of the answers are off by more than {error_words(error.median)}; a gap lies {span}.{better}"


def needed_answers(people: QueryTrials, mechanism: Any, answering: Answering) -> str:
    """Say how many answers reach 95% and everybody, and how odd the models asked about look."""
    curve = people.curves(mechanism)["strongest"]
    told = {"exact": "Without noise", "rounded": "So rounded"}.get(answering.noise, "With this noise")
    if len(curve) < len(people.trials.numbers):
        told += ": still counting the answers that 95% takes."
    else:
        told += f", {_needed(needed(curve, 0.95), needed(curve, 1.0), people)}."
    if answering.absolute:
        return told
    found = people.accuracy(people.trials.numbers[-1])
    return (
        f"{told} The models asked about are right for {percent(found.asked)} of these people "
        f"(± {100 * found.spread:.1f} from model to model), the audited model for {percent(found.base)}."
    )


def _needed(most: int | None, everybody: int | None, people: QueryTrials) -> str:
    last = count(people.trials.numbers[-1])
    if most is None:
        return f"{last} answers are not enough for a balanced accuracy of 95%"
    told = f"{count(most)} answers reach a balanced accuracy of 95%"
    if everybody is None:
        return f"{told}; {last} are not enough for everybody in every draw"
    return f"{told}, {count(everybody)} everybody in every draw"


def found_out(people: QueryTrials, now: Leak, mechanism: Any, attribute: str) -> None:
    """Draw one square a person of one draw: filled where the attribute was recovered."""
    someone, reading = people.reading(now.m, mechanism, "strongest", now.typical)
    each = -(-someone.n // _MOST_SQUARES)
    one = "One square per person" if each == 1 else f"One square for {each} people"
    shell.whisper(
        "Who was found out",
        f"{one} in the draw nearest to the mean, strongest decoder after {count(now.m)} answers. Filled: {attribute} "
        "recovered; hollow: not",
    )
    right = reading.recovered == someone.sensitive
    strips = ""
    for group, name in ((0, people.pool.disadvantaged), (1, people.pool.advantaged)):
        inside = someone.sensitive == group
        strips += _strip(name, int(inside.sum()), int(np.count_nonzero(right & inside)), each)
    st.html(strips, width="stretch")


def _strip(name: str, size: int, found: int, each: int) -> str:
    from html import escape

    filled, squares = round(found / each), -(-size // each)
    box = "display:inline-block;width:11px;height:11px;margin:0 3px 3px 0;border:1.5px solid "
    full = f'<span style="{box}var(--fl-leak);background:var(--fl-leak)"></span>'
    hollow = f'<span style="{box}var(--fl-grey)"></span>'
    words = f"{count(size)} {escape(name)}: {count(found)} recovered"
    bold = f"{count(size)} {escape(name)}: <b>{count(found)} recovered</b>"
    return (
        f'<div style="margin:0 0 10px">'
        f'<div style="margin-bottom:4px">{bold}</div>'
        f'<div role="img" aria-label="{words}" style="line-height:0;max-width:{14 * min(squares, 62)}px">'
        f"{full * filled}{hollow * (squares - filled)}</div></div>"
    )


def guide(pool: QueryPool, attribute: str) -> str:
    """Explain the page."""
    asked = {"equal_opportunity": 1, "predictive_equality": 0}.get(pool.metric)
    among = "" if asked is None else f" Only people with label {asked} enter the gap, and only they can be found out."
    groups = f"{shell.escape(pool.advantaged)} and {shell.escape(pool.disadvantaged)}"
    return (
        f"A compliance team knows everybody's {attribute}; whoever builds models does not, but may ask how a model's "
        f"mean score differs between {groups}. Each answer is a linear equation in everybody's {attribute}; enough of "
        f"them have one solution.{among}\n\n"
        "**The attackers.** The strongest knows the group sizes, how the noise is made and, from features and label, "
        "a probability for every person (gradient boosting, calibrated, trained on other people). The paper's decoder "
        "looks for the shortest vector in l1 and takes the answers for exact; it is the thin grey line. Faint lines: "
        "the same attackers where the answers carry no noise.\n\n"
        "**The limit** is the best balanced accuracy that anybody can expect who knows the group sizes and this prior, "
        "if the prior is calibrated: the noise moves posterior odds by at most e to the 2ε. It is 2ε, not ε, because "
        "to an attacker who knows the group sizes people are linked: if one changes group, so does another. Without a "
        "prior and without the sizes it would be e^ε/(1+e^ε). No line is drawn where the noise, as it is set, is not "
        "proved to keep its ε.\n\n"
        "**More people** take longer: with more than 150 the marker stands on finished points of the curve, which is "
        "computed once and kept (for built-in tables on disk).\n\n"
        "**Leakage** is the mean of the shares named rightly in either group (definition 5.1), so that calling "
        "everybody alike gives 50%. Cauchy noise has no mean error: the chart shows median and 95th percentile.\n\n"
        "Source: Hamman, Chen and Dutta, *Can Querying for Bias Leak Protected Attributes? Achieving Privacy With "
        "Smooth Sensitivity*, FAccT 2023."
    )
