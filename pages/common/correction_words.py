"""The sentences of the correction: finding, what is known, certificate, guide; never more than measured."""

from __future__ import annotations

import math

from core.adversaries import STRONG
from core.audit import AuditFindings
from core.correction import Disclosure
from core.estimates import Estimate, count, epsilon_text, interval, percent, points, tolerance_text
from core.fairness import difference_title
from core.models import GIVEN
from pages.common.shell import escape
from pages.common.wording import attribute

_FEW = 400  # attacked people below which an accuracy is known to about ±5 points at best

_ATTACKERS = {
    "features": "the paper's attacker",
    "predictions": "the paper's attacker, given the predictions,",
    "strong": "the strong attacker",
    "strong_predictions": "the strong attacker, given the predictions,",
}


def finding(findings: AuditFindings, now: Disclosure, *, adversary: str, as_published: bool = False) -> tuple[str, str]:
    """Return the finding of the correction, and its interval and control."""
    strong = "" if adversary in STRONG else _strong(findings, now)
    aside = _protocol(now, as_published, adversary)
    majority = findings.group_names[max(now.groups, key=lambda group: group.before.n).group]
    control = f"Baseline: always “{escape(majority)}” is right for {percent(now.majority)}."
    if now.after is None or now.gain is None:
        return (
            f"No correction {'found ' if now.certificate.status == 'not_solved' else ''}meets tolerance "
            f"{tolerance_text(now.used)}; {_smallest(now)}. {strong}",
            f"The attacker stays at {percent(now.before)} ({interval(now.before)}). {control}{aside}",
        )
    name, after, before = escape(attribute(findings.config)), percent(now.after), percent(now.before)
    who = _ATTACKERS[adversary]
    if findings.config.forest is not None and adversary not in STRONG:
        who = who.replace("attacker", "attacker, tuned,", 1).replace(",,", ",")
    told = f"Told that the model is fair to within {tolerance_text(now.used)}, {who}"
    few = f" Only {count(now.after.n)} people are attacked: take it as a hint." if now.after.n < _FEW else ""
    if now.gain.low > 0:
        point = f"{told} infers the {name} of {after} of people correctly, up from {before}. {strong}"
    elif now.gain.high < 0:
        point = f"{told} does worse: {name} right for {after} of people, down from {before}. {strong}"
    else:
        point = (
            f"Being told that the model is fair to within {tolerance_text(now.used)} has no statistically significant "
            f"effect: {who} infers the {name} of {after} of people correctly. {strong}"
        )
    measured = f"95% interval over {count(now.after.n)} people: {interval(now.after)}; change {_change(now.gain)}."
    return point, f"{measured} {control}{few}{aside}"


def _strong(findings: AuditFindings, now: Disclosure) -> str:
    """Say what the attacker reaches who uses no model; "stronger" only where the interval of the difference says so."""
    strong, own = findings.strong, now.after or now.before
    ahead = strong.value - own.value > math.hypot(strong.value - strong.low, own.high - own.value)
    return f"Without the model, {'a stronger attacker' if ahead else 'imputation'} reaches {percent(strong)}."


def _smallest(now: Disclosure) -> str:
    if now.certificate.status == "not_solved":
        return "the time was up"
    if now.smallest_tolerance is None or now.smallest_tolerance > 1:
        return "no tolerance can be met"
    return f"the smallest that can be met is {now.smallest_tolerance:.2g}"


def _protocol(now: Disclosure, as_published: bool, adversary: str) -> str:
    if not as_published:
        return ""
    raised = f", raised from {tolerance_text(now.told)} until true" if now.used > now.told else ""
    if adversary in STRONG:
        return f" As published{raised}; the strong attacker is not in the paper and tunes on people of her own."
    return f" As published: learned from all known people, exponent chosen on the test people{raised}."


def _change(gain: Estimate) -> str:
    """Write a change in points with its interval."""
    low, high = (points(limit).removesuffix(" points") for limit in (gain.low, gain.high))
    return f"{points(gain)} ({low} to {high})"


