"""The sections below the charts of membership inference: one is drawn, for the model of the controls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.charts.membership import (
    draw_accuracy_by_epsilon,
    draw_attack_by_epsilon,
    draw_deleted,
    draw_epsilon_curve,
    draw_fairpick,
    draw_group_gaps,
    draw_ranges,
)
from core.errors import InputError
from core.estimates import epsilon_text, interval, percent
from core.fingerprint import fingerprint
from core.membership import (
    EPSILONS,
    THETAS,
    AccountingFindings,
    AttackFindings,
    Audit,
    CurveBand,
    CurvePoint,
    MemberPeople,
    MembershipFindings,
    MembershipSettings,
    epsilon_curve,
    fairpick_curve,
    summarise_curve,
)
from core.membership.curves import steady
from core.membership.findings import MEASURES, Reading, deletions, epsilon_heading, groups_heading, picking_heading
from core.membership.tables import curve_rows, gap_rows
from core.models import GIVEN
from pages.common import panels, shell, state, wording
from pages.common.background import need
from pages.common.membership_study import REPEATS, Curve, Membership

_ABOVE = {
    "decision_tree": "decision tree",
    "random_forest": "random forest",
    "logistic": "logistic regression",
    "audited": "audited model",
    GIVEN: "given predictions",
}


def curve_over_epsilon(work: Membership) -> Curve:
    """Return the curve of the private tree over ε; it depends on the tree's depth, not on the slider of ε."""
    chosen = work.chosen
    settings = MembershipSettings(
        max_depth=chosen.max_depth,
        accounting=chosen.accounting,
        group=chosen.group,
        seed=chosen.seed,
    )
    make = partial(epsilon_curve, work.who.people, settings, epsilons=EPSILONS, repeats=REPEATS)
    return Curve(work, "epsilon", REPEATS * len(EPSILONS), make, settings, REPEATS, list(EPSILONS))


def tree(work: Membership) -> str:
    """Name the model the curves are of, and tell it from another one above."""
    target = work.chosen.target
    return "Private tree (DP-ID3)" if target == "dp_id3" else f"Private tree (DP-ID3), not the {_ABOVE[target]} above"


def _now(work: Membership) -> float:
    """Return where the slider of ε stands on the curves."""
    return work.chosen.epsilon if work.chosen.target == "dp_id3" else math.inf


def _show_epsilon(work: Membership, read: Reading, points: list[CurvePoint], growing: bool) -> None:
    """Draw the gaps and the attack's quality over ε."""
    bands, names = steady(summarise_curve(points)), read.names
    left, right = st.columns([3, 2], gap="large")
    with left:
        panels.titled(
            shell.escape(epsilon_heading(bands, names, growing=growing)),
            shell.escape(f"{tree(work)}: {_repeats(bands, names)}"),
            draw_epsilon_curve(bands, now=_now(work)),
            key="member_epsilon_chart",
        )
    with right:
        panels.titled(
            "Precision and recall of the attack",
            f"{tree(work)}, the published attack: members among the flagged, and flagged among the members",
            draw_attack_by_epsilon(bands, now=_now(work)),
            key="member_attack_chart",
        )
    panels.numbers({"Over ε": panels.frame(curve_rows(bands, "ε"))}, key="member-epsilon")


def _repeats(bands: Sequence[CurveBand], names: tuple[str, str]) -> str:
    fewest, most = (pick(band.repeats for band in bands) for pick in (min, max))
    sides = f"{names[0]} − {names[1]}"
    if most == 1:
        return f"{sides}; one repeat so far, with no interval"
    told = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    drawn = any(not math.isnan(value.low) for band in bands for value in band.values.values())
    shown = f"bands: 95% intervals of the mean over {told} repeats" if drawn else f"means of {told} repeats"
    return f"{sides}; {shown} with other splits and noise"


def _show_accuracy(work: Membership, read: Reading, points: list[CurvePoint], growing: bool) -> None:
    """Draw both accuracies over ε."""
    bands, majority = steady(summarise_curve(points)), read.found.target.majority_test
    done = sorted((band for band in bands if band.variant == "epsilon"), key=lambda band: band.at)
    low, high = (percent(band.values["accuracy_test"]) for band in (done[0], done[-1]))
    panels.titled(
        f"Accuracy on unseen people: {high} at ε = {epsilon_text(done[-1].at)}, {low} at {epsilon_text(done[0].at)}",
        f"{tree(work)}, bands over repeats. Attacks use the gap between training and unseen people. "
        f"Majority-class baseline: {percent(majority)} (95% CI {interval(majority)})",
        draw_accuracy_by_epsilon(bands, now=_now(work), majority=majority),
        key="member_accuracy_chart",
    )
    panels.numbers({"Over ε": panels.frame(curve_rows(bands, "ε"))}, key="member-accuracy")


