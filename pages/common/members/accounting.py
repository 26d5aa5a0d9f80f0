"""Accounting: where the privacy budget of the tree goes, and what other ways to account for it cost in truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.membership import AccountingFindings
from core.wording import interval, percent
from pages.common import panels, shell
from pages.common.members.controls import epsilon_text
from pages.common.members.work import Grown, Membership

__all__ = ["cost_text", "draw", "heading"]

_NAMES = {"savings": "With savings", "literal": "As published", "naive": "Naive: ε for each count"}


def draw(work: Membership, grown: Grown) -> None:
    """Draw the ledger and the three accountings."""
    chosen, who = work.chosen, work.who
    if not chosen.private or chosen.target != "dp_id3":
        shell.whisper(
            "Without a privacy budget there is nothing to account for",
            "Choose the private tree and an ε below ∞ above",
        )
        return

    def make() -> Any:
        from dataclasses import replace

        from core.membership import accountings

        return accountings(who.people, replace(work.settings, theta=1.0, literal=False, group=1))

    found: Sequence[AccountingFindings] = work.need(
        "accountings", "Training the tree three times", make, chosen.epsilon, chosen.depth, chosen.seed
    )
    naive = next(one for one in found if one.ledger.accounting == "naive")
    own = next(one for one in found if one.ledger.accounting == work.settings.accounting)
    shell.whisper(heading(own, naive), _quantity(own))
    panels.problem(
        f"A tree that gives each count its own ε = {epsilon_text(chosen.epsilon)} has spent "
        f"{cost_text(naive.ledger.counts_total)} on its counts alone, and it stops where the true counts are pure, "
        "which no ε covers; it is shown to be recognised, not to be used.",
        point="The naive tree is not private.",
    )
    left, right = st.columns(2, gap="large")
    tables = {"Three accountings": _table(found), "Ledger": own.ledger.to_frame()}
    with left:
        st.markdown("**Three accountings of the same tree**")
        st.dataframe(tables["Three accountings"], hide_index=True, height="content")
    with right:
        st.markdown("**Ledger of a full path, from the root to a leaf**")
        st.dataframe(tables["Ledger"], hide_index=True, height=260)
    panels.numbers(tables, key="member-accounting")


def heading(own: AccountingFindings, naive: AccountingFindings) -> str:
    """Say what the naive tree costs beside the honest one."""
    return (
        f"The naive tree is right for {percent(naive.target.accuracy_test)} of unseen people, ours for "
        f"{percent(own.target.accuracy_test)}; the naive one does not keep ε = {epsilon_text(own.ledger.asked)}"
    )


def cost_text(epsilon: float) -> str:
    """Write what something costs."""
    return "∞" if math.isinf(epsilon) else f"{epsilon:,.4g}"


def _quantity(own: AccountingFindings) -> str:
    majority = own.target.majority_test
    return (
        f"The ledger of a full path adds up to {cost_text(own.ledger.total)}: nodes side by side hold different "
        f"people, so only levels add up. Baseline: always the more frequent label is right for "
        f"{percent(majority)} (95% {interval(majority)})"
    )


def _table(found: Sequence[AccountingFindings]) -> Any:
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "accounting": _NAMES[one.ledger.accounting],
                "ε asked for": one.ledger.asked,
                "ε spent in truth": cost_text(one.ledger.total),
                "on counts": cost_text(one.ledger.counts_total),
                "right, unseen": percent(one.target.accuracy_test),
                "right, training": percent(one.target.accuracy_train),
                "private": "no" if one.ledger.accounting == "naive" else "yes",
            }
            for one in found
        ]
    )