def share_words(findings: AuditFindings) -> str:
    """Return what to call the groups' shares."""
    return f"share of {findings.groups[0].group}" if len(findings.groups) == 2 else "shares of the groups"


def permuted(control: Disclosure) -> str:
    """Say what the promise changes with predictions that belong to other people."""
    if control.gain is None:
        return "Control: with the predictions dealt out anew among the people, no correction meets the tolerance."
    return (
        "Control: with the predictions dealt out anew among the people, the same promise changes this attacker by "
        f"{_change(control.gain)}."
    )


def private_training(findings: AuditFindings, now: Disclosure) -> str:
    """Say what privacy noise in training did and did not do to the attack; nothing for other methods."""
    if findings.config.method != "dp_id3":
        return ""
    epsilon = epsilon_text(findings.config.epsilon)
    if math.isinf(findings.config.epsilon):
        return "**Trained without privacy noise (ε = ∞).** A smaller ε on the Model page shows what noise does."
    if now.gain is None:
        told = "no correction meets the tolerance"
    else:
        clear = "" if now.gain.low > 0 or now.gain.high < 0 else ", no statistically significant effect"
        told = f"being told the promise changes this attacker by {_change(now.gain)}{clear}"
    return (
        f"**Trained with privacy noise, ε = {epsilon}.** The noise hides whether a record was among the training data. "
        "It does not reach an attacker who learns from features of people she knows: the strong one still gets "
        f"{percent(findings.strong)}. Nor does it hide what the model does to groups: with this model {told}."
    )


def held_out(findings: AuditFindings, adversary: str, as_published: bool) -> str:
    """Say how good the attacker is on the people she tunes on."""
    protocol = "as_published" if as_published and adversary not in STRONG else "held_out"
    found = findings.attacks[adversary, protocol].held_out_accuracy
    whose = "the test people" if protocol == "as_published" else "people she knows and did not learn from"
    return f"Before she is told anything, this attacker is right for {percent(found)} of {whose} ({interval(found)})."


def first_told(findings: AuditFindings) -> float:
    """Return the tolerance the attacker is told at first: what was asked for, else the smallest true one on offer.

    Of given predictions it is the one in the settings, which is to be disclosed.
    """
    if findings.config.method in ("exponentiated_gradient", GIVEN):
        return min(0.2, round(findings.config.tolerance, 3))
    return min(0.2, math.ceil(1000 * findings.model.unfairness_train - 1e-9) / 1000)


def certificate(now: Disclosure) -> str:
    """Return what the solver did, and how its answer was checked."""
    proof, used = now.certificate, tolerance_text(now.used)
    exact = "Exact two-group solver" if len(now.groups) == 2 else "Certified solver for many groups"
    solver = {"exact": exact, "ilp": "Integer program, CBC", "ilp_general": "General program, CBC"}[proof.solver]
    took = f"{proof.seconds:.1f} s" if proof.seconds >= 1 else f"{max(1, round(1000 * proof.seconds))} ms"
    if now.n_changed is None or now.after is None:
        missing = "was found in time" if proof.status == "not_solved" else "exists"
        return f":red[:material/cancel:] **No correction {missing}** at tolerance {used}. {solver}, {took}."
    mark = (
        "**Correction solved to proven optimality.**"
        if proof.status == "optimal"
        else ":orange[:material/help:] **Correction feasible, not proven optimal.**"
    )
    told = f"{mark} {count(now.n_changed)} of {count(now.before.n)} guesses changed"
    if now.n_changed and now.n_right is not None:
        told += f"; {100 * now.n_right / now.n_changed:.0f}% of the changes are correct"
    told += "."
    if now.balanced_after:
        told += f" Balanced accuracy {percent(now.balanced_before)} → {percent(now.balanced_after)}."
    reached = tolerance_text(now.reached, limit=now.used)
    return (
        f"{told} On the corrected guesses the largest deviation is {reached}; at most {used} was asked. {solver}, "
        f"{took}."
    )


