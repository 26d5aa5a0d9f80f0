"""The sentences of the correction and of what is below its slider; never more than measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.adversaries import STRONG
from core.audit import AuditFindings
from core.config import AuditConfig
from core.correction import Disclosure
from core.estimates import Estimate, count, epsilon_text, interval, over_repeats, percent, points, tolerance_text
from core.fairness import METRIC_TITLES, difference_title
from core.models import GIVEN, METHOD_TITLES
from pages.common.shell import escape
from pages.common.wording import attribute

if TYPE_CHECKING:
    import pandas

    from core.adversaries import TunedForest
    from core.correction import MoreDisclosed
    from core.leak import LeakPoint
    from core.sweep import Spread, SweepRow

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
    told = "no correction meets the tolerance"
    if control.gain is not None:
        told = f"the same promise changes this attacker by {_change(control.gain)}"
    return f"Control: with the predictions dealt out anew among the people, {told}."


def private_training(findings: AuditFindings, now: Disclosure) -> str:
    """Say what privacy noise in training did and did not do to the attack; nothing for other methods."""
    if findings.config.method != "dp_id3":
        return ""
    if math.isinf(findings.config.epsilon):
        return "**Trained without privacy noise (ε = ∞).** A smaller ε on the Model page shows what noise does."
    if now.gain is None:
        told = "no correction meets the tolerance"
    else:
        clear = "" if now.gain.low > 0 or now.gain.high < 0 else ", no statistically significant effect"
        told = f"being told the promise changes this attacker by {_change(now.gain)}{clear}"
    return (
        f"**Trained with privacy noise, ε = {epsilon_text(findings.config.epsilon)}.** The noise hides whether a "
        "record was among the training data. It does not reach an attacker who learns from features of people she "
        f"knows: the strong one still gets {percent(findings.strong)}. Nor does it hide what the model does to groups: "
        f"with this model {told}."
    )


def held_out(findings: AuditFindings, adversary: str, as_published: bool) -> str:
    """Say how good the attacker is on the people she tunes on."""
    protocol = "as_published" if as_published and adversary not in STRONG else "held_out"
    found = findings.attacks[adversary, protocol].held_out_accuracy
    whose = "the test people" if protocol == "as_published" else "people she knows and did not learn from"
    return f"Before she is told anything, this attacker is right for {percent(found)} of {whose} ({interval(found)})."


def first_told(findings: AuditFindings) -> float:
    """Return the tolerance told at first: what was asked for or is to be disclosed, else the smallest true one."""
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


def trained_heading(rows: Sequence[SweepRow]) -> str:
    """Return what the curve over trained tolerances shows."""
    gains = [row.gain for row in rows if row.gain is not None]
    if len(gains) < 4:
        return "Tighter and looser models"
    for what, times in (
        ("helps", sum(gain.low > 0 for gain in gains)),
        ("misleads", sum(gain.high < 0 for gain in gains)),
    ):
        if times:
            return f"Being told {what} the attacker significantly at {times} of {len(gains)} tolerances"
    return "Being told has no statistically significant effect at any of these tolerances"


def trained_quantity(config: AuditConfig, as_published: bool) -> str:
    """Say what is drawn over trained tolerances, and what the attacker is told."""
    told = (
        ", raised until it is true"
        if as_published
        else "; hollow: the model misses what it was trained for, so she is told a falsehood"
    )
    others = "" if config.method == "exponentiated_gradient" else ". All are trained by exponentiated gradient"
    return (
        f"People whose {escape(attribute(config))} is recovered; each point is a model trained for that tolerance, and "
        f"the attacker is told the same{told}{others}"
    )


def _before_after(row: SweepRow) -> str:
    if row.after is None or row.before_corrected is None:
        return f"{100 * row.before.mean:.1f} → no correction"
    told = f"{100 * row.before_corrected.mean:.1f} → {100 * row.after.mean:.1f}%"
    return told if row.after.n == len(row.seeds) else f"{told} ({row.after.n} of {len(row.seeds)} seeds)"


def _in_points(value: float, found: Estimate | Spread, unit: str = "") -> str:
    """Write a change in points, and in brackets the limits of its interval where that is known."""
    told = points(value).removesuffix(" points") + unit
    if math.isnan(found.low):
        return told
    return f"{told} ({100 * found.low:+.1f} to {100 * found.high:+.1f})".replace("-", "−")


def methods_table(rows: Sequence[SweepRow]) -> pandas.DataFrame:
    """Return methods and metrics with what their models do and give away."""
    import pandas as pd

    titles = list(METHOD_TITLES)
    ordered = sorted(rows, key=lambda row: (list(METRIC_TITLES).index(row.metric), titles.index(row.method)))
    return pd.DataFrame(
        [
            {
                "Metric": METRIC_TITLES[row.metric],
                "Method": METHOD_TITLES[row.method],
                "Before → after": _before_after(row),
                "Gain, points": "" if row.gain is None else _in_points(row.gain.mean, row.gain),
                "Told the truth": f"{row.n_true} of {len(row.seeds)}",
                "Model right": f"{100 * row.model_test.mean:.1f}%",
                "Unfairness": f"{row.unfairness_train.mean:.4f}",
                "Difference between groups": f"{row.difference_train.mean:.4f}",
            }
            for row in ordered
        ]
    )


def _values(found: Sequence[LeakPoint], attacker: str, step: str) -> dict[int, Estimate]:
    """Return a step's accuracy by seed, where it could be measured."""
    return {
        point.config.seed: taken.accuracy
        for point in found
        for taken in point.attributions[attacker].steps
        if taken.step == step and not taken.reason
    }


