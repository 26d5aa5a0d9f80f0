"""The sentences of membership inference: what leaks, not what is flagged, then intervals and control; the guide."""

from __future__ import annotations

import math

from core.estimates import Estimate, count, epsilon_text, gap, percent
from core.membership import (
    ATTACKS,
    REGISTRY,
    AttackFindings,
    DisparityResult,
    MembershipFindings,
    MembershipSettings,
    most_caught,
)
from core.models import GIVEN
from pages.common import shell
from pages.common.background import State

_SMALL, _LARGE, _PAST_TELLING = 2.0, 6.9, math.log(1e6)
"""Exponents below which a factor has three decimals, from which on it has none, and from which on it is not told."""


class Reading:
    """What the page reads in an audit as far as it has come: one attack's flags, the chosen group beside the others.

    The attack is the paper's network, until it is there the quick one. `place` is the group's among the comparisons,
    and `result` None where it is too small for one.
    """

    def __init__(self, found: MembershipFindings, chosen: MembershipSettings, state: State | None = None) -> None:
        self.found, self.chosen, self.state = found, chosen, state
        self.attack = found.attacks.get("network") or found.attacks["loss"]
        self.result: DisparityResult | None = None
        self.place, self.why_not = 0, ""
        names, measured = found.group_names, self.attack.disparities
        self.many = len(names) > 2
        name = names[chosen.group if self.many else 1]
        if measured is not None:
            self.why_not = dict(measured.not_measured).get(name, "")
            there = ((i, result) for i, result in enumerate(measured.results) if result.group == name)
            self.place, self.result = next(there, (0, None))
        self.group = f"“{shell.escape(name)}”" if self.many else shell.escape(name)
        self.others = "all others" if self.many else shell.escape(names[0])
        self.names = (self.group, self.others)


def tells_apart(estimate: Estimate) -> bool:
    """Whether an interval leaves out 0."""
    return estimate.low > 0.0 or estimate.high < 0.0


def finding(read: Reading) -> tuple[str, str]:
    """Return the finding of an audit whose attacks stand somewhere, and the grey line under it."""
    attack, result, names = read.attack, read.result, read.names
    auc, stronger = f"AUC of {REGISTRY[attack.name].phrase} {_interval(attack.roc.auc)}", _stronger(read)
    if result is None:
        point = f"The gaps between {names[0]} and {names[1]} cannot be measured in this table."
        return point, f"{shell.escape(read.why_not)} {auc}.{stronger}"
    if read.chosen.literal:
        return _published(result, attack, names)
    if attack.muted:
        point, often = _muted(read, result)
        vd = f"VD would read {gap(result.vd.value)}{often}."
        return point, f"{auc}, not measurably better than a coin toss (0.5). {vd}{stronger}"
    real = result.advantage_gap
    grey = f"TPR − FPR gap {gap(real.value)} ({_span(real)}). {auc}.{stronger} {_control(result)}"
    return _leaks(result, names, read.many), grey


def _leaks(result: DisparityResult, names: tuple[str, str], many: bool) -> str:
    """Say about whom more leaks, and whether the flags say so as well."""
    group, others = names
    vd, real = result.vd, result.advantage_gap
    flags = group if vd.value > 0 else others
    test = result.tests["advantage_gap"]
    if not tells_apart(real) or (many and not test.significant):
        least = f"smallest detectable: {100 * test.smallest_detectable:.1f} points"
        none = f"no statistically significant difference between {group} and {others} ({least})"
        if tells_apart(vd):
            return f"The attack flags {flags} more often; net of false positives, {none}."
        return f"Membership inference succeeds; {none}."
    leaks = group if real.value > 0 else others
    by = f"{abs(100 * real.value):.1f} points"
    if tells_apart(vd) and flags != leaks:
        return f"The attack flags {flags} more often, yet it leaks more about {leaks}: {by}."
    return f"The attack finds out more about {leaks} than about {others if leaks == group else group}: {by}."


def _muted(read: Reading, result: DisparityResult) -> tuple[str, str]:
    """Say that the flags say nothing, and what they would seem to say."""
    group, others, epsilon = read.group, read.others, read.chosen.epsilon
    at = f"At ε = {epsilon_text(epsilon)} the" if math.isfinite(epsilon) else "The"
    strong = [a for name, a in read.found.attacks.items() if "shadows" in REGISTRY[name].needs and not a.muted]
    better = REGISTRY[strong[0].name].title if strong else ""
    who = "paper's attack" if better else "attack"
    between = f"its gap between {group} and {others} says nothing{f'; {better} can tell' if better else ''}"
    flags = group if result.vd.value > 0 else others
    often = f": it flags {flags} more often, members or not" if tells_apart(result.vd) else ""
    return f"{at} {who} cannot tell who was in the training data, so {between}.", often


