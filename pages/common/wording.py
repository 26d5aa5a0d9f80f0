"""The sentences of the pages: the finding with its number, then interval and control, never more than measured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from core.audit import AuditConfig, AuditFindings
from core.correction import Disclosure
from core.datasets.dataset import AuditDataset, Table
from core.fairness import METRIC_TITLES
from core.models import METHOD_TITLES
from core.wording import count, interval, percent, points, tolerance_text
from pages.common.shell import escape

if TYPE_CHECKING:
    import pandas

__all__ = [
    "asked_and_reached",
    "asked_table",
    "attribute",
    "certificate",
    "correction",
    "door_correction",
    "door_data",
    "door_model",
    "first_told",
    "metric_sentence",
    "model",
    "model_chart",
    "provenance",
]

_FEW = 400  # attacked people below which an accuracy is known to about ±5 points at best

_ATTACKERS = {"features": "the paper's attacker", "predictions": "the paper's attacker, given the predictions,"}


def attribute(config: AuditConfig) -> str:
    """Return what the sensitive attribute is called."""
    return config.roles.attribute if config.roles else "attribute"


def correction(
    findings: AuditFindings, now: Disclosure, config: AuditConfig, *, adversary: str, as_published: bool = False
) -> tuple[str, str]:
    """Return the finding of the correction, and its interval and control."""
    strong, aside = _strong(findings, now), _protocol(now, as_published)
    control = f"Control: calling everybody “{escape(_majority(findings, now))}” is right for {percent(now.majority)}."
    if now.after is None or now.gain is None:
        return (
            f"No correction meets tolerance {tolerance_text(now.used)}; {_smallest(now)}. {strong}",
            f"The attacker stays at {percent(now.before)} ({interval(now.before)}). {control}{aside}",
        )
    name, after, before = escape(attribute(config)), percent(now.after), percent(now.before)
    told = f"Told that the model is fair to within {tolerance_text(now.used)}, {_ATTACKERS[adversary]}"
    few = f" Only {count(now.after.n)} people are attacked: take it as a hint." if now.after.n < _FEW else ""
    if now.gain.low > 0:
        point = f"{told} names the {name} of {after} of people, up from {before}. {strong}"
    elif now.gain.high < 0:
        point = f"{told} does worse: {name} right for {after} of people, down from {before}. {strong}"
    else:
        point = (
            f"Being told that the model is fair to within {tolerance_text(now.used)} changes nothing measurable: "
            f"{_ATTACKERS[adversary]} names the {name} of {after} of people. {strong}"
        )
    measured = (
        f"95% interval over {count(now.after.n)} people: {interval(now.after)}; change {points(now.gain)} "
        f"({_bare(now.gain.low)} to {_bare(now.gain.high)})."
    )
    return point, f"{measured} {control}{few}{aside}"


def _strong(findings: AuditFindings, now: Disclosure) -> str:
    if findings.strong.low > now.before.value:
        return f"A stronger attacker gets {percent(findings.strong)} without being told."
    return f"Gradient boosting, told nothing, gets {percent(findings.strong)}."


def _smallest(now: Disclosure) -> str:
    if now.certificate.status == "not_solved":
        return "none was found in time"
    if now.smallest_tolerance is None or now.smallest_tolerance > 1:
        return "no tolerance can be met"
    return f"the smallest that can be met is {now.smallest_tolerance:.2g}"


def _protocol(now: Disclosure, as_published: bool) -> str:
    if not as_published:
        return ""
    raised = f", raised from {tolerance_text(now.told)} until true" if now.used > now.told else ""
    return f" As published: learned from all known people, exponent chosen on the test people{raised}."


def _bare(difference: float) -> str:
    return points(difference).removesuffix(" points")


def _majority(findings: AuditFindings, now: Disclosure) -> str:
    first, other = (group.before.n for group in now.groups)
    return findings.group_names[int(first > other)]


def first_told(findings: AuditFindings) -> float:
    """Return the tolerance the attacker is told at first: what was asked for, else the smallest true one on offer."""
    if findings.config.method == "exponentiated_gradient":
        return min(0.2, round(findings.config.tolerance, 3))
    return min(0.2, math.ceil(1000 * findings.model.unfairness_train - 1e-9) / 1000)


def certificate(now: Disclosure) -> str:
    """Return what the solver did, and how its answer was checked."""
    proof = now.certificate
    solver = {"exact": "Exact two-group solver", "ilp": "Integer program, CBC", "ilp_general": "General program, CBC"}
    took = f"{proof.seconds:.1f} s" if proof.seconds >= 1 else f"{max(1, round(1000 * proof.seconds))} ms"
    if now.n_changed is None or now.after is None:
        none = f":red[:material/cancel:] **No correction exists** at tolerance {tolerance_text(now.used)}."
        return f"{none} {solver[proof.solver]}, {took}."
    mark = (
        ":green[:material/verified:] **Proved optimal.**"
        if proof.status == "optimal"
        else ":orange[:material/help:] **Feasible, not proved optimal.**"
    )
    share = (
        f"{100 * now.n_right / now.n_changed:.0f}% of them rightly" if now.n_changed and now.n_right is not None else ""
    )
    changed = f"{count(now.n_changed)} of {count(now.before.n)} guesses changed{', ' + share if share else ''}."
    balanced = (
        f" Balanced accuracy {percent(now.balanced_before)} → {percent(now.balanced_after)}."
        if now.balanced_after
        else ""
    )
    asked = f" Unfairness asked for {tolerance_text(now.used)}, reached {tolerance_text(now.reached)}."
    return f"{mark} {changed}{balanced}{asked} {solver[proof.solver]}, {took}."


def metric_sentence(findings: AuditFindings) -> str:
    """Say what the metric compares."""
    among = {
        "statistical_parity": "",
        "predictive_equality": " among people with the negative label",
        "equal_opportunity": " among people with the positive label",
        "equalized_odds": " among people with the negative and with the positive label, the larger of the two",
    }[findings.config.metric]
    return (
        f"{METRIC_TITLES[findings.config.metric]}: distance of a group's rate of positive predictions from "
        f"everybody's{among}."
    )


def model(findings: AuditFindings) -> tuple[str, str]:
    """Return the finding of the model page."""
    found, config = findings.model, findings.config
    point = (
        f"Measured unfairness: {tolerance_text(found.unfairness_train)} on the people the model learned from, "
        f"{_rounded(found.unfairness_test.value)} on others. It is right for {percent(found.accuracy_test)} of them."
    )
    if config.method == "exponentiated_gradient":
        asked = f"Asked for {tolerance_text(config.tolerance)}."
    elif config.method == "threshold_optimizer":
        asked = "The threshold optimizer always aims at 0."
    else:
        asked = "Nothing was asked for."
    test = found.unfairness_test
    control = (
        f"{metric_sentence(findings)} {asked} 95% interval on others: {_rounded(test.low)} to {_rounded(test.high)}. "
        f"Control: the more frequent label for everybody is right for {percent(found.majority_test)}."
    )
    return point, control


def _rounded(value: float) -> str:
    return f"{value:.3f}"


def model_chart(findings: AuditFindings) -> tuple[str, str]:
    """Return heading and quantity of the chart of group rates."""
    found = findings.model
    worse = found.unfairness_test.low > found.unfairness_train
    heading = "Less fair to people it has not seen" if worse else "How the groups are treated"
    return heading, "Positive predictions, with 95% intervals; dotted: everybody"


def door_data(findings: AuditFindings) -> str:
    """Return one sentence on the data."""
    first, other = findings.groups
    total = first.count + other.count
    invented = "invented people" if findings.synthetic else "people"
    return (
        f"{count(total)} {invented}. The positive label goes to {percent(first.label_rate)} of {escape(first.group)} "
        f"and {percent(other.label_rate)} of {escape(other.group)}. Choose another table or bring your own."
    )


def door_model(findings: AuditFindings) -> str:
    """Return one sentence on the model."""
    found = findings.model
    return (
        f"{METHOD_TITLES[findings.config.method]}: right for {percent(found.accuracy_test)} of unseen people "
        f"(always the same answer: {percent(found.majority_test)}). Choose how it is made fair, and how fair."
    )


def door_correction(now: Disclosure) -> str:
    """Return one sentence on the attack."""
    change = "No correction meets the tolerance."
    if now.gain is not None:
        low, high = _bare(now.gain.low), _bare(now.gain.high)
        change = f"Being told the promise changes the paper's attacker by {points(now.gain)} (95%: {low} to {high})."
    return f"{change} Move the tolerance she is told, choose what she knows, and train tighter and looser models."


def provenance(findings: AuditFindings) -> str:
    """Say where the data come from and how they were split."""
    sizes = findings.sizes
    return (
        f"{escape(findings.source)} Records: {count(sizes['train'])} train the model and are attacked, "
        f"{count(sizes['attack'] + sizes['validation'])} are known to the attacker, "
        f"{count(sizes['test'])} are kept for testing."
    )


def known(findings: AuditFindings, adversary: str) -> tuple[list[str], list[str]]:
    """Return what the attacker knows, and what not."""
    name = attribute(findings.config)
    first = findings.groups[0].group
    yes = [f"{findings.n_features} features", findings.config.roles.label if findings.config.roles else "label"]
    yes += ["predictions", "metric", "tolerance"]
    if adversary == "features":
        yes[2] = "predictions (to correct)"
    return yes, [name, f"exact share of {first}"]


def curve_heading(curve: list[Disclosure]) -> str:
    """Return what the curve of disclosed tolerances shows."""
    gains = [d.gain for d in curve if d.gain is not None]
    if not gains:
        return "No correction exists at any tolerance"
    if not any(g.low > 0 for g in gains):
        return "Being told adds nothing measurable here"
    tightest, loosest = gains[0], gains[-1]
    if tightest.low > max(0.0, loosest.high) and max(g.value for g in gains) <= tightest.high:
        return "The tighter the promise, the more it gives away"
    return "What the promise gives away"


def trained_caption(as_published: bool) -> str:
    """Say what the attacker is told about models trained tighter or looser."""
    if as_published:
        return "the attacker is told the same, raised until it is true"
    return "the attacker is told the same; hollow: the model misses what it was trained for, so she is told a falsehood"


def false_disclosure(now: Disclosure) -> str:
    """Say that the attacker is told a falsehood."""
    return (
        f"The attacker is told a falsehood: the model's unfairness on these people is {now.achieved:.2g}, above "
        f"{tolerance_text(now.used)}. The published experiments raise the tolerance until it is true; the switch "
        f"“As published” does so."
    )


def asked_and_reached(findings: AuditFindings) -> str:
    """Say what tolerance was asked for and what was reached."""
    found, config = findings.model, findings.config
    reached = tolerance_text(found.unfairness_train)
    if config.method == "exponentiated_gradient":
        kept = found.unfairness_train <= config.tolerance
        mark = ":green[:material/check_circle:] **Kept.**" if kept else ":orange[:material/error:] **Missed.**"
        return (
            f"{mark} Unfairness asked for {tolerance_text(config.tolerance)}, reached {reached} on the training people."
        )
    if config.method == "threshold_optimizer":
        return f":gray[:material/info:] The threshold optimizer aims at 0; reached {reached} on the training people."
    return f":gray[:material/info:] No tolerance was asked for; reached {reached} on the training people."


def asked_table(findings: AuditFindings) -> pandas.DataFrame:
    """Return asked and reached unfairness as a table."""
    import pandas as pd

    found, config = findings.model, findings.config
    asked = {"exponentiated_gradient": config.tolerance, "threshold_optimizer": 0.0}.get(config.method)
    return pd.DataFrame(
        [
            {"records": "training", "asked": asked, "unfairness": found.unfairness_train, "low": None, "high": None},
            {
                "records": "unseen",
                "asked": asked,
                "unfairness": found.unfairness_test.value,
                "low": found.unfairness_test.low,
                "high": found.unfairness_test.high,
            },
        ]
    )


def model_cautions(findings: AuditFindings) -> list[str]:
    """Return what a user of this model must know."""
    cautions = []
    if findings.model.needs_sensitive:
        cautions.append(
            f"This method must be told each person's {escape(attribute(findings.config))} to predict, now and after "
            "its release."
        )
    if findings.config.method in ("correlation_remover", "unmitigated") and findings.config.tolerance > 0:
        cautions.append("The tolerance in the settings is not used by this method.")
    if findings.config.method == "threshold_optimizer" and findings.config.tolerance > 0:
        cautions.append("The tolerance in the settings is not used: this method always aims at 0.")
    return cautions


def synthetic_badge(dataset: str) -> str:
    """Return the badge of the built-in table."""
    return "synthetic data" if dataset == "demo" else ""


def data(dataset: AuditDataset) -> tuple[str, str]:
    """Return the finding of the data page."""
    first, other = dataset.groups()
    gap_low, gap_high = first.label_rate, other.label_rate
    label, positive = escape(dataset.roles.label), escape(dataset.roles.positive)
    apart = gap_low.low > gap_high.high or gap_high.low > gap_low.high
    point = (
        f"{percent(first.label_rate)} of {escape(first.group)} have {label} “{positive}”, "
        f"{'against' if apart else 'and'} {percent(other.label_rate)} of {escape(other.group)}."
    )
    invented = "invented people" if dataset.synthetic else "people"
    left_out = f" of {count(dataset.rows_read)} records" if dataset.n < dataset.rows_read else ""
    quantity = (
        f"{count(dataset.n)} {invented}{left_out}, {len(dataset.feature_names)} features. "
        f"95% intervals {interval(first.label_rate)} and {interval(other.label_rate)}. Control: naming "
        f"“{escape(first.group if first.count > other.count else other.group)}” for everybody is right for "
        f"{percent(max(first.share, other.share))}."
    )
    return point, quantity


def groups_chart(dataset: AuditDataset) -> tuple[str, str]:
    """Return heading and quantity of the chart of the groups."""
    return (
        "Who is in it",
        f"Height: share of people. Filled: {escape(dataset.roles.label)} is “{escape(dataset.roles.positive)}”",
    )


def table_without_roles(table: Table) -> tuple[str, str]:
    """Return the finding for a table whose columns have no roles yet."""
    rows, columns = table.frame.shape
    return (
        f"{escape(table.title)} is read: {count(rows)} records, {columns} columns.",
        "Say below which column the model predicts and which one the attacker is after.",
    )