def _picking_section(work: Membership, read: Reading) -> None:
    """Draw the gaps over θ as they come, and the rows deleted at the slider's θ."""
    chosen = work.chosen
    if chosen.target == GIVEN:
        st.info(wording.needs_training("FairPick's deletions"))
        return
    if chosen.target == "audited":
        st.info("FairPick is shown with models trained here; choose another model under attack.")
        return
    _deleted(read.found)
    measure = panels.pick("Gap", MEASURES, key="member_measure", default="vd")
    curve_over_theta(work).grow(partial(_show_picking, work, read, measure))


def curve_over_theta(work: Membership) -> Curve:
    """Return the curve over θ of the model under attack."""
    chosen = work.chosen
    settings = replace(work.settings, theta=1.0, literal=chosen.literal, group=chosen.group)
    repeats = REPEATS if chosen.target != "random_forest" else 5
    make = partial(fairpick_curve, work.who.people, settings, repeats=repeats)
    return Curve(work, "fairpick", 2 * len(THETAS) * repeats, make, settings, repeats)


def _deleted(audit: MembershipFindings) -> None:
    """Say whom FairPick deletes at the slider's θ."""
    said = deletions(audit)
    if audit.fairpick is None:
        shell.whisper(said.point, "Move its slider above to delete rows, and see what changes")
        return
    drawing = draw_deleted(audit.fairpick)
    panels.titled(said.point, said.evidence, drawing, key="member_deleted_chart")


def _show_picking(work: Membership, read: Reading, measure: str, points: list[CurvePoint], growing: bool) -> None:
    """Draw a gap over θ, with the control."""
    bands, names = steady(summarise_curve(points)), read.names
    panels.titled(
        shell.escape(picking_heading(points, measure, growing=growing)),
        f"{MEASURES[measure]}, {shell.escape(names[0])} − {shell.escape(names[1])}, by the published attack; 95% CIs "
        "of the mean over repeats; the top of the page is one seed. Control: as many rows deleted at random. "
        "Non-members are thinned like the members; “accuracy, unseen” counts all non-members",
        draw_fairpick(bands, now=work.chosen.theta, measure=measure),
        key="member_fairpick_chart",
    )
    panels.numbers({"Over θ": panels.frame(curve_rows(bands, "θ"))}, key="member-fairpick")


_MOST_VALUES = 20


def _others_section(work: Membership, grown: Audit, read: Reading) -> None:
    """Choose attributes, and draw what leaks about each of their groups."""
    from core.membership import grouped_by, judge

    named, people = state.attributes(work.who.config.dataset), work.who.people
    sizes = zip(people.names, people.n_values, strict=True)
    columns = {f"column:{name}": name for name, size in sizes if 2 <= size <= _MOST_VALUES}
    # the table's own groupings, then columns with few values
    offered = {f"roles:{key}": title for key, title in named.items()} | columns
    left, right = st.columns(2)
    key = f"{work.who.config.dataset}_{len(offered)}"
    nobody = {"": "nothing else"} | offered
    first = panels.choose(
        "Group people by", offered, key=f"member_by_{key}", place=left, index=min(1, len(offered) - 1)
    )
    second = panels.choose("and by", nobody, key=f"member_and_by_{key}", place=right)
    try:
        others = grouped_by(
            people, _grouping(work, first or next(iter(offered))), _grouping(work, second) if second else None
        )
        found = judge(grown.target, grown.guesses[read.attack.name], people=others)
        if "lira" in grown.guesses:  # its gaps beside the others
            found = replace(found, low_fpr=judge(grown.target, grown.guesses["lira"], people=others).low_fpr)
    except InputError as error:
        panels.problem(str(error))
        return
    _show_groups(found, others)


def _grouping(work: Membership, key: str) -> Any:
    from core.membership import column_grouping, table_grouping

    (kind, _, name), who = key.partition(":"), work.who
    if kind == "column":
        return column_grouping(who.people, name)
    by = state.roles_named(who.table, name)
    return table_grouping(who.table, who.config.roles or who.table.roles[0], by)


def _show_groups(found: AttackFindings, people: MemberPeople) -> None:
    panels.titled(
        shell.escape(groups_heading(found, people.attribute)),
        "Membership-advantage gap with 95% CIs, each group against all others (of two, the first against the second); "
        "thin marks are VD. p-values are Holm's over the groups; coloured is what is significant",
        draw_group_gaps(found),
        key="member_groups_chart",
    )
    measured = found.disparities
    assert measured is not None
    if measured.results:
        least = [result.tests["advantage_gap"].smallest_detectable for result in measured.results]
        span = f"{min(least):.3f}" if len(least) == 1 else f"{min(least):.3f} to {max(least):.3f}"
        st.caption(f"Smallest gap that a sample of this size finds in four of five cases: {span}.")
    if measured.not_measured:
        named = ", ".join(f"“{shell.escape(name)}”" for name, _ in measured.not_measured[:6])
        more = f" and {len(measured.not_measured) - 6} more" if len(measured.not_measured) > 6 else ""
        st.caption(f"Not measured, with fewer than 10 members or non-members judged: {named}{more}.")
    panels.numbers({"Groups": panels.frame(gap_rows(found))}, key="member-groups")


