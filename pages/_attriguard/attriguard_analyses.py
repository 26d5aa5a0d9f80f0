"""Further analyses of AttriGuard, below the curves: one person, transferability, where noise goes, what it costs.

The last says what the noise may change in a table: columns and forbidden pairs of values, with the form to set them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.base.errors import InputError
from core.base.settings import params
from core.charts import Drawing
from core.models import GIVEN_PREDICTIONS
from core.stats.estimates import Estimate, count, proportion
from core.stats.fairness import METRIC_TITLES
from core.studies import attriguard
from core.studies.attriguard import (
    AttriGuardSettings,
    Exposure,
    Pair,
    TableDefense,
    attacker_label,
    charts,
    findings,
)
from core.studies.attriguard.comparators import CLEAN_ATTACKERS, SURROGATES
from core.studies.attriguard.table import Column
from pages._attriguard.attriguard_controls import GuardRun, allow_changes, allowed_changes
from pages.shell import cached, panels, shell
from pages.shell.controls import control

if TYPE_CHECKING:
    import pandas

_MOST_TARGETS = 3
"""Most target values whose noise gets a column of its own."""

_SIDE_BY_SIDE = 4
"""Most values whose records fit beside each other."""

_TALL = 10
"""Rows of a record beyond which it scrolls."""

_COST_POINTS = 20
"""Steps of the budget at which the cost is drawn."""


# One person -----------------------------------------------------------------------------------------------------------


@st.fragment
def draw_person(work: GuardRun, exposure: Exposure, budget: float) -> None:
    """Draw the card, with a field to step through the people."""
    people = exposure.truth.size
    left, right = st.columns([3, 2], gap="large")
    number = right.number_input(
        f"Person, 1 to {count(people)}",
        min_value=1,
        max_value=people,
        value=1,
        step=1,
        key=f"guard_person_{people}",
        persist_state="session",
    )
    person = int(number) - 1
    drawn = charts.draw_mechanism(exposure, person, budget)
    card = work.defense_of(exposure).card(person)
    with left:
        finding = findings.person(exposure, person, budget)
        panels.whisper(finding)
        if len(exposure.values) <= _SIDE_BY_SIDE:
            st.dataframe(card, hide_index=True, height=panels.table_height(card, _TALL, 390))
        else:
            listed = by_value(card).map(shell.escape)  # a static table breaks long lines
            st.table(listed, hide_index=True, height=panels.table_height(listed, _TALL, 390))
        panels.notes(*finding.caveats)
    with right:
        st.caption(
            "Dot: how often this noise is drawn; diamond: its share in the target (M\\* and p in the paper)."
        )
        panels.chart(drawn, key="person_chart")
    panels.numbers({"Record": card, "Noise": drawn.table}, key="guard-person")


def by_value(card: pandas.DataFrame) -> pandas.DataFrame:
    """Return a card of many values with a row a value: what changes for it, and how."""
    entry, now, *values = card.columns
    rows = []
    for value in values:
        cells = zip(card[entry], card[now], card[value], strict=True)
        changes = ", ".join(f"{name}: {was} → {after}" for name, was, after in cells if after)
        rows.append({"target value": value, "what changes": changes or "nothing"})
    return panels.frame(rows)


# Transferability ------------------------------------------------------------------------------------------------------


def draw_transfer(work: GuardRun, exposure: Exposure, budget: float) -> None:
    """Draw the heat map of attackers and target values; of ratings also that of other noise."""
    values = np.arange(len(exposure.values))
    changed = exposure.reached & (
        exposure.predicted[:, None] != values
    )  # for whom is noise for which
    if not changed.any():
        shell.whisper("No noise was found", "So there is none that could fool anybody")
        return
    parts = {"all noise": changed}
    if values.size <= _MOST_TARGETS:
        parts |= {f"for {exposure.values[value]}": changed & (values == value) for value in values}
    # An attacker trained at several budgets is the one trained at the largest.
    inferred = {guess.attacker: guess.noisy == values for guess in exposure.guesses}.values()
    fooled = np.array([[_mean(hits[part]) for part in parts.values()] for hits in inferred])
    left, right = st.columns(2, gap="large") if work.is_ratings else (st.container(), None)
    finding = findings.least_fooled(exposure, fooled[:, 0], finished=work.result is not None)
    drawing = charts.draw_transfer(exposure.attackers, list(parts), fooled)
    panels.under(finding, drawing, key="transfer_chart", container=left)
    tables = {"This noise": drawing.table}
    if right is not None:
        with right:
            tables["Other noise"] = _draw_other_noise(work, exposure).table
    panels.numbers(tables, key="guard-transfer")


def _mean(hits: Any) -> float:
    """Return a share; nan of nobody."""
    if not hits.size:
        return float("nan")
    return float(hits.mean())


def _draw_other_noise(work: GuardRun, exposure: Exposure) -> Drawing:
    label = "Showing noise to attackers"
    defense = work.defense_of(exposure)
    shares, sizes = work.require(
        "transfer", label, lambda report: attriguard.transfer(defense, report)
    )
    fooled = np.array(
        [[shares[noise, name].value for noise in SURROGATES] for name in CLEAN_ATTACKERS]
    )
    drawing = charts.draw_transfer(
        CLEAN_ATTACKERS, [title for title, _, _ in SURROGATES.values()], fooled
    )
    return panels.under(findings.margin_helps(shares, sizes), drawing, key="other_transfer_chart")


# Noise concentration --------------------------------------------------------------------------------------------------


def draw_concentration(work: GuardRun, exposure: Exposure, budget: float) -> None:
    """Draw the shares of all changes that a budget without limit would make."""
    defense = work.defense_of(exposure)
    without_limit = exposure.mechanism(float(exposure.size.max()))

    def measure(report: Any) -> Any:
        return attriguard.concentration(defense.sets[1], defense.noise, without_limit)

    carried: Any = work.require("where", "Counting changes", measure)
    if not carried.share.size:
        st.info("No noise changes anything here.")
        return
    unit = "items" if work.is_ratings else "columns"
    drawing = charts.draw_where(
        [defense.names[index] for index in carried.entries], carried, unit=unit
    )
    panels.under(findings.concentrated(carried, unit), drawing, key="where_chart")
    panels.numbers({"Noise concentration": drawing.table}, key="guard-where")


# Utility loss ---------------------------------------------------------------------------------------------------------


def draw_cost(work: GuardRun, exposure: Exposure, budget: float) -> None:
    """Draw what gets worse with the noise: of a table the model's decisions, of ratings the recommendations."""
    if work.is_ratings:
        _draw_recommendations(work, exposure, budget)
    elif cached.audited()[0].method == GIVEN_PREDICTIONS:
        panels.needs_training("Decisions about records with noise")
    else:
        _draw_decisions(work, exposure, budget)


