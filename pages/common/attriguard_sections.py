"""The sections below the charts of AttriGuard: one is drawn, at the budget of the slider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.attriguard import Pair, TableSettings, attacker_label, findings
from core.charts import Drawing
from core.charts.attriguard import draw_cost, draw_defences, draw_mechanism, draw_transfer, draw_where, drawn_defences
from core.errors import InputError
from core.estimates import Estimate, count, proportion
from core.fairness import METRIC_TITLES
from core.models import GIVEN
from core.settings import params
from core.study import Finding
from pages.common import attriguard_controls as controls
from pages.common import panels, shell, wording
from pages.common.attriguard_controls import DefenceStudy, Grown, People, last_budget
from pages.common.background import State
from pages.common.controls import control

if TYPE_CHECKING:
    import pandas


_TABLE = params(TableSettings)

_FOLLOWING = ("person", "cost", "others")  # what depends on the budget


def draw(work: DefenceStudy) -> None:
    """Offer the sections and draw one; what tells of all attackers follows as they come."""
    ratings = work.who.ratings is not None
    offered = {name: row[0] for name, row in _SECTIONS.items() if name != ("changes" if ratings else "others")}
    name = panels.further(offered, key="further_guard" if ratings else "further_guard_table")
    if name is None:
        return
    grown = work.wait_for_first()
    controls.stand(controls.budget(grown.exposure) if name in _FOLLOWING else None)
    st.fragment(_draw)(name, work)


def _draw(name: str, work: DefenceStudy) -> None:
    grown = work.wait_for_first()
    _SECTIONS[name][1](work, grown, controls.budget(grown.exposure))


def _titled(finding: Finding, drawing: Drawing, key: str) -> Drawing:
    """Show a chart under its finding."""
    return panels.titled(shell.escape(finding.point), shell.escape(finding.evidence), drawing, key=key)


def _whisper(finding: Finding) -> None:
    shell.whisper(shell.escape(finding.point), shell.escape(finding.evidence))


_MOST_VALUES = 3  # that get a column each

_MAKERS = {"logistic": "Logistic", "logistic_margin": "… with margin", "network": "Network"}


def _transfer_section(work: DefenceStudy, grown: Grown, budget: float) -> None:
    """Draw the heat map of attackers and wanted values; of ratings also that of other noise."""
    exposure = grown.exposure
    values = np.arange(len(exposure.values))
    changed = exposure.found & (exposure.predicted[:, None] != values)  # for whom is noise for which
    if not changed.any():
        shell.whisper("No noise was found", "So there is none that could fool anybody")
        return
    few = values if values.size <= _MOST_VALUES else values[:0]
    noises = ["all noise", *(f"for {exposure.values[i]}" for i in few)]
    parts = [changed, *(changed & (values == i) for i in few)]
    # An attacker trained at several budgets is the one trained at the largest.
    reads = {guess.attacker: guess.noisy == values for guess in exposure.guesses}.values()
    fooled = np.array([[read[part].mean() if part.any() else np.nan for part in parts] for read in reads])
    drawings, places = {}, st.columns(2, gap="large") if exposure.unit == "ratings" else [st.container()]
    with places[0]:
        found = findings.least_fooled(exposure, fooled[:, 0], finished=work.state == State.FINISHED)
        drawn = draw_transfer(exposure.attackers, noises, fooled)
        drawings["This noise"] = _titled(found, drawn, key="transfer_chart")
    if exposure.unit == "ratings":
        with places[1]:
            drawings["Other noise"] = _other_noise(work, grown)
    panels.numbers({name: drawing.table for name, drawing in drawings.items()}, key="guard-transfer")


def _other_noise(work: DefenceStudy, grown: Grown) -> Drawing:
    from core.attriguard import transfer

    made: Any = work.need("transfer", "Showing noise to attackers", lambda report: transfer(grown.guard, report=report))
    fooled = np.array([[made.share[maker, name].value for maker in made.makers] for name in made.attackers])
    drawing = draw_transfer(made.attackers, [_MAKERS[maker] for maker in made.makers], fooled)
    return _titled(findings.margin_helps(made), drawing, key="other_transfer_chart")


_SIDE_BY_SIDE = 4
"""Most values whose records fit beside each other."""


@st.fragment
def _person_section(work: DefenceStudy, grown: Grown, budget: float) -> None:
    """Draw the card, with a field to step through the people."""
    exposure = grown.exposure
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
    found = findings.person(exposure, person, budget)
    drawn = draw_mechanism(exposure, person, budget)
    table = grown.guard.card(person)
    with left:
        _whisper(found)
        if len(exposure.values) <= _SIDE_BY_SIDE:
            st.dataframe(table, hide_index=True, height="content" if len(table) <= 10 else 390)
        else:
            listed = _by_value(table).map(shell.escape)  # a static table breaks long lines
            st.table(listed, hide_index=True, height="content" if len(listed) <= 10 else 390)
        for caveat in found.caveats:
            st.caption(shell.escape(caveat))
    with right:
        st.caption("Dot: how often this noise is drawn; diamond: its share in the target (M\\* and p in the paper).")
        panels.chart(drawn, key="person_chart")
    panels.numbers({"Record": table, "Noise": drawn.table}, key="guard-person")


def _by_value(card: pandas.DataFrame) -> pandas.DataFrame:
    """Return a card of many values with a row a value: what changes for it, and how."""
    entry, now, *values = card.columns
    cells = {value: zip(card[entry], card[now], card[value], strict=True) for value in values}
    told = (", ".join(f"{name}: {was} → {after}" for name, was, after in rows if after) for rows in cells.values())
    rows = zip(values, told, strict=True)
    return panels.frame({"target value": value, "what changes": words or "nothing"} for value, words in rows)


def _where_section(work: DefenceStudy, grown: Grown, budget: float) -> None:
    """Draw the shares of all changes that a budget without limit would make."""
    from core.attriguard import concentration

    exposure, guard = grown.exposure, grown.guard
    without_limit = float(exposure.size.max())
    carried: Any = work.need(
        "where",
        "Counting changes",
        lambda report: concentration(guard.sets[1], guard.noise, exposure.mechanism(without_limit)),
    )
    if not carried.share.size:
        st.info("No noise changes anything here.")
        return
    unit = "columns" if exposure.unit == "columns" else "items"
    drawing = draw_where([guard.names[place] for place in carried.entries], carried, unit=unit)
    drawn = _titled(findings.concentrated(carried, unit), drawing, key="where_chart")
    panels.numbers({"Noise concentration": drawn.table}, key="guard-where")


_POINTS = 20


def _cost_section(work: DefenceStudy, grown: Grown, budget: float) -> None:
    """Draw what gets worse with the noise: of a table the model's decisions, of ratings the recommendations."""
    budgets = [float(b) for b in np.linspace(0.0, last_budget(grown.exposure), _POINTS + 1)]
    if grown.exposure.unit == "ratings":
        _recommendations(work, grown, budget, budgets)
    elif work.who.config is not None and work.who.config.method == GIVEN:
        st.info(wording.needs_training("Decisions about records with noise"))
    else:
        _decisions(work, grown, budget, budgets)