def known(findings: AuditFindings, adversary: str) -> tuple[list[str], list[str]]:
    """Return what the attacker knows, and what not."""
    name = attribute(findings.config)
    share = f"exact share of {findings.groups[0].group}" if len(findings.groups) == 2 else "the groups' shares"
    yes = [f"{findings.n_features} features", findings.config.roles.label if findings.config.roles else "label"]
    yes += ["predictions", "metric", "tolerance"]
    if adversary in ("features", "strong"):
        yes[2] = "predictions (to correct)"
    return yes, [name, share]


def curve_heading(curve: list[Disclosure]) -> str:
    """Return what the curve of disclosed tolerances shows."""
    gains = [d.gain for d in curve if d.gain is not None]
    if not gains:
        return "No correction exists at any tolerance"
    if not any(g.low > 0 for g in gains):
        harmed = any(g.high < 0 for g in gains)
        return "Being told misleads this attacker" if harmed else "Being told has no statistically significant effect"
    tightest, loosest = gains[0], gains[-1]
    if tightest.low > max(0.0, loosest.high) and max(g.value for g in gains) <= tightest.high:
        return "The tighter the promise, the more it gives away"
    return "What the promise gives away"


def false_disclosure(findings: AuditFindings, now: Disclosure) -> str:
    """Say that the disclosed tolerance does not hold, with the model's unfairness and difference between groups."""
    difference = difference_title(now.metric)
    return (
        "The disclosed tolerance does not hold for this model: its unfairness on these people (largest deviation of a "
        f"group from the overall rate) is {tolerance_text(now.achieved, limit=now.used)}, above "
        f"{tolerance_text(now.used)}. {difference}: {tolerance_text(findings.model.difference_train)}. The published "
        f"experiments raise the tolerance until it is true; the switch “As published” does so."
    )


def guide(findings: AuditFindings, now: Disclosure) -> str:
    """Explain the correction as it is set."""
    name = escape(attribute(findings.config))
    parameters = "published for Adult" if findings.config.forest is None else "of your search"
    return (
        f"The attacker knows everybody's features and label, and the {name} of other people to learn from. She "
        "guesses, then hears “each group's rate is within the tolerance of everybody's”. Where her guesses do not "
        f"agree with that, she changes the cheapest ones until they do. {_price(now)}\n\n"
        "**Where the leak comes from.** Each row is the attacker's knowledge with one thing more: what most people "
        "are, their features and label, the model's predictions, the exact shares of the groups, and on top of these "
        "the promise. The last two are the closest probabilities to hers that agree with what she is told. The hollow "
        "bar is the correction of the chart at the left, which knows the promise but not the shares; it often repairs "
        "the shares more than anything else. The rows above it always use the people she keeps apart to tune on, also "
        "where the switch “As published” is on.\n\n"
        f"**What it does not show.** The paper's forest, here with the parameters {parameters}, has balanced class "
        "weights and so may name the smaller group too often; a gain may only repair that. The strong attacker is "
        "gradient boosting without class weights, calibrated, told nothing. The interval is over people, for one seed "
        "and one model; it does not say how other seeds come out.\n\n"
        "Source: Ferry, Aïvodji, Gambs, Huguet and Siala, *Exploiting Fairness to Enhance Sensitive Attributes "
        "Reconstruction*, SaTML 2023. Tolerance and objective are recomputed from the corrected guesses themselves."
    )


def _price(now: Disclosure) -> str:
    if now.cost == "log_odds":
        log_odds = (
            "their log-odds: the answer is the most probable one that meets the tolerance."
            if len(now.groups) == 2
            else "the log-odds of the likeliest group against the second, whichever group somebody is moved to."
        )
        return f"Here she starts from calibrated probabilities, and a change costs {log_odds}"
    if now.cost == "count":
        return "Here every change costs the same."
    scaled = "a change costs the attacker's confidence, scaled to 1 to 2"
    if now.exponent is None:
        return f"No exponent worked on the held-out records; {scaled}."
    return f"Here {scaled}, to the power {now.exponent}."
