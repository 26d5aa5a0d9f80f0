"""AttriGuard: noise on public records that misleads attribute inference, and attackers who know about the noise."""

from __future__ import annotations

from pages.shell import shell

shell.guard()

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.base.errors import InputError
from core.base.settings import params
from core.models import GIVEN_PREDICTIONS
from core.stats.estimates import Estimate, count, proportion
from core.stats.fairness import METRIC_TITLES
from pages._attriguard import attriguard_controls as controls
from pages.shell import cached, panels
from pages.shell.background import ensure_started
from pages.shell.controls import control

if TYPE_CHECKING:
    import pandas

shell.head(badge=controls.badge())
top = st.container()
if st.session_state.get("guard_told_of") != controls.chosen():  # what was found of others goes at once
    top.empty()
    st.session_state["guard_told_of"] = controls.chosen()
work, is_ratings = controls.defended(), controls.kind() == "ratings"

from core.charts import Drawing
from core.studies import attriguard
from core.studies.attriguard import AttriGuardSettings, Exposure, Pair, attacker_label, charts, findings
from core.studies.attriguard.comparators import CLEAN_ATTACKERS, SURROGATES

ensure_started(work.run)
work.run.first(work.run.show_progress)
opening = top.empty()  # no earlier, so that the finding does not blink whenever the page is drawn again


@st.fragment
def curves_and_sizes() -> None:
    """Draw everything that follows the budget."""
    exposure: Exposure = work.run.first(work.run.show_progress)
    attribute = shell.escape(exposure.attribute)
    settings = replace(work.settings, budget=controls.budget(exposure))
    controls.follow(settings.budget)
    headline, *more_findings = controls.STUDY.findings(exposure, settings)
    with opening:
        panels.finding(headline)
    (curves_title, curves), (sizes_title, sizes) = controls.STUDY.charts(exposure, settings).items()
    left, right = st.columns([3, 2], gap="large")
    with left:
        measure = "Balanced accuracy" if settings.balanced else "Accuracy"
        quantity = f"{measure} of inferring the {attribute}; grey: defense-unaware attackers, in colour: adaptive ones"
        panels.titled(curves_title, quantity, curves, key="guard_chart")
        controls.budget_slider(exposure)
        work.run.watch(work.run.show_progress, drawn=exposure)
    with right:
        margin = f", with a margin of {settings.margin:g}" if settings.margin else ""
        quantity = f"Mean number of {exposure.unit} changed until it is inferred{margin}"
        panels.titled(sizes_title, quantity, sizes, key="values_noise_chart")
        panels.notes(*(finding.text for finding in more_findings))
    tables = panels.frames(controls.STUDY.tables(exposure, settings))
    tables |= {curves_title: curves.table, sizes_title: sizes.table}
    panels.foot(findings.guide(replace(exposure, attribute=attribute), settings.defender), tables, key="attriguard")


# More analyses --------------------------------------------------------------------------------------------------------

_MOST_VALUES = 3  # that get a column each


def _transfer(exposure: Exposure, budget: float) -> None:
    """Draw the heat map of attackers and wanted values; of ratings also that of other noise."""
    values = np.arange(len(exposure.values))
    changed = exposure.reached & (exposure.predicted[:, None] != values)  # for whom is noise for which
    if not changed.any():
        shell.whisper("No noise was found", "So there is none that could fool anybody")
        return
    few = values if values.size <= _MOST_VALUES else values[:0]
    noises = ["all noise", *(f"for {exposure.values[i]}" for i in few)]
    parts = [changed, *(changed & (values == i) for i in few)]
    # An attacker trained at several budgets is the one trained at the largest.
    reads = {guess.attacker: guess.noisy == values for guess in exposure.guesses}.values()
    fooled = np.array([[read[part].mean() if part.any() else np.nan for part in parts] for read in reads])
    left, *right = st.columns(2, gap="large") if is_ratings else [st.container()]
    finding = findings.least_fooled(exposure, fooled[:, 0], finished=work.run.result is not None)
    drawn = charts.draw_transfer(exposure.attackers, noises, fooled)
    drawings = {"This noise": panels.under(finding, drawn, key="transfer_chart", container=left)}
    if right:
        with right[0]:
            drawings["Other noise"] = _other_noise(exposure)
    panels.numbers({name: drawing.table for name, drawing in drawings.items()}, key="guard-transfer")