def _decisions(work: DefenceStudy, grown: Grown, budget: float, budgets: list[float]) -> None:
    from core.attriguard import table_utility

    dataset, config = work.who.dataset, work.who.config
    assert dataset is not None and config is not None

    def ask(report: Any) -> tuple[Any, Any]:
        utility = table_utility(grown.guard, dataset, config)
        return utility, [utility.at(budget) for budget in budgets]

    utility, curve = work.need("utility", "Asking the audited model", ask)
    here, before = utility.at(budget), utility.without_noise()
    majority = proportion(int(np.bincount(utility.labels, minlength=2).max()), utility.labels.size)
    _whisper(findings.decisions(before, here, majority, config.metric))
    deviation = f"Unfairness (largest deviation of a group, {METRIC_TITLES[config.metric].lower()}), by noise budget β"
    charts: tuple[tuple[str, str, str, dict[str, Estimate]], ...] = (
        ("Model accuracy", "On unseen people, by noise budget β", "accuracy", {"Majority": majority}),
        ("Effect on fairness", deviation, "unfairness", {}),
    )
    tables = {}
    for place, (title, quantity, quality, levels) in zip(st.columns(2, gap="large"), charts, strict=True):
        drawing = draw_cost(
            [(point.budget, getattr(point, quality)) for point in curve],
            (budget, getattr(here, quality)),
            {"No noise": getattr(before, quality), **levels},
            last=budgets[-1],
            quality=quality,
            unit="columns",
            gap=quality == "unfairness",
        )
        with place:
            tables[title] = panels.titled(title, quantity, drawing, key=f"cost_{quality}_chart").table
    panels.numbers(tables, key="guard-cost")