def over_seeds(found: Sequence[LeakPoint], attacker: str, step: str) -> Estimate:
    """Return an attacker's accuracy at a step, over seeds."""
    measured = list(_values(found, attacker, step).values())
    return measured[0] if len(measured) == 1 else over_repeats([estimate.value for estimate in measured])


_STEPS = {
    "features": "attacker, features",
    "predictions": "+ predictions",
    "constraint_without_shares": "+ fairness promise",
}


def delta_table(found: Sequence[LeakPoint], config: AuditConfig) -> pandas.DataFrame | None:
    """Return what mitigation changes, paired by seed; None when the chosen model has none."""
    import pandas as pd

    if config.method == "unmitigated":
        return None
    own = [p for p in found if p.config.method == config.method]
    other = [p for p in found if p.config.method == "unmitigated"]
    models = ({p.config.seed: p.accuracy_test for p in part} for part in (own, other))
    rows = [_delta_row("Model, unseen people", *models)]
    for attacker in ("paper's", "strong"):
        for step, words in _STEPS.items():
            name = f"{attacker.capitalize()} {words}"
            rows.append(_delta_row(name, *(_values(part, attacker, step) for part in (own, other))))
    return pd.DataFrame([row for row in rows if row is not None])


def delta_truth(found: Sequence[LeakPoint], config: AuditConfig) -> str:
    """Say of which models the promise is true."""
    told = []
    for method, how in ((config.method, "with"), ("unmitigated", "without")):
        true = [p.attributions["paper's"].is_true for p in found if p.config.method == method]
        told.append(f"{sum(true)} of {len(true)} {how} mitigation")
    return (
        f"Attackers are told {tolerance_text(config.tolerance)} of all these models, whether or not they keep it; "
        f"they do in {told[0]}, {told[1]}."
    )


def _delta_row(name: str, own: dict[int, Estimate], other: dict[int, Estimate]) -> dict[str, str] | None:
    both = sorted(set(own) & set(other))
    if not both:
        return None
    differences = [own[seed].value - other[seed].value for seed in both]
    difference = over_repeats(differences)
    means = [sum(side[seed].value for seed in both) / len(both) for side in (own, other)]
    return {
        "": name,
        "With": percent(means[0]),
        "Without": percent(means[1]),
        "Difference, points": _in_points(difference.value, difference),
    }


def controls(found: Sequence[LeakPoint], own: Sequence[LeakPoint], config: AuditConfig) -> list[str]:
    """Return sentences on permuted predictions and on the attacker who must measure the promise herself."""
    return [_permuted_correction(own), _permuted_predictions(own), _unknown(found, own, config)]


def _permuted_correction(own: Sequence[LeakPoint]) -> str:
    gains = {
        name: [d.gain.value for p in own if (d := getattr(p.permuted, name)).gain is not None]
        for name in ("real", "permuted")
    }
    if not gains["real"] or not gains["permuted"]:
        return "**Permuted predictions, correction.** No correction meets the tolerance."
    found = (over_repeats(values) for values in gains.values())
    real, permuted = (_in_points(gain.value, gain, " points") for gain in found)
    return (
        f"**Correction with permuted predictions.** With the model's own predictions the promise changes the paper's "
        f"attacker by {real}, with predictions dealt out anew among the people by {permuted}."
    )


def _permuted_predictions(own: Sequence[LeakPoint]) -> str:
    told = []
    for attacker in ("paper's", "strong"):
        steps = [over_seeds(own, attacker, step) for step in ("features", "predictions", "permuted_predictions")]
        told.append(
            f"the {attacker} attacker reaches {percent(steps[1])} with the predictions, {percent(steps[2])} with "
            f"permuted ones, {percent(steps[0])} without any"
        )
    return f"**Learning from permuted predictions.** {told[0][0].upper()}{told[0][1:]}; {told[1]}."