def _other_noise(exposure: Exposure) -> Drawing:
    label = "Showing noise to attackers"
    defense = work.defense_of(exposure)
    transfer: Any = work.need("transfer", label, lambda report: attriguard.transfer(defense, report))
    fooled = np.array([[transfer.share[noise, name].value for noise in SURROGATES] for name in CLEAN_ATTACKERS])
    drawing = charts.draw_transfer(CLEAN_ATTACKERS, [title for title, _, _ in SURROGATES.values()], fooled)
    return panels.under(findings.margin_helps(transfer), drawing, key="other_transfer_chart")


_SIDE_BY_SIDE = 4
"""Most values whose records fit beside each other."""


@st.fragment
def _person(exposure: Exposure, budget: float) -> None:
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
    finding = findings.person(exposure, person, budget)
    drawn = charts.draw_mechanism(exposure, person, budget)
    table = work.defense_of(exposure).card(person)
    with left:
        panels.whisper(finding)
        if len(exposure.values) <= _SIDE_BY_SIDE:
            st.dataframe(table, hide_index=True, height="content" if len(table) <= 10 else 390)
        else:
            listed = controls.by_value(table).map(shell.escape)  # a static table breaks long lines
            st.table(listed, hide_index=True, height="content" if len(listed) <= 10 else 390)
        panels.notes(*finding.caveats)
    with right:
        st.caption("Dot: how often this noise is drawn; diamond: its share in the target (M\\* and p in the paper).")
        panels.chart(drawn, key="person_chart")
    panels.numbers({"Record": table, "Noise": drawn.table}, key="guard-person")


def _where(exposure: Exposure, budget: float) -> None:
    """Draw the shares of all changes that a budget without limit would make."""
    defense = work.defense_of(exposure)
    without_limit = exposure.mechanism(float(exposure.size.max()))

    def carry(report: Any) -> Any:
        return attriguard.concentration(defense.sets[1], defense.noise, without_limit)

    carried: Any = work.need("where", "Counting changes", carry)
    if not carried.share.size:
        st.info("No noise changes anything here.")
        return
    unit = "items" if is_ratings else "columns"
    drawing = charts.draw_where([defense.names[index] for index in carried.entries], carried, unit=unit)
    panels.under(findings.concentrated(carried, unit), drawing, key="where_chart")
    panels.numbers({"Noise concentration": drawing.table}, key="guard-where")


_POINTS = 20


def _cost(exposure: Exposure, budget: float) -> None:
    """Draw what gets worse with the noise: of a table the model's decisions, of ratings the recommendations."""
    budgets = [float(b) for b in np.linspace(0.0, exposure.last_budget, _POINTS + 1)]
    if is_ratings:
        _recommendations(exposure, budget, budgets)
    elif cached.audited()[0].method == GIVEN_PREDICTIONS:
        panels.needs_training("Decisions about records with noise")
    else:
        _decisions(exposure, budget, budgets)


def _decisions(exposure: Exposure, budget: float, budgets: list[float]) -> None:
    config, table = cached.audited()
    dataset = cached.dataset_of(table, config.roles)
    defense = work.defense_of(exposure)

    def ask(report: Any) -> tuple[Any, Any]:
        utility = attriguard.table_utility(defense, dataset, config)
        return utility, [utility.at(budget) for budget in budgets]

    utility, curve = work.need("utility", "Asking the audited model", ask)
    current, before = utility.at(budget), utility.without_noise()
    majority = proportion(int(np.bincount(utility.labels, minlength=2).max()), utility.labels.size)
    finding = findings.decisions(before, current, majority, config.metric)
    panels.whisper(finding)
    deviation = f"Unfairness (largest deviation of a group, {METRIC_TITLES[config.metric].lower()}), by noise budget β"
    parts: tuple[tuple[str, str, str, dict[str, Estimate]], ...] = (
        ("Model accuracy", "On unseen people, by noise budget β", "accuracy", {"Majority": majority}),
        ("Effect on fairness", deviation, "unfairness", {}),
    )
    frames = {}
    for column, (title, quantity, quality, levels) in zip(st.columns(2, gap="large"), parts, strict=True):
        drawing = charts.draw_cost(
            [(point.budget, getattr(point, quality)) for point in curve],
            (budget, getattr(current, quality)),
            {"No noise": getattr(before, quality), **levels},
            last=budgets[-1],
            quality=quality,
            unit="columns",
            gap=quality == "unfairness",
        )
        panels.titled(title, quantity, drawing, key=f"cost_{quality}_chart", container=column)
        frames[title] = drawing.table
    panels.numbers(frames, key="guard-cost")