def _budgets(exposure: Exposure) -> list[float]:
    return [float(budget) for budget in np.linspace(0.0, exposure.last_budget, _COST_POINTS + 1)]


def _draw_decisions(work: GuardRun, exposure: Exposure, budget: float) -> None:
    config, table = cached.audited()
    dataset = cached.dataset_of(table, config.roles)
    defense = work.defense_of(exposure)
    budgets = _budgets(exposure)

    def ask(report: Any) -> tuple[Any, Any]:
        utility = attriguard.table_utility(defense, dataset, config)
        return utility, [utility.at(budget) for budget in budgets]

    utility, curve = work.require("utility", "Asking the audited model", ask)
    current = utility.at(budget)
    before = utility.without_noise()
    majority = proportion(int(np.bincount(utility.labels, minlength=2).max()), utility.labels.size)
    panels.whisper(findings.decisions(before, current, majority, config.metric))
    metric = METRIC_TITLES[config.metric].lower()
    parts: tuple[tuple[str, str, str, dict[str, Estimate]], ...] = (
        (
            "Model accuracy",
            "On the test set, by noise budget β",
            "accuracy",
            {"Majority": majority},
        ),
        (
            "Effect on fairness",
            f"Unfairness (largest deviation of a group, {metric}), by noise budget β",
            "unfairness",
            {},
        ),
    )
    tables = {}
    for column, (title, quantity, quality, levels) in zip(
        st.columns(2, gap="large"), parts, strict=True
    ):
        drawing = charts.draw_cost(
            [(point.budget, getattr(point, quality)) for point in curve],
            (budget, getattr(current, quality)),
            {"No noise": getattr(before, quality), **levels},
            last=exposure.last_budget,
            quality=quality,
            unit="columns",
            gap=quality == "unfairness",
        )
        panels.titled(title, quantity, drawing, key=f"cost_{quality}_chart", container=column)
        tables[title] = drawing.table
    panels.numbers(tables, key="guard-cost")


