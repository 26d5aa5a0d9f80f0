"""Membership inference: who was in the training data, for which group it leaks more, and what changes that."""

from pages.shell import shell

shell.guard()

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.base.errors import InputError
from core.base.fingerprint import fingerprint
from core.stats.estimates import epsilon_text, interval, percent
from pages._membership import membership_study as study
from pages._membership.membership_study import CurveJob, MembershipJob
from pages.shell import panels, state
from pages.shell.background import ensure_started, require_result

shell.head()
who = study.people()

from core.models import GIVEN_PREDICTIONS
from core.studies.membership import (
    ATTACKS,
    EPSILONS,
    REGISTRY,
    THETAS,
    AccountingFindings,
    AttackResult,
    CurveBand,
    CurvePoint,
    MemberPeople,
    MembershipAudit,
    MembershipSettings,
    accountings,
    column_grouping,
    epsilon_curve,
    evaluate_attack,
    fairpick_curve,
    grouped_by,
    summarise_curve,
    table_grouping,
)
from core.studies.membership import charts as charts
from core.studies.membership.curves import steady
from core.studies.membership.findings import (
    MEASURES,
    MembershipSummary,
    curve_rows,
    deletions,
    epsilon_heading,
    findings,
    gap_rows,
    groups_heading,
    picking_heading,
    strongest_attack,
    tables,
)

_PATIENCE = 1.2  # seconds a moved slider waits for its first attack before it shows progress


def guide(read: MembershipSummary) -> str:
    """Explain the page."""
    result, chosen, (group, rest) = read.audit, read.chosen, map(shell.escape, read.names)
    if chosen.target == "audited":
        source = "The audit's training people train the model, its test people do not"
    elif chosen.target == GIVEN_PREDICTIONS:
        source = "Your table says whom the model was trained on; the test people are the others"
    else:
        source = "Half of the table's people train the model, the other half do not"
    run = ", ".join(REGISTRY[name].title for name in ATTACKS if name not in result.not_run)
    missing = "".join(
        f" {REGISTRY[name].title}: {reason}" for name, reason in result.not_run.items() if name in ATTACKS
    )
    return (
        f"**Question.** Who was in the training data? {source}. The attacker knows some of both and judges others.\n\n"
        f"**Attacks.** {run}: see the *Glossary*.{missing}\n\n"
        f"**Group differences.** *VD* is the TPR of {group} minus that of {rest}. An attack that flags everybody of "
        "a group has a large VD and has learned nothing. The *advantage gap* is VD minus the same gap among "
        "non-members. Grey: no better than chance.\n\n"
        "**Slider.** Smaller ε: more training noise.\n\n"
        "**What it does not show.** Other attacks may find more. Intervals treat model and seed as given.\n\n"
        "**Sources.** Zhang et al. (2020); Carlini et al. (2022); Yeom et al. (2018); Kulynych et al. (2022)."
    )


@st.fragment
def draw_results() -> None:
    """Draw everything that follows the controls."""
    opening = st.container()
    chosen = study.chosen(who)
    work = study.MembershipJob(who, chosen)
    ensure_started(work, patience=_PATIENCE)
    grown: MembershipAudit = work.first(work.show_progress)
    results, read = grown.findings, MembershipSummary(grown.findings, chosen)
    names = [shell.escape(name) for name in read.names]
    (finding, promise), minus = findings(read, sliders=True), f"{names[0]} − {names[1]}"
    with opening:
        panels.finding(finding, *["model"] * (chosen.target == "audited"))
        if chosen.target == "dp_id3" and who.config.method != "dp_id3":
            st.caption("Attacked here: a private tree, not the audited model; choose that at *Model under attack*.")
    left, right = st.columns([3, 2], gap="large")
    panels.titled(
        "Group differences in membership inference",
        f"{minus}, by {read.phrase}; 95% CIs; row 1 − row 2 = row 3",
        charts.draw_gaps_between(read),
        key="member_gaps_chart",
        container=left,
    )
    scored = strongest_attack(results).name
    panels.titled(
        f"ROC curve ({REGISTRY[scored].title}, log–log)",
        "TPR against FPR; dotted is random guessing",
        charts.draw_roc(results, attack=scored, group=chosen.group),
        key="member_roc_chart",
        container=right,
    )
    work.watch(work.show_progress, drawn=grown)
    if chosen.theta < 1.0 and math.isfinite(chosen.epsilon):
        panels.problem(promise.point, point="No DP guarantee any more.")
    else:
        panels.notes(promise.point)
    panels.notes(*who.people.notes)
    panels.foot(guide(read), panels.frames(tables([results])), key="membership")
    section(work, grown, read)