def _recommendations(work: DefenceStudy, grown: Grown, budget: float, budgets: list[float]) -> None:
    from core.attriguard import recommendation

    made: Any = work.need("recommendation", "Recommending items", lambda report: recommendation(grown.guard))
    drawing = draw_cost(
        [(at, made.at(at)) for at in budgets],
        (budget, made.at(budget)),
        {"No noise": made.before, "Most popular": made.control},
        last=budgets[-1],
        quality="precision of the recommendations",
        unit="ratings",
    )
    drawn = _titled(findings.recommendations(made, budget), drawing, key="cost_chart")
    panels.numbers({"Recommendations": drawn.table}, key="guard-cost")


def _others_section(work: DefenceStudy, grown: Grown, budget: float) -> None:
    """Draw the comparison, with AttriGuard at the slider's budget."""
    from core.attriguard import comparison

    made: Any = work.need("others", "Defending otherwise", lambda report: list(comparison(grown.guard, report)))
    drawn = _titled(
        findings.other_defences(grown.exposure, budget, drawn_defences(made)),
        draw_defences(grown.exposure, budget, made),
        key="others_chart",
    )
    every = panels.frame(
        {
            "defence": row.method,
            "setting": row.parameter,
            "knows the true value": row.knows_truth,
            "ratings changed": row.size.value,
            **{attacker_label(name): estimate.value for name, estimate in row.accuracy.items()},
        }
        for row in made
    )
    panels.numbers({"Defences drawn": drawn.table, "All settings": every}, key="guard-others")


_SHOWN_VALUES = 8  # values of a column
_NAMED_COLUMNS = 5  # columns
_HEIGHT = 320


def _changes_section(work: DefenceStudy, grown: Grown, budget: float) -> None:
    """Draw the columns and the rules, and a form that changes them."""
    guard = grown.guard
    _whisper(findings.plausible(guard))
    left, right = st.columns(2, gap="large")
    with left:
        columns = _column_table(guard)
        st.dataframe(columns, hide_index=True, height=_HEIGHT)
    with right:
        rules = _rule_table(guard)
        st.dataframe(rules, hide_index=True, height="content" if len(rules) < 8 else _HEIGHT)
    with st.container(border=True):
        _form(work.who, guard, controls.changes(work.who))
    panels.numbers({"Columns": columns, "Forbidden pairs": rules}, key="guard-changes")


def _column_table(guard: Any) -> pandas.DataFrame:
    rows = []
    for column in guard.columns:
        values = [column.text(value) for value in column.domain]
        told = ", ".join(values[:_SHOWN_VALUES]) + "…" * (len(values) > _SHOWN_VALUES)
        if column.kind != "category" and values:
            told = f"{values[0]} to {values[-1]}"
        may, to = ("frozen", "") if column.frozen else ("yes", told)
        rows.append({"column": column.name, "may change": may, "kind": column.kind, "to": to})
    return panels.frame(rows)


