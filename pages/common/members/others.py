"""Other groups: the same attack, its people grouped by another attribute of the table or by a pair of attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from core.errors import InputError
from core.membership import AttackFindings, MemberPeople
from core.wording import count, gap
from pages.common import panels, shell, state
from pages.common.members import words
from pages.common.members.work import Grown, Membership

__all__ = ["draw", "heading"]

_NOBODY = ""
_MOST_VALUES = 20
_KEPT: dict[str, Any] = {"persist_state": "session"}


def draw(work: Membership, grown: Grown) -> None:
    """Choose attributes, and draw what leaks about each of their groups."""
    offered = _offered(work)
    first, second = _choose(offered, work.who.config.dataset)
    try:
        people = _grouped(work, first, second)
        attack = words.shown(grown.found)
        found = _judged(work, grown, people, attack.name)
    except InputError as error:
        panels.problem(str(error))
        return
    _show(found, people)


def _offered(work: Membership) -> dict[str, str]:
    """Return what one may group by, and what to call it: the table's own groupings, then columns with few values."""
    named = state.attributes(work.who.config.dataset)
    people = work.who.people
    columns = {
        f"column:{name}": name
        for name, size in zip(people.names, people.n_values, strict=True)
        if 2 <= size <= _MOST_VALUES
    }
    return {f"roles:{key}": title for key, title in named.items()} | columns


def _choose(offered: dict[str, str], dataset: str) -> tuple[str, str]:
    options = list(offered)
    left, right = st.columns(2)
    with left:
        first = st.selectbox(
            "Group people by",
            options,
            index=min(1, len(options) - 1),
            key=f"member_by_{dataset}_{len(options)}",
            format_func=lambda key: offered.get(key, key),
            **_KEPT,
        )
    with right:
        second = st.selectbox(
            "and by",
            [_NOBODY, *options],
            key=f"member_and_by_{dataset}_{len(options)}",
            format_func=lambda key: offered.get(key, "nothing else"),
            **_KEPT,
        )
    return first or options[0], second or _NOBODY


def _grouped(work: Membership, first: str, second: str) -> MemberPeople:
    """Return the people in the groups chosen."""
    from core.membership import grouped_by

    one = _grouping(work, first)
    return grouped_by(work.who.people, (one, _grouping(work, second)) if second else one)


def _grouping(work: Membership, key: str) -> Any:
    from core.membership import column_grouping, table_grouping

    kind, _, name = key.partition(":")
    who = work.who
    if kind == "column":
        return column_grouping(who.people, name)
    by = state.roles_named(who.table, name)
    return table_grouping(who.table, who.config.roles or who.table.roles[0], by)


def _judged(work: Membership, grown: Grown, people: MemberPeople, name: str) -> AttackFindings:
    """Return what an attack finds out about these groups, with LiRA's gaps where LiRA is there."""
    from core.membership import judge

    found = judge(grown.target, grown.guesses[name], people=people)
    if "lira" not in grown.guesses:
        return found
    return replace(found, low_fpr=judge(grown.target, grown.guesses["lira"], people=people).low_fpr)


def _show(found: AttackFindings, people: MemberPeople) -> None:
    from core.figures import draw_group_gaps

    shell.whisper(
        heading(found, people.attribute),
        "TPR − FPR gap with 95% intervals, each group against all others (of two, the first against the second); thin "
        "marks are VD. p-values are Holm's over the groups; coloured is what can be told from none",
    )
    drawn = draw_group_gaps(found, shell.palette())
    panels.chart(drawn, key="member_groups_chart")
    measured = found.disparities
    assert measured is not None
    if measured.results:
        least = [result.tests["advantage_gap"].smallest_detectable for result in measured.results]
        span = f"{min(least):.3f}" if len(least) == 1 else f"{min(least):.3f} to {max(least):.3f}"
        st.caption(f"Smallest gap that a sample of this size finds in four of five cases: {span}.")
    if measured.not_measured:
        named = ", ".join(f"“{shell.escape(name)}”" for name, _ in measured.not_measured[:6])
        more = f" and {len(measured.not_measured) - 6} more" if len(measured.not_measured) > 6 else ""
        st.caption(f"Not measured, with fewer than 10 members or outsiders judged: {named}{more}.")
    panels.numbers({"Groups": drawn.table}, key="member-groups")


def heading(found: AttackFindings, attribute: str) -> str:
    """Say for how many groups what leaks can be told from what leaks about the others."""
    results = found.disparities.results if found.disparities is not None else ()
    name = shell.escape(attribute)
    if not results:
        return f"No group by {name} is large enough to be measured"
    if found.muted:
        return f"The attack is not measurably better than a coin toss, so the gaps by {name} say nothing"
    clear = [result for result in results if result.tests["advantage_gap"].significant]
    of = f"{len(clear)} of {count(len(results))} comparisons" if len(results) > 1 else "the two groups"
    if not clear:
        return f"By {name} no difference in membership advantage is statistically significant"
    most = max(clear, key=lambda result: abs(result.advantage_gap.value))
    largest = f"“{shell.escape(most.group)}” {gap(most.advantage_gap.value)}"
    if len(results) == 1:
        return f"By {name} the membership advantage differs between {of}: {largest}"
    return f"By {name} the membership advantage differs in {of}, most for {largest}"