# More analyses --------------------------------------------------------------------------------------------------------


def section(work: MembershipJob, grown: MembershipAudit, read: MembershipSummary) -> None:
    """Choose what is shown below the page's charts, and draw it."""
    sections = {
        "ranges": ("VD by probability", lambda: _ranges(read)),
        "over_epsilon": ("Over ε", lambda: _epsilon_curve(work).grow(partial(_over_epsilon, work, read))),
        "accuracy": ("Accuracy over ε", lambda: _epsilon_curve(work).grow(partial(_accuracy, work, read))),
        "picking": ("FairPick", lambda: _picking(work, read)),
        "others": ("Other groups", lambda: _other_groups(work, grown, read)),
        "accounting": ("Accounting", lambda: _accounting(work)),
    }
    if further := panels.further(sections, key="further_members"):
        further[1]()


_ABOVE = {
    "decision_tree": "decision tree",
    "random_forest": "random forest",
    "logistic": "logistic regression",
    "audited": "audited model",
    GIVEN_PREDICTIONS: "given predictions",
}


def _epsilon_curve(work: MembershipJob) -> CurveJob:
    """Return the curve of the private tree over ε; it depends on the tree's depth, not on the slider of ε."""
    chosen, repeats = work.chosen, study.REPEATS
    settings = MembershipSettings(max_depth=chosen.max_depth, group=chosen.group, seed=chosen.seed)
    make = partial(epsilon_curve, who.people, settings, epsilons=EPSILONS, repeats=repeats)
    return CurveJob(work, "epsilon", repeats * len(EPSILONS), make, settings, repeats, list(EPSILONS))


def _tree(work: MembershipJob) -> str:
    """Name the model the curves are of, and tell it from another one above."""
    target = work.chosen.target
    return "Private tree (DP-ID3)" if target == "dp_id3" else f"Private tree (DP-ID3), not the {_ABOVE[target]} above"


def _now(work: MembershipJob) -> float:
    """Return where the slider of ε stands on the curves."""
    return work.chosen.epsilon if work.chosen.target == "dp_id3" else math.inf


def _over_epsilon(work: MembershipJob, read: MembershipSummary, points: list[CurvePoint], growing: bool) -> None:
    """Draw the gaps and the attack's quality over ε."""
    bands, names, now = steady(summarise_curve(points)), read.names, _now(work)
    left, right = st.columns([3, 2], gap="large")
    panels.titled(
        shell.escape(epsilon_heading(bands, names, growing=growing)),
        shell.escape(f"{_tree(work)}: {_repeats(bands, names)}"),
        charts.draw_epsilon_curve(bands, now=now),
        key="member_epsilon_chart",
        container=left,
    )
    panels.titled(
        "Precision and recall of the attack",
        f"{_tree(work)}, the published attack: members among the flagged, and flagged among the members",
        charts.draw_attack_by_epsilon(bands, now=now),
        key="member_attack_chart",
        container=right,
    )
    panels.numbers({"Over ε": panels.frame(curve_rows(bands, "ε"))}, key="member-epsilon")


def _repeats(bands: Sequence[CurveBand], names: tuple[str, str]) -> str:
    fewest, most = (pick(band.repeats for band in bands) for pick in (min, max))
    sides = f"{names[0]} − {names[1]}"
    if most == 1:
        return f"{sides}; repeats so far: 1, with no interval"
    repeats = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    drawn = any(not math.isnan(value.low) for band in bands for value in band.values.values())
    averages = f"bands: 95% intervals of the mean over {repeats} repeats" if drawn else f"means of {repeats} repeats"
    return f"{sides}; {averages} with other splits and noise"


def _accuracy(work: MembershipJob, read: MembershipSummary, points: list[CurvePoint], growing: bool) -> None:
    """Draw both accuracies over ε."""
    bands, majority = steady(summarise_curve(points)), read.audit.target.majority_test
    done = sorted((band for band in bands if band.variant == "epsilon"), key=lambda band: band.at)
    low, high = (percent(band.values["accuracy_test"]) for band in (done[0], done[-1]))
    panels.titled(
        f"Accuracy on unseen people: {high} at ε = {epsilon_text(done[-1].at)}, {low} at {epsilon_text(done[0].at)}",
        f"{_tree(work)}, bands over repeats. Attacks use the gap between training and unseen people. "
        f"Majority-class baseline: {percent(majority)} (95% CI {interval(majority)})",
        charts.draw_accuracy_by_epsilon(bands, now=_now(work), majority=majority),
        key="member_accuracy_chart",
    )
    panels.numbers({"Over ε": panels.frame(curve_rows(bands, "ε"))}, key="member-accuracy")