def _rule_table(guard: Any) -> pandas.DataFrame:
    import pandas as pd

    there = {rule.pair for rule in guard.rules.rules}
    rules = [*guard.rules.rules, *(rule for rule in guard.found_rules if rule.pair not in there)]
    rows = [
        (f"{a}: {x}", f"{b}: {y}", round(rule.expected, 1), "yes" if rule.pair in there else "no")
        for rule in rules
        for a, x, b, y in [rule.pair]
    ]
    return pd.DataFrame(rows, columns=["forbidden", "with", "people expected", "in force"])


def _form(who: People, guard: Any, now: TableSettings) -> None:
    """Ask for frozen columns and rules; nothing changes before the button is pressed."""
    names = [column.name for column in guard.columns]
    key = who.fingerprint[0][:12]
    left, right = st.columns(2, gap="large")
    with left:
        frozen = control(
            _TABLE["frozen"],
            f"guard_frozen_{key}",
            persist_state=None,
            options=names,
            value=[name for name in now.frozen if name in names],
            help="The noise leaves them alone. A column with one value is frozen anyhow.",
        )
        rules = control(
            _TABLE["rules"],
            f"guard_rules_{key}",
            persist_state=None,
            value=now.rules,
            help="Pairs found in the data: nobody has both values, though several people should by chance.",
        )
    with right:
        told = {_words(rule.pair): rule.pair for rule in guard.found_rules}
        allowed = control(
            _TABLE["removed"],
            f"guard_allowed_{key}",
            persist_state=None,
            help=None,
            options=list(told),
            value=[_words(pair) for pair in now.removed if _words(pair) in told],
        )
        written = st.text_area(
            _TABLE["added"].param.title,
            "\n".join(_words(pair) for pair in now.added),
            key=f"guard_added_{key}",
            placeholder=_words(guard.found_rules[0].pair) if guard.found_rules else None,
            height=70,
        )
    if st.button("Use these rules", key="guard_use_rules", type="primary"):
        removed = tuple(told[words] for words in allowed)
        _apply(who, guard, written, replace(now, frozen=tuple(frozen), rules=rules, removed=removed))
    panels.kept_problem("guard_rules_problem")


def _words(pair: Pair) -> str:
    return f"{pair[0]}: {pair[1]} + {pair[2]}: {pair[3]}"


def _apply(who: People, guard: Any, written: str, chosen: TableSettings) -> None:
    """Let the noise keep to these rules from now on, or say what is wrong with them and leave all as it is."""
    from core.attriguard import pair_rules, table_columns

    st.session_state.pop("guard_rules_problem", None)
    try:
        added = _pairs(written, [column.name for column in guard.columns])
        table_columns(guard.people, frozen=chosen.frozen)
        pair_rules(guard.columns, guard.found_rules, added=added, removed=chosen.removed)
    except InputError as error:
        st.session_state["guard_rules_problem"] = str(error)
    else:
        controls.change(who, replace(chosen, added=added))
    st.rerun()


def _pairs(written: str, columns: Sequence[str]) -> tuple[Pair, ...]:
    """Read pairs of values, a line each."""
    pairs = []
    for line in filter(str.strip, written.splitlines()):
        sides = [side.partition(":") for side in line.split(" + ")]
        if len(sides) != 2 or not all(colon for _, colon, _ in sides):
            raise InputError(f"Each line must read “column: value + column: value”, got “{line.strip()}”.")
        (name, _, value), (other, _, its) = sides
        unknown = [word.strip() for word in (name, other) if word.strip() not in columns]
        if unknown:
            some = ", ".join(columns[:_NAMED_COLUMNS]) + ", …" * (len(columns) > _NAMED_COLUMNS)
            raise InputError(f"No column is called “{unknown[0]}”; there are {some}.")
        pairs.append((name.strip(), value.strip(), other.strip(), its.strip()))
    return tuple(pairs)


_SECTIONS = {
    "person": ("One person", _person_section),
    "transfer": ("Transferability", _transfer_section),
    "where": ("Noise concentration", _where_section),
    "cost": ("Utility loss", _cost_section),
    "others": ("Other defences", _others_section),
    "changes": ("Allowed changes", _changes_section),
}