def _published(result: DisparityResult, attack: AttackFindings, names: tuple[str, str]) -> tuple[str, str]:
    """Return the finding as the paper reads it, and what it leaves out."""
    vd = result.vd
    more, less = names if vd.value > 0 else names[::-1]
    point = f"VD {gap(vd.value)}: of the people trained on, the attack flags more {more} than {less}."
    if not tells_apart(vd):
        point = f"VD {gap(vd.value)}: no difference between {names[0]} and {names[1]} in the members flagged."
    grey = (
        f"95% {_span(vd)}, by {REGISTRY[attack.name].phrase}. As published: VD alone, noise without savings, "
        "FairPick without its negative deletions. Left out: outsiders are flagged, too, with a gap of "
        f"{gap(result.fpr_gap.value)}; what is left is {gap(result.advantage_gap.value)}. {_control(result)}"
    )
    return point, grey


def _control(result: DisparityResult) -> str:
    outsiders, (_, alarms) = sum(rate.n for rate in result.false_alarms), _rates(result)
    return f"Control: the same attack on {count(outsiders)} outsiders flags {percent(alarms)} of them."


def _stronger(read: Reading) -> str:
    """Say what the attacks with shadow models reach, or that they are not there."""
    found, state, told = read.found, read.state, []
    for attack in (REGISTRY[name] for name in ATTACKS if "shadows" in REGISTRY[name].needs):
        if attack.name in found.attacks:
            told.append(f"{attack.title}: {_interval(found.attacks[attack.name].roc.auc)}.")
        elif attack.name in found.not_run:
            told.append(f"Not run: {found.not_run[attack.name]}")
        elif state is not None and state.busy:
            told.append(f"{attack.title} is still running.")
        elif state == State.CANCELLED:
            told.append(f"{attack.title} was stopped.")
    return "".join(f" {sentence}" for sentence in told)


def _interval(estimate: Estimate) -> str:
    if math.isnan(estimate.value):
        return "n/a"
    return f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"


def _span(estimate: Estimate) -> str:
    return f"{gap(estimate.low)} to {gap(estimate.high)}"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def gaps_chart(read: Reading) -> tuple[str, str]:
    """Return heading and quantity of the four gaps."""
    minus = f"{_capital(read.group)} minus {read.others}, by {REGISTRY[read.attack.name].phrase}"
    between = f"Four gaps between {read.group} and {read.others}"
    return between, f"{minus}; 95% intervals; row 1 − row 2 = row 3"


def ranges_chart(read: Reading) -> tuple[str, str]:
    """Return heading and quantity of the ten ranges."""
    group = f"Muted, because VD is: {read.group}" if read.attack.muted else _capital(read.group)
    points = f"{group} minus {read.others} in points"
    return "Where the flags fall", f"{points}, by the probability the model gave; the ten steps add up to VD"


def void(chosen: MembershipSettings) -> str:
    """Say that FairPick undoes the promise; empty where there is none to undo."""
    if not math.isfinite(chosen.epsilon) or chosen.theta >= 1.0:
        return ""
    return (
        f"FairPick looks at everybody's record before the private training starts, so the promise of "
        f"ε = {epsilon_text(chosen.epsilon)} does not hold for what is released here."
    )


def promise(read: Reading) -> str:
    """Say in plain words what the privacy budget guarantees, beside what was measured."""
    chosen, result = read.chosen, read.result
    measured = "" if result is None else _measured(result)
    if chosen.target != "dp_id3" and not math.isfinite(chosen.epsilon):
        if chosen.target == GIVEN:
            return f"Nothing is known of how this model was trained, so nothing is promised. {measured}"
        return f"Nothing is promised: this model is trained without a privacy budget. {measured}"
    if not math.isfinite(chosen.epsilon):
        return f"Nothing is promised at ε = ∞, where the tree is grown without noise. {measured}"
    if chosen.theta < 1.0:
        return measured
    allowed = "" if result is None else _allowed(result, chosen.epsilon)
    once, twice = _factor(chosen.epsilon), _factor(2 * chosen.epsilon)
    outcome = f"no outcome is more than {once} times" if once else "an outcome may be more than a million times"
    flags = (
        f"no attack can be expected to flag members more than {twice} times as often as outsiders."
        if twice
        else "members may be flagged more than a million times as often as outsiders: no promise to speak of."
    )
    return (
        f"What ε = {epsilon_text(chosen.epsilon)} promises: {outcome} as likely with one person's record than when the "
        "model is trained without her and with nobody in her place. Here as many people are trained on either way, so "
        f"somebody else takes her place: twice ε, and {flags} {measured}{allowed}"
    )