def _picking(work: MembershipJob, read: MembershipSummary) -> None:
    """Draw the gaps over θ as they come, and the rows deleted at the slider's θ."""
    chosen = work.chosen
    if chosen.target == GIVEN_PREDICTIONS:
        panels.needs_training("FairPick's deletions")
        return
    if chosen.target == "audited":
        st.info("FairPick is shown with models trained here; choose another model under attack.")
        return
    statement = deletions(read.audit)
    if read.audit.fairpick is None:
        shell.whisper(statement.point, "Move its slider above to delete rows, and see what changes")
    else:
        drawing = charts.draw_deleted(read.audit.fairpick)
        panels.titled(statement.point, statement.evidence, drawing, key="member_deleted_chart")
    measure = panels.pick("Gap", MEASURES, key="member_measure", default="vd")
    _theta_curve(work).grow(partial(_gaps_by_theta, work, read, measure))


def _theta_curve(work: MembershipJob) -> CurveJob:
    """Return the curve over θ of the model under attack."""
    chosen = work.chosen
    settings = replace(work.settings, theta=1.0, group=chosen.group)
    repeats = study.REPEATS if chosen.target != "random_forest" else 5
    make = partial(fairpick_curve, who.people, settings, repeats=repeats)
    return CurveJob(work, "fairpick", 2 * len(THETAS) * repeats, make, settings, repeats)


def _gaps_by_theta(
    work: MembershipJob, read: MembershipSummary, measure: str, points: list[CurvePoint], growing: bool
) -> None:
    """Draw a gap over θ, with the control."""
    bands, names = steady(summarise_curve(points)), read.names
    panels.titled(
        shell.escape(picking_heading(points, measure, growing=growing)),
        f"{MEASURES[measure]}, {shell.escape(names[0])} − {shell.escape(names[1])}, by the published attack; 95% CIs "
        "of the mean over repeats; the top of the page is one seed. Control: as many rows deleted at random. "
        "Non-members are thinned like the members; “accuracy, unseen” counts all non-members",
        charts.draw_fairpick(bands, now=work.chosen.theta, measure=measure),
        key="member_fairpick_chart",
    )
    panels.numbers({"Over θ": panels.frame(curve_rows(bands, "θ"))}, key="member-fairpick")


_MOST_VALUES = 20


def _other_groups(work: MembershipJob, grown: MembershipAudit, read: MembershipSummary) -> None:
    """Choose attributes, and draw what leaks about each of their groups."""
    groupings, people = state.attributes(who.config.dataset), who.people
    sizes = zip(people.names, people.n_values, strict=True)
    columns = {f"column:{name}": name for name, size in sizes if 2 <= size <= _MOST_VALUES}
    # the table's own groupings, then columns with few values
    offered = {f"roles:{key}": title for key, title in groupings.items()} | columns
    left, right = st.columns(2)
    key = f"{who.config.dataset}_{len(offered)}"
    nobody = {"": "nothing else"} | offered
    first = panels.choose(
        "Group people by", offered, key=f"member_by_{key}", container=left, index=min(1, len(offered) - 1)
    )
    second = panels.choose("and by", nobody, key=f"member_and_by_{key}", container=right)
    try:
        regrouped = grouped_by(people, _grouping(first or next(iter(offered))), _grouping(second) if second else None)
        result = evaluate_attack(grown.target, grown.guesses[read.attack.name], people=regrouped)
        if "lira" in grown.guesses:  # its gaps beside the others
            lira = evaluate_attack(grown.target, grown.guesses["lira"], people=regrouped)
            result = replace(result, low_fpr=lira.low_fpr)
    except InputError as error:
        panels.problem(str(error))
        return
    _show_groups(result, regrouped)


def _grouping(key: str) -> Any:
    kind, _, name = key.partition(":")
    if kind == "column":
        return column_grouping(who.people, name)
    by = state.roles_with_key(who.table, name)
    return table_grouping(who.table, who.config.roles or who.table.roles[0], by)