_NAMES = {"savings": "With savings", "literal": "As published", "naive": "Naive: ε for each count"}


def _accounting_section(work: Membership) -> None:
    """Draw the ledger and the three accountings."""
    from core.membership import accountings

    chosen, people = work.chosen, work.who.people
    if not math.isfinite(chosen.epsilon) or chosen.target != "dp_id3":
        shell.whisper(
            "Without a privacy budget there is nothing to account for",
            "Choose the private tree and an ε below ∞ above",
        )
        return
    settings = replace(work.settings, theta=1.0, literal=False, group=1)
    key = fingerprint("accountings", *work.whose, chosen.epsilon, chosen.max_depth, chosen.seed)
    label = "Training the tree three times"
    found: Sequence[AccountingFindings] = need(
        work.store, key, label, lambda job: job.apart(lambda _: accountings(people, settings)), lane="questions"
    )
    by_name = {one.ledger.accounting: one for one in found}
    naive, own = by_name["naive"], by_name[work.settings.accounting]
    majority = own.target.majority_test
    shell.whisper(
        f"Accuracy on unseen people: naive tree {percent(naive.target.accuracy_test)}, ours "
        f"{percent(own.target.accuracy_test)}; the naive one does not keep ε = {epsilon_text(own.ledger.asked)}",
        f"The ledger of a full path adds up to {cost_text(own.ledger.total)}: nodes side by side hold different "
        f"people, so only levels add up. Majority-class baseline: {percent(majority)} (95% CI {interval(majority)})",
    )
    panels.problem(
        f"A tree that gives each count its own ε = {epsilon_text(chosen.epsilon)} has spent "
        f"{cost_text(naive.ledger.counts_total)} on its counts alone. It stops where the true counts are pure, "
        "which no ε covers. It is shown as a warning, not for use.",
        point="The naive tree is not private.",
    )
    tables = {"Privacy accounting": _accounting_table(found), "Ledger": own.ledger.to_frame()}
    titles = ("Privacy accounting of the same tree", "Ledger of a full path, from the root to a leaf")
    heights: tuple[Any, Any] = ("content", 260)
    for place, title, table, height in zip(st.columns(2, gap="large"), titles, tables.values(), heights, strict=True):
        place.markdown(f"**{title}**")
        place.dataframe(table, hide_index=True, height=height)
    panels.numbers(tables, key="member-accounting")


def cost_text(epsilon: float) -> str:
    """Write what something costs."""
    return "∞" if math.isinf(epsilon) else f"{epsilon:,.4g}"


def _accounting_table(found: Sequence[AccountingFindings]) -> Any:
    return panels.frame(
        {
            "accounting": _NAMES[one.ledger.accounting],
            "ε asked for": one.ledger.asked,
            "ε spent in truth": cost_text(one.ledger.total),
            "on counts": cost_text(one.ledger.counts_total),
            "accuracy, unseen": percent(one.target.accuracy_test),
            "accuracy, training": percent(one.target.accuracy_train),
            "private": "no" if one.ledger.accounting == "naive" else "yes",
        }
        for one in found
    )


def _show_ranges(read: Reading) -> None:
    """Draw where VD comes from."""
    group, others = map(shell.escape, read.names)
    for ranges in read.attack.ranges:
        if read.result is not None and ranges.group == read.result.group:
            panels.titled(
                "VD by predicted probability",
                f"{'Greyed out, as VD is: ' if read.attack.muted else ''}{group} − {others} in points, by the "
                "probability the model gave to the true label; the ten steps add up to VD",
                draw_ranges(ranges, muted=read.attack.muted),
                key="member_ranges_chart",
            )


_TITLES = {
    "ranges": "VD by probability",
    "over_epsilon": "Over ε",
    "accuracy": "Accuracy over ε",
    "picking": "FairPick",
    "others": "Other groups",
    "accounting": "Accounting",
}
_OVER_EPSILON = {"over_epsilon": _show_epsilon, "accuracy": _show_accuracy}


def draw(work: Membership, grown: Audit, read: Reading) -> None:
    """Choose what is shown below the page's charts, and draw it."""
    section = panels.further(_TITLES, key="further_members")
    if section is None:
        return
    if section in _OVER_EPSILON:
        curve_over_epsilon(work).grow(partial(_OVER_EPSILON[section], work, read))
    elif section == "ranges":
        _show_ranges(read)
    elif section == "picking":
        _picking_section(work, read)
    elif section == "others":
        _others_section(work, grown, read)
    else:
        _accounting_section(work)