def _recommendations(exposure: Exposure, budget: float, budgets: list[float]) -> None:
    defense = work.defense_of(exposure)
    label = "Recommending items"
    recommendation: Any = work.need("recommendation", label, lambda report: attriguard.recommendation(defense))
    drawing = charts.draw_cost(
        [(at, recommendation.at(at)) for at in budgets],
        (budget, recommendation.at(budget)),
        {"No noise": recommendation.before, "Most popular": recommendation.control},
        last=budgets[-1],
        quality="precision of the recommendations",
        unit="ratings",
    )
    panels.under(findings.recommendations(recommendation, budget), drawing, key="cost_chart")
    panels.numbers({"Recommendations": drawing.table}, key="guard-cost")


def _other_defences(exposure: Exposure, budget: float) -> None:
    """Draw the comparison, with AttriGuard at the slider's budget."""
    defense = work.defense_of(exposure)
    label = "Defending otherwise"
    defences: Any = work.need("others", label, lambda report: list(attriguard.comparison(defense, report)))
    finding = findings.other_defences(exposure, budget, charts.drawn_defences(defences))
    drawn = panels.under(finding, charts.draw_defences(exposure, budget, defences), key="others_chart")
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


_SHOWN_VALUES = 8  # values of a column
_NAMED_COLUMNS = 5  # columns
_HEIGHT = 320


def _changes(exposure: Exposure, budget: float) -> None:
    """Draw the columns and the rules, and a form that changes them."""
    defense = work.defense_of(exposure)
    finding = findings.plausible(defense)
    panels.whisper(finding)
    left, right = st.columns(2, gap="large")
    columns, rules = _column_table(defense), _rule_table(defense)
    left.dataframe(columns, hide_index=True, height=_HEIGHT)
    right.dataframe(rules, hide_index=True, height="content" if len(rules) < 8 else _HEIGHT)
    with st.container(border=True):
        _form(defense, controls.changes(work.records))
    panels.numbers({"Columns": columns, "Forbidden pairs": rules}, key="defense-changes")


def _column_table(defense: Any) -> pandas.DataFrame:
    rows = []
    for column in defense.columns:
        values = [column.text(value) for value in column.domain]
        domain_text = ", ".join(values[:_SHOWN_VALUES]) + "…" * (len(values) > _SHOWN_VALUES)
        if column.kind != "category" and values:
            domain_text = f"{values[0]} to {values[-1]}"
        may, to = ("frozen", "") if column.frozen else ("yes", domain_text)
        rows.append({"column": column.name, "may change": may, "kind": column.kind, "to": to})
    return panels.frame(rows)


def _rule_table(defense: Any) -> pandas.DataFrame:
    import pandas as pd

    in_force = {rule.pair for rule in defense.rules.rules}
    rules = [*defense.rules.rules, *(rule for rule in defense.found_rules if rule.pair not in in_force)]
    rows = [
        (f"{a}: {x}", f"{b}: {y}", round(rule.expected, 1), "yes" if rule.pair in in_force else "no")
        for rule in rules
        for a, x, b, y in [rule.pair]
    ]
    return pd.DataFrame(rows, columns=["forbidden", "with", "people expected", "in force"])