def _draw_recommendations(work: GuardRun, exposure: Exposure, budget: float) -> None:
    defense = work.defense_of(exposure)
    label = "Recommending items"
    recommendation: Any = work.require(
        "recommendation", label, lambda report: attriguard.recommendation(defense)
    )
    drawing = charts.draw_cost(
        [(at, recommendation.at(at)) for at in _budgets(exposure)],
        (budget, recommendation.at(budget)),
        {"No noise": recommendation.before, "Most popular": recommendation.control},
        last=exposure.last_budget,
        quality="precision of the recommendations",
        unit="ratings",
    )
    panels.under(findings.recommendations(recommendation, budget), drawing, key="cost_chart")
    panels.numbers({"Recommendations": drawing.table}, key="guard-cost")


# Other defences -------------------------------------------------------------------------------------------------------


def draw_other_defences(work: GuardRun, exposure: Exposure, budget: float) -> None:
    """Draw the comparison, with AttriGuard at the slider's budget."""
    defense = work.defense_of(exposure)
    label = "Defending otherwise"
    defences: Any = work.require(
        "others", label, lambda report: list(attriguard.comparison(defense, report))
    )
    finding = findings.other_defences(exposure, budget, charts.drawn_defences(defences))
    drawn = panels.under(
        finding, charts.draw_defences(exposure, budget, defences), key="others_chart"
    )
    every = panels.frame(
        {
            "defence": row.method,
            "setting": row.parameter,
            "knows the true value": row.knows_truth,
            "ratings changed": row.size.value,
            **{attacker_label(name): estimate.value for name, estimate in row.accuracy.items()},
        }
        for row in defences
    )
    panels.numbers({"Defences drawn": drawn.table, "All settings": every}, key="guard-others")


# Allowed changes ------------------------------------------------------------------------------------------------------

_LISTED_VALUES = 8
"""Values of a column that its row lists at most."""

_LISTED_COLUMNS = 5
"""Columns that a message lists at most."""

_HEIGHT = 320
_PROBLEM = "guard_rules_problem"


def draw_allowed_changes(work: GuardRun, exposure: Exposure, budget: float) -> None:
    """Draw the columns and the rules, and a form that changes them."""
    defense: Any = work.defense_of(exposure)
    panels.whisper(findings.plausible(defense))
    left, right = st.columns(2, gap="large")
    columns = _column_table(defense)
    rules = _rule_table(defense)
    left.dataframe(columns, hide_index=True, height=_HEIGHT)
    right.dataframe(rules, hide_index=True, height=panels.table_height(rules, 7, _HEIGHT))
    with st.container(border=True):
        _draw_form(work, defense)
    panels.numbers({"Columns": columns, "Forbidden pairs": rules}, key="defense-changes")


def _column_table(defense: TableDefense) -> pandas.DataFrame:
    rows = []
    for column in defense.columns:
        row = {
            "column": column.name,
            "may change": "yes",
            "kind": column.kind,
            "to": _domain_text(column),
        }
        if column.frozen:
            row |= {"may change": "frozen", "to": ""}
        rows.append(row)
    return panels.frame(rows)


def _domain_text(column: Column) -> str:
    """Return to what a column may change: the first values of a category, the range of a number."""
    values = [column.text(value) for value in column.domain]
    if column.kind != "category" and values:
        return f"{values[0]} to {values[-1]}"
    return ", ".join(values[:_LISTED_VALUES]) + "…" * (len(values) > _LISTED_VALUES)