def _factor(epsilon: float) -> str:
    """Write exp(epsilon), rounded up; empty above a million."""
    if epsilon > _PAST_TELLING:
        return ""
    factor, places = math.exp(epsilon), 3 if epsilon < _SMALL else 1 if epsilon < _LARGE else 0
    return f"{math.ceil(factor * 10**places) / 10**places:,.{places}f}"


def _rates(result: DisparityResult) -> tuple[float, float]:
    """Return the shares of members and of outsiders who are flagged."""
    caught, alarms = (
        sum(rate.n * rate.value for rate in rates) / sum(rate.n for rate in rates)
        for rates in (result.recall, result.false_alarms)
    )
    return caught, alarms


def _measured(result: DisparityResult) -> str:
    caught, alarms = _rates(result)
    times = f", {caught / alarms:.2f} times as often" if alarms > 0 else ""
    return f"Measured: {percent(caught)} of members flagged, {percent(alarms)} of outsiders{times}."


def _allowed(result: DisparityResult, epsilon: float) -> str:
    """Say what the promise alone would allow at so many false alarms, rounded up."""
    _, alarms = _rates(result)
    most = math.ceil(1000.0 * most_caught(alarms, epsilon)) / 1000.0
    if most >= 1.0:
        return " At so many false alarms the promise alone would allow practically every member to be flagged."
    return f" At so many false alarms the promise alone would allow at most {percent(most, decimals=1)} of members."


_SOURCE = (
    "Sources: Zhang, B., Yu, R., Sun, H., Li, Y., Xu, J. and Wang, H. (2020), *Privacy for All: Demystify "
    "Vulnerability Disparity of Differential Privacy against Membership Inference Attack*; Carlini, N. and others "
    "(2022), *Membership Inference Attacks From First Principles*; Yeom, S. and others (2018), *Privacy Risk in "
    "Machine Learning*."
)


def guide(read: Reading, notes: tuple[str, ...]) -> str:
    """Explain the page."""
    found, group, others = read.found, read.group, read.others
    left_out = "".join(f"\n- {shell.escape(note)}" for note in notes)
    return (
        "Somebody who sees a model's answers guesses who was in its training data: models are surer of people they "
        f"have seen. {_members(read)} The attacker knows of some of both what they are, and judges others."
        "\n\n"
        f"**Who attacks.**{_attacks(found)}\n\n"
        f"**The four gaps.** *VD* compares the members flagged: {group} minus {others}. An attack that flags everybody "
        "of a group has a large VD and has found out nothing, so the same is done for outsiders (*FPR gap*). What is "
        "left when the second is taken from the first (*TPR − FPR gap*) is what leaks more about the group. *LiRA's "
        "gap* compares TPR at 1% FPR; it needs 1,000 non-members in each group. VD is muted "
        "when the attack is not measurably better than a coin toss. Intervals treat the judged people as a sample, "
        "the model and the seed as given.\n\n"
        "**What does not survive of the paper.** It reads VD alone as vulnerability: on a tree of one leaf, which "
        "leaks nothing, its attack still shows a VD. Its FairPick is not compared with deleting as many rows at "
        "random, which may do as well, and a budget spent on each count separately adds up to far more than ε. The "
        "sections below show each on this table.\n\n"
        "**What it does not show.** A small number means that this attack finds little, not that nobody could find "
        "more. And ε is a promise only while the seed of the noise is secret: here it is shown in the sidebar, so that "
        f"the numbers can be had again.{' Left out or taken as given:' + left_out if notes else ''}\n\n"
        f"{_SOURCE}"
    )


def _attacks(found: MembershipFindings) -> str:
    """Say what each attack does, or why it is not run."""
    told = {name: found.not_run.get(name, REGISTRY[name].described) for name in ATTACKS}
    return "".join(f"\n- *{REGISTRY[name].title}*: {sentence}" for name, sentence in told.items())


def _members(read: Reading) -> str:
    """Say who is in the training data."""
    chosen, who = read.chosen, count(read.found.n_members)
    if chosen.target == "audited":
        told = f"The audit's training people train the model ({who} members), its test people do not (outsiders)."
    elif chosen.target == GIVEN:
        told = f"Members are the {who} people your table says the model was trained on, outsiders the test people."
    else:
        told = f"Half of the table's people train the model ({who} members), the other half do not (outsiders)."
    return told if chosen.theta >= 1.0 else f"{told} Members whom FairPick has deleted are neither any more."