def _form(defense: Any, now: AttriGuardSettings) -> None:
    """Ask for frozen columns and rules; nothing changes before the button is pressed."""
    names = [column.name for column in defense.columns]
    key = work.records.dataset.fingerprint[:12]
    settings = params(AttriGuardSettings)
    left, right = st.columns(2, gap="large")
    with left:
        frozen = control(
            settings["frozen"],
            f"guard_frozen_{key}",
            persist_state=None,
            options=names,
            value=[name for name in now.frozen if name in names],
            help="The noise leaves them alone. A column with one value is frozen anyhow.",
        )
        rules = control(
            settings["rules"],
            f"guard_rules_{key}",
            persist_state=None,
            value=now.rules,
            help="Pairs found in the data: nobody has both values, though at least one person should by chance.",
        )
    with right:
        pairs = {_pair_text(rule.pair): rule.pair for rule in defense.found_rules}
        allowed = control(
            settings["allowed_pairs"],
            f"guard_allowed_{key}",
            persist_state=None,
            help=None,
            options=list(pairs),
            value=[_pair_text(pair) for pair in now.allowed_pairs if _pair_text(pair) in pairs],
        )
        written = st.text_area(
            settings["forbidden_pairs"].param.title,
            "\n".join(_pair_text(pair) for pair in now.forbidden_pairs),
            key=f"guard_added_{key}",
            placeholder=_pair_text(defense.found_rules[0].pair) if defense.found_rules else None,
            height=70,
        )
    if st.button("Use these rules", key="guard_use_rules", type="primary"):
        allowed_pairs = tuple(pairs[text] for text in allowed)
        _apply(defense, written, replace(now, frozen=tuple(frozen), rules=rules, allowed_pairs=allowed_pairs))
    panels.kept_problem("guard_rules_problem")


def _pair_text(pair: Pair) -> str:
    return f"{pair[0]}: {pair[1]} + {pair[2]}: {pair[3]}"


def _apply(defense: Any, written: str, chosen: AttriGuardSettings) -> None:
    """Let the noise keep to these rules from now on, or say what is wrong with them and leave all as it is."""
    with panels.keeping_problem("guard_rules_problem"):
        forbidden = _pairs(written, [column.name for column in defense.columns])
        attriguard.table_columns(defense.people, frozen=chosen.frozen)
        attriguard.pair_rules(defense.columns, defense.found_rules, forbidden=forbidden, allowed=chosen.allowed_pairs)
        controls.change(work.records, replace(chosen, forbidden_pairs=forbidden))
    st.rerun()


def _pairs(written: str, columns: Sequence[str]) -> tuple[Pair, ...]:
    """Read pairs of values, a line each."""
    pairs = []
    for line in filter(str.strip, written.splitlines()):
        sides = [side.partition(":") for side in line.split(" + ")]
        if len(sides) != 2 or not all(colon for _, colon, _ in sides):
            raise InputError(f"Each line must read “column: value + column: value”, got “{line.strip()}”.")
        (name, _, value), (second_name, _, second_value) = sides
        unknown = [word.strip() for word in (name, second_name) if word.strip() not in columns]
        if unknown:
            some = ", ".join(columns[:_NAMED_COLUMNS]) + ", …" * (len(columns) > _NAMED_COLUMNS)
            raise InputError(f"No column is called “{unknown[0]}”; there are {some}.")
        pairs.append((name.strip(), value.strip(), second_name.strip(), second_value.strip()))
    return tuple(pairs)


_SECTIONS = {
    "person": ("One person", _person, True),
    "transfer": ("Transferability", _transfer, False),
    "where": ("Noise concentration", _where, False),
    "cost": ("Utility loss", _cost, True),
    "others": ("Other defences", _other_defences, True),
    "changes": ("Allowed changes", _changes, False),
}
"""Name -> title, what draws it, and whether it depends on the budget."""

controls.stand(None)
curves_and_sizes()
offered = {name: row for name, row in _SECTIONS.items() if name != ("changes" if is_ratings else "others")}
if further := panels.further(offered, key="further_guard" if is_ratings else "further_guard_table"):
    title, draw, follows = further
    controls.stand(controls.budget(work.run.first(work.run.show_progress)) if follows else None)

    @st.fragment
    def section() -> None:
        """Draw the chosen section; what tells of all attackers follows as they come."""
        exposure = work.run.first(work.run.show_progress)
        draw(exposure, controls.budget(exposure))

    section()