def _show_groups(findings: AttackResult, people: MemberPeople) -> None:
    panels.titled(
        shell.escape(groups_heading(findings, people.attribute)),
        "Membership-advantage gap with 95% CIs, each group against all others (of two, the first against the second); "
        "thin marks are VD. p-values are Holm's over the groups; coloured is what is significant",
        charts.draw_group_gaps(findings),
        key="member_groups_chart",
    )
    measured = findings.disparities
    assert measured is not None
    if measured.results:
        least = [result.tests["advantage_gap"].smallest_detectable for result in measured.results]
        span = f"{min(least):.3f}" if len(least) == 1 else f"{min(least):.3f} to {max(least):.3f}"
        st.caption(f"Smallest gap that a sample of this size finds in four of five cases: {span}.")
    if measured.not_measured:
        group_names = ", ".join(f"“{shell.escape(name)}”" for name, _ in measured.not_measured[:6])
        more = f"; more groups: {len(measured.not_measured) - 6}" if len(measured.not_measured) > 6 else ""
        st.caption(f"Not measured, with fewer than 10 members or non-members judged: {group_names}{more}.")
    panels.numbers({"Groups": panels.frame(gap_rows(findings))}, key="member-groups")


_NAMES = {"savings": "With savings", "literal": "As published", "naive": "Naive: ε for each count"}


def _accounting(work: MembershipJob) -> None:
    """Draw the ledger and the three accountings."""
    chosen = work.chosen
    if not math.isfinite(chosen.epsilon) or chosen.target != "dp_id3":
        shell.whisper(
            "Without a privacy budget there is nothing to account for",
            "Choose the private tree and an ε below ∞ above",
        )
        return
    settings, people = replace(work.settings, theta=1.0, group=1), who.people
    key = fingerprint("accountings", *work.subject_key, chosen.epsilon, chosen.max_depth, chosen.seed)
    label = "Training the tree three times"
    results: Sequence[AccountingFindings] = require_result(
        work.store, key, label, lambda job: job.in_subprocess(lambda _: accountings(people, settings)), lane="questions"
    )
    by_name = {result.ledger.accounting: result for result in results}
    naive, chosen_result = by_name["naive"], by_name[work.settings.accounting]
    majority = chosen_result.target.majority_test
    shell.whisper(
        f"Accuracy on unseen people: naive tree {percent(naive.target.accuracy_test)}, ours "
        f"{percent(chosen_result.target.accuracy_test)}; the naive one does not keep ε = "
        f"{epsilon_text(chosen_result.ledger.requested_epsilon)}",
        f"The ledger of a full path adds up to {_cost_text(chosen_result.ledger.total)}: nodes side by side hold "
        f"different people, so only levels add up. Majority-class baseline: {percent(majority)} "
        f"(95% CI {interval(majority)})",
    )
    panels.problem(
        f"A tree that gives each count its own ε = {epsilon_text(chosen.epsilon)} has spent "
        f"{_cost_text(naive.ledger.counts_total)} on its counts alone. It stops where the true counts are pure, "
        "which no ε covers. It is shown as a warning, not for use.",
        point="The naive tree is not private.",
    )
    tables = {"Privacy accounting": _accounting_table(results), "Ledger": chosen_result.ledger.to_frame()}
    titles = ("Privacy accounting of the same tree", "Ledger of a full path, from the root to a leaf")
    heights: tuple[Any, Any] = ("content", 260)
    for column, title, table, height in zip(st.columns(2, gap="large"), titles, tables.values(), heights, strict=True):
        column.markdown(f"**{title}**")
        column.dataframe(table, hide_index=True, height=height)
    panels.numbers(tables, key="member-accounting")


def _cost_text(epsilon: float) -> str:
    """Write what something costs."""
    return "∞" if math.isinf(epsilon) else f"{epsilon:,.4g}"


def _accounting_table(results: Sequence[AccountingFindings]) -> Any:
    return panels.frame(
        {
            "accounting": _NAMES[result.ledger.accounting],
            "ε asked for": result.ledger.requested_epsilon,
            "ε spent in truth": _cost_text(result.ledger.total),
            "on counts": _cost_text(result.ledger.counts_total),
            "accuracy, unseen": percent(result.target.accuracy_test),
            "accuracy, training": percent(result.target.accuracy_train),
            "private": "no" if result.ledger.accounting == "naive" else "yes",
        }
        for result in results
    )


def _ranges(read: MembershipSummary) -> None:
    """Draw where VD comes from."""
    group, rest = map(shell.escape, read.names)
    grey = "Greyed out, as VD is: " if read.attack.muted else ""
    for ranges in read.attack.ranges:
        if read.result is not None and ranges.group == read.result.group:
            panels.titled(
                "VD by predicted probability",
                f"{grey}{group} − {rest} in points, by the probability the model gave to the true label; the ten "
                "steps add up to VD",
                charts.draw_ranges(ranges, muted=read.attack.muted),
                key="member_ranges_chart",
            )


draw_results()