def _rule_table(defense: TableDefense) -> pandas.DataFrame:
    import pandas as pd

    in_force = defense.rules
    rules = dict(in_force)
    for pair, expected in defense.found_rules.items():
        rules.setdefault(pair, expected)
    rows = []
    for pair, expected in rules.items():
        column, value, second_column, second_value = pair
        status = "yes" if pair in in_force else "no"
        rows.append(
            (f"{column}: {value}", f"{second_column}: {second_value}", round(expected, 1), status)
        )
    return pd.DataFrame(rows, columns=["forbidden", "with", "people expected", "in force"])


def _draw_form(work: GuardRun, defense: TableDefense) -> None:
    """Ask for frozen columns and rules; nothing changes before the button is pressed."""
    current = allowed_changes(work.records)
    names = [column.name for column in defense.columns]
    pairs = {_pair_text(pair): pair for pair in defense.found_rules}
    key = work.records.dataset.fingerprint[:12]
    settings = params(AttriGuardSettings)
    left, right = st.columns(2, gap="large")
    with left:
        frozen = control(
            settings["frozen"],
            f"guard_frozen_{key}",
            persist_state=None,
            options=names,
            value=[name for name in current.frozen if name in names],
            help="The noise leaves them alone. A column with one value is frozen anyhow.",
        )
        rules = control(
            settings["rules"],
            f"guard_rules_{key}",
            persist_state=None,
            value=current.rules,
            help="Pairs found in the data: nobody has both values, though at least one person should by chance.",
        )
    with right:
        allowed = control(
            settings["allowed_pairs"],
            f"guard_allowed_{key}",
            persist_state=None,
            help=None,
            options=list(pairs),
            value=[text for text in map(_pair_text, current.allowed_pairs) if text in pairs],
        )
        written = st.text_area(
            settings["forbidden_pairs"].param.title,
            "\n".join(map(_pair_text, current.forbidden_pairs)),
            key=f"guard_added_{key}",
            placeholder=next(iter(pairs), None),
            height=70,
        )
    if st.button("Use these rules", key="guard_use_rules", type="primary"):
        allowed_pairs = tuple(pairs[text] for text in allowed)
        requested = replace(current, frozen=tuple(frozen), rules=rules, allowed_pairs=allowed_pairs)
        _apply(work, defense, written, requested)
    panels.kept_problem(_PROBLEM)


def _pair_text(pair: Pair) -> str:
    return f"{pair[0]}: {pair[1]} + {pair[2]}: {pair[3]}"


def _apply(
    work: GuardRun, defense: TableDefense, written: str, requested: AttriGuardSettings
) -> None:
    """Let the noise keep to these rules from now on, or say what is wrong with them and leave all as it is."""
    with panels.keeping_problem(_PROBLEM):
        forbidden = _pairs(written, [column.name for column in defense.columns])
        attriguard.table_columns(defense.people, frozen=requested.frozen)
        pairs_allowed = requested.allowed_pairs
        attriguard.pair_rules(
            defense.columns, defense.found_rules, forbidden=forbidden, allowed=pairs_allowed
        )
        allow_changes(work.records, replace(requested, forbidden_pairs=forbidden))
    st.rerun()


def _pairs(written: str, columns: Sequence[str]) -> tuple[Pair, ...]:
    """Read pairs of values, a line each."""
    pairs = []
    for line in filter(str.strip, written.splitlines()):
        sides = [side.partition(":") for side in line.split(" + ")]
        if len(sides) != 2 or not all(colon for _, colon, _ in sides):
            raise InputError(
                f"Each line must read “column: value + column: value”, got “{line.strip()}”."
            )
        (name, _, value), (second_name, _, second_value) = sides
        unknown = [word.strip() for word in (name, second_name) if word.strip() not in columns]
        if unknown:
            some = ", ".join(columns[:_LISTED_COLUMNS]) + ", …" * (len(columns) > _LISTED_COLUMNS)
            raise InputError(f"No column is called “{unknown[0]}”; there are {some}.")
        pairs.append((name.strip(), value.strip(), second_name.strip(), second_value.strip()))
    return tuple(pairs)