def _unknown(found_points: Sequence[LeakPoint], own: Sequence[LeakPoint], config: AuditConfig) -> str:
    from core.correction import identification_rate

    trained = config.metric if config.method in ("exponentiated_gradient", "threshold_optimizer") else None
    twins = [p.unknown.estimate for p in found_points if p.config.method == "unmitigated"]
    found = identification_rate([p.unknown.estimate for p in own], trained=trained, unmitigated=twins or None)
    both = [p for p in own if p.unknown.estimated.after and (p.unknown.trained is None or p.unknown.trained.after)]
    after = [p.unknown.estimated.after.value for p in both if p.unknown.estimated.after]
    reached = f"corrected with what she measures she names {percent(over_repeats(after).value)}" if after else ""
    named = max(found.shares, key=lambda metric: found.shares[metric].value)
    opening = "**Not told the promise, the paper's attacker measures one on the people she knows.** "
    if trained is None or found.rate is None:
        often = f"in {round(found.shares[named].value * found.n)} of {found.n} seeds"
        return f"{opening}It is {METRIC_TITLES[named].lower()} {often}; {reached}."
    right = round(found.rate.value * found.n)
    told = [p.unknown.trained.after.value for p in both if p.unknown.trained and p.unknown.trained.after]
    truth = f", told the truth {percent(over_repeats(told).value)}" if told else ""
    if after and told:
        apart = over_repeats([a - b for a, b in zip(after, told, strict=True)])
        truth += f"; the difference is {_in_points(apart.value, apart, ' points')}"
    chance = f"guessing one of the three it can be: {percent(found.control_of_three or 0.0, decimals=0)}"
    if found.unmitigated is not None:
        chance += f"; models without mitigation get that name in {round(found.unmitigated.value * found.n)}"
    return f"{opening}It is the right metric in {right} of {found.n} seeds ({chance}); {reached}{truth}."


def leak_tables(found: Sequence[LeakPoint], own: Sequence[LeakPoint]) -> dict[str, Any]:
    """Return the tables behind the section."""
    import pandas as pd

    from core.correction import attribute_over_seeds

    tables: dict[str, Any] = {}
    for attacker in ("paper's", "strong"):
        leak = attribute_over_seeds([p.attributions[attacker] for p in own])
        tables[f"What each piece of knowledge adds, {attacker} attacker"] = leak.to_frame()
    for title, name in (
        ("Permuted predictions, correction", "permuted"),
        ("The promise measured instead of told", "unknown"),
    ):
        frames = [getattr(p, name).to_frame().assign(seed=p.config.seed) for p in own]
        tables[title] = pd.concat(frames, ignore_index=True)
    tables["On the attackers' own held-out people"] = pd.DataFrame(
        [
            (p.config.seed, p.config.method, kind, right.value, right.low, right.high)
            for p in found
            for kind, right in p.held_out.items()
        ],
        columns=["seed", "method", "attacker", "right", "low", "high"],
    )
    return tables


def tuned(found: TunedForest) -> tuple[str, str]:
    """Return heading and quantity of the search."""
    best, pinned = found.balanced, found.pinned_balanced
    apart = best.low > pinned.high or best.high < pinned.low
    point = (
        f"The search finds a forest right for {percent(found.accuracy)} of held-out people, balanced {percent(best)}"
    )
    then = f"the pinned one {percent(found.pinned_accuracy)}, balanced {percent(pinned)}"
    verdict = "" if apart else "; the intervals of the balanced accuracies overlap"
    return (
        f"{point}; {then}",
        f"Balanced accuracy on the people that chose, in the order of trial{verdict}. Control on held-out people: "
        f"naming the largest group is right for {percent(found.majority)}",
    )


def forest_table(found: TunedForest) -> pandas.DataFrame:
    """Return the found parameters beside the pinned ones."""
    import pandas as pd

    from core.adversaries.adversary import PINNED

    names = {
        "n_estimators": "trees",
        "max_depth": "depth",
        "min_samples_split": "fewest to split",
        "min_samples_leaf": "fewest in a leaf",
        "max_features": "features a split sees",
        "criterion": "criterion",
    }
    return pd.DataFrame(
        [
            {"Parameter": words, "Found": str(found.parameters.get(key) or "all"), "Pinned": str(PINNED[key] or "all")}
            for key, words in names.items()
        ]
    )


def more_heading(found: Sequence[MoreDisclosed]) -> str:
    """Return what knowing more changes."""
    bound, shares = found[0].after, next(more.after for more in found if more.known == "bound_shares")
    if bound is None or shares is None:
        return "What more than a bound gives away"
    if shares.low > bound.high:
        return "The groups' shares give away more than the bound"
    return "More than a bound"


def more_sentences(found: Sequence[MoreDisclosed], told: float) -> list[str]:
    """Say what was told, and which answers are proved."""
    proved = sum(more.certificate.status == "optimal" for more in found)
    sentences = [
        f"The bound is {tolerance_text(told)}, told as it is. The exact unfairness and the groups' shares are those of "
        "the attacked people; the three metrics are told with the smallest bounds that are true of them.",
        f"{proved} of {len(found)} answers are proved optimal. All start from the same guess at the same price.",
    ]
    for more in found:
        if more.after is None:
            known = more.known.replace("_", " and ")
            sentences.append(f"No correction with {known}: {escape(more.reason or 'none exists')}")
    return sentences
