"""The sections below the charts of AttriGuard: one is drawn, at the budget of the slider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from core.attriguard import Study, TableSettings
from core.attriguard.table_rules import Pair
from core.charts import DefenceRow, Drawing, Drawn, draw_cost, draw_defences, draw_mechanism, draw_transfer, draw_where
from core.charts.attriguard import attacker_label
from core.errors import InputError
from core.estimates import Estimate, count, interval, percent, proportion
from core.fairness import METRIC_TITLES, difference_title
from core.models import GIVEN
from core.settings import params
from pages.common import attriguard_controls as controls
from pages.common import panels, shell, wording
from pages.common.attriguard_controls import People, last_budget
from pages.common.attriguard_study import DefenceStudy, Grown
from pages.common.background import State
from pages.common.controls import control

if TYPE_CHECKING:
    import pandas


_TABLE = params(TableSettings)

_FOLLOWING = ("person", "cost", "others")  # what depends on the budget


def draw(work: DefenceStudy) -> None:
    """Offer the sections and draw one; what tells of all attackers follows as they come."""
    ratings = work.who.ratings is not None
    offered = {name: row for name, row in _SECTIONS.items() if name != ("changes" if ratings else "others")}
    name = panels.further(offered, key="further_guard" if ratings else "further_guard_table")
    grown = work.wait_for_first()
    controls.stand(controls.budget(grown.study) if name in _FOLLOWING else None)
    st.fragment(_draw)(name, work)


def _draw(name: str, work: DefenceStudy) -> None:
    grown = work.wait_for_first()
    _SECTIONS[name][1](work, grown, controls.budget(grown.study))


_MOST_VALUES = 3  # that get a column each

_MAKERS = {"logistic": "Logistic", "logistic_margin": "… with margin", "network": "Network"}


def _transfer_section(work: DefenceStudy, grown: Grown, budget: float) -> None:
    """Draw the heat map of attackers and wanted values; of ratings also that of other noise."""
    study = grown.study
    changed = study.found & (study.predicted[:, None] != np.arange(len(study.values)))  # for whom is noise for which
    if not changed.any():
        shell.whisper("No noise was found", "So there is none that could fool anybody")
        return
    left, right = (st.container(), None) if study.unit == "columns" else st.columns(2, gap="large")
    with left:
        columns, fooled = _fooled(study, changed)
        readers = [attacker_label(name) for name in study.attackers]
        drawings = {
            "This noise": panels.titled(
                _least(study, fooled[:, 0], work.state == State.FINISHED),
                "Records with noise that an attacker reads as the noise wants",
                draw_transfer(readers, columns, fooled, shell.palette(), corner="attacker"),
                key="transfer_chart",
            )
        }
    if right is not None:
        with right:
            drawings["Other noise"] = _other(work, grown)
    panels.numbers({name: drawing.table for name, drawing in drawings.items()}, key="guard-transfer")


def _least(study: Study, fooled: npt.NDArray[np.float64], finished: bool) -> str:
    """Say who is fooled least, of two attackers or more."""
    least = int(np.argmin(fooled))
    name, share = attacker_label(study.attackers[least]), percent(float(fooled[least]), decimals=0)
    if len(fooled) < 2:
        return f"“{name}” is fooled by {share} of this noise"
    return f"“{name}” is fooled least{'' if finished else ' so far'}: by {share} of this noise"


def _fooled(study: Study, changed: npt.NDArray[np.bool_]) -> tuple[list[str], npt.NDArray[np.float64]]:
    """Return the columns' names and the shares (attackers, columns): all noise, and that for each of few values.

    An attacker trained at several budgets is the one trained at the largest.
    """
    last = {guess.attacker: guess for guess in study.guesses}
    values = np.arange(len(study.values))
    few = len(values) <= _MOST_VALUES
    parts = [changed, *((changed & (values == i)) for i in values if few)]
    names = ["all noise", *(f"for {value}" for value in study.values if few)]
    reads = [guess.noisy == values for guess in last.values()]
    fooled = [[float(read[part].mean()) if part.any() else float("nan") for part in parts] for read in reads]
    return names, np.array(fooled)


def _margin_helps(plain: float, margin: float) -> str:
    """Say how much noise against logistic regression fools a network, without and with a margin; nan for no noise."""
    if np.isnan(plain):
        return "No noise was found against logistic regression"
    more = "no noise was found" if np.isnan(margin) else percent(margin, decimals=0)
    return (
        f"{percent(plain, decimals=0)} of the noise against logistic regression fools a network; with a margin {more}"
    )


def _other(work: DefenceStudy, grown: Grown) -> Drawing:
    from core.attriguard import transfer

    made: Any = work.need("transfer", "Showing noise to attackers", lambda report: transfer(grown.guard, report=report))
    fooled = np.array([[made.share[maker, name].value for maker in made.makers] for name in made.attackers])
    sizes = [made.size[maker].value for maker in made.makers]
    changes = ", ".join(f"{size:.1f}" if np.isfinite(size) else "no" for size in sizes)
    columns = [_MAKERS.get(maker, maker) for maker in made.makers]
    readers = [attacker_label(name) for name in made.attackers]
    return panels.titled(
        _margin_helps(*(made.share[maker, "network"].value for maker in ("logistic", "logistic_margin"))),
        f"The same for noise made against each classifier; it changes {changes} ratings",
        draw_transfer(readers, columns, fooled, shell.palette(), corner="attacker"),
        key="other_transfer_chart",
    )


_SIDE_BY_SIDE = 4
"""Most values whose records fit beside each other."""


@st.fragment
def _person_section(work: DefenceStudy, grown: Grown, budget: float) -> None:
    """Draw the card, with a field to step through the people."""
    study = grown.study
    people = study.truth.size
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
    used = study.mechanism(budget)[person]
    rows = [
        Drawn(value=value, goal=float(study.target[i]), used=float(used[i]), size=int(study.size[person, i]))
        for i, value in enumerate(study.values)
    ]
    drawn = draw_mechanism(rows, shell.palette(), unit=study.unit)
    table = grown.guard.card(person) if study.unit == "columns" else _changed_ratings(grown, person)
    with left:
        truth, read = (shell.escape(study.values[row[person]]) for row in (study.truth, study.predicted))
        judged = "rightly" if truth == read else f"but is “{truth}”"
        expected = float(used @ study.size[person])
        shell.whisper(
            f"This person is read as “{read}”, {judged}; on average {expected:.2f} {study.unit} change",
            f"The {study.unit} that some noise changes: as they are, and with the noise for each value",
        )
        if len(study.values) <= _SIDE_BY_SIDE:
            st.dataframe(table, hide_index=True, height="content" if len(table) <= 10 else 390)
        else:
            listed = _by_value(table).map(shell.escape)  # a static table breaks long lines
            st.table(listed, hide_index=True, height="content" if len(listed) <= 10 else 390)
        missing = [value for i, value in enumerate(study.values) if not study.found[person, i]]
        if missing:
            others = f" and {len(missing) - 5} others" if len(missing) > 5 else ""
            st.caption(f"No noise was found for {shell.escape(', '.join(missing[:5]))}{others}.")
    with right:
        st.caption(
            "Dot: how often this noise is drawn; diamond: how often the target wants it (M\\* and p in the paper)."
        )
        panels.chart(drawn, key="person_chart")
    panels.numbers({"Her record": table, "Her noise": drawn.table}, key="guard-person")


def _changed_ratings(grown: Grown, person: int) -> pandas.DataFrame:
    """Return the ratings that some noise changes, a row an item; empty is no rating."""
    import pandas as pd

    guard, values = grown.guard, grown.study.values
    m = len(values)
    before = guard.ratings.people_test[[person]].toarray()[0]
    after = guard.noise.noisy[person * m : (person + 1) * m].toarray()
    changed = np.flatnonzero((after != before).any(axis=0))
    often = (after != before)[:, changed].sum(axis=0)
    changed = changed[np.argsort(-often, kind="stable")]
    cells = {"item": [guard.ratings.items[j] for j in changed], "now": [_stars(before[j]) for j in changed]}
    for i, value in enumerate(values):
        cells[value] = [_stars(after[i, j]) if after[i, j] != before[j] else "" for j in changed]
    return pd.DataFrame(cells)


def _by_value(card: pandas.DataFrame) -> pandas.DataFrame:
    """Return a card of many values with a row a value: what changes for it, and how."""
    import pandas as pd

    entry, now, *values = card.columns
    cells = {value: zip(card[entry], card[now], card[value], strict=True) for value in values}
    told = [
        ", ".join(f"{name}: {before} → {after}" for name, before, after in rows if after not in ("", before))
        for rows in cells.values()
    ]
    named = [str(value).removeprefix("to be read as ") for value in values]
    return pd.DataFrame({"to be read as": named, "what changes": [words or "nothing" for words in told]})


def _stars(rating: float) -> str:
    return f"{rating:g}" if rating else "–"


def _where_section(work: DefenceStudy, grown: Grown, budget: float) -> None:
    """Draw the shares of all changes that a budget without limit would make."""
    names, shares, entries = work.need("where", "Counting changes", lambda report: _carried(grown))
    unit = "columns" if grown.study.unit == "columns" else "items"
    if not shares.size:
        st.info("No noise changes anything here.")
        return
    half = int(np.searchsorted(np.cumsum(shares), 0.5 - 1e-9)) + 1
    one = unit[:-1] if half == 1 else unit
    drawn = panels.titled(
        f"{count(half)} of {count(entries)} {one if entries == 1 else unit} "
        f"{'carries' if half == 1 else 'carry'} half of the noise",
        "Share of all changes, each noise drawn as often as the goal asks. Few places make it easy to leave "
        "them out, as the attacker “drops noisy” does",
        draw_where(names, shares, shell.palette(), entries=entries, unit=unit),
        key="where_chart",
    )
    panels.numbers({"Where the noise sits": drawn.table}, key="guard-where")


def _carried(grown: Grown) -> tuple[list[str], Any, int]:
    """Return names, shares (most used first) and the number of all columns or items."""
    from core.attriguard import concentration

    study, guard = grown.study, grown.guard
    if study.unit == "columns":
        records, names = guard.people.public, guard.people.names
    else:
        records, names = guard.ratings.people_test, guard.ratings.items
    carried = concentration(records, guard.noise, study.mechanism(float(study.size.max())))
    return [names[place] for place in carried.entries], carried.share, carried.n_entries


_POINTS = 20


def _cost_section(work: DefenceStudy, grown: Grown, budget: float) -> None:
    """Draw what gets worse with the noise."""
    last = last_budget(grown.study)
    budgets = [float(b) for b in np.linspace(0.0, last, _POINTS + 1)]
    (_of_table if grown.study.unit == "columns" else _of_ratings)(work, grown, budget, budgets)


def _of_table(work: DefenceStudy, grown: Grown, budget: float, budgets: list[float]) -> None:
    from core.attriguard import table_utility

    dataset, config = work.who.dataset, work.who.config
    assert dataset is not None and config is not None
    if config.method == GIVEN:
        st.info(wording.needs_training("Decisions about records with noise"))
        return

    def ask(report: Any) -> tuple[Any, Any]:
        utility = table_utility(grown.guard, dataset, config)
        return utility, utility.curve(budgets)

    utility, curve = work.need("utility", "Asking the audited model", ask)
    here, before = utility.at(budget), utility.without_noise()
    more_frequent = int(np.bincount(utility.labels, minlength=2).max())
    control = proportion(more_frequent, utility.labels.size)
    shell.whisper(
        f"The model is right for {percent(here.accuracy)} instead of {percent(before.accuracy)}; its "
        f"unfairness {unfairness_told(before.unfairness, here.unfairness)}",
        f"Unfairness: largest deviation of a group from the overall rate. {difference_title(config.metric)}: "
        f"{here.gap:.3f}, {before.gap:.3f} without noise. "
        f"Right: 95% {interval(here.accuracy)} with noise, {interval(before.accuracy)} without. Baseline: always the "
        f"more frequent label is right for {percent(control)}. AttriGuard is no fairness method: "
        "decisions made from noisy records may treat the groups less alike than before",
    )

    def drawn(quality: str, **levels: Estimate) -> Drawing:
        return draw_cost(
            [(point.budget, getattr(point, quality)) for point in curve],
            (budget, getattr(here, quality)),
            {"No noise": getattr(before, quality), **levels},
            shell.palette(),
            last=budgets[-1],
            quality=quality,
            unit="columns",
            gap=quality == "unfairness",
        )

    deviation = f"Unfairness (largest deviation of a group, {METRIC_TITLES[config.metric].lower()}) by columns changed"
    charts = (
        ("Is the model still right?", "Right decisions on unseen people by columns changed", "accuracy"),
        ("Is it still as fair?", deviation, "unfairness"),
    )
    tables = {}
    for place, (title, quantity, quality) in zip(st.columns(2, gap="large"), charts, strict=True):
        drawing = drawn(quality, **({"Majority": control} if quality == "accuracy" else {}))
        with place:
            tables[title] = panels.titled(title, quantity, drawing, key=f"cost_{quality}_chart").table
    panels.numbers(tables, key="guard-cost")


def unfairness_told(before: Estimate, here: Estimate) -> str:
    """Say how the unfairness changes; the interval with noise decides whether it does."""
    limits = f"95% {here.low:.3f} to {here.high:.3f}"
    if here.low <= before.value <= here.high:
        return (
            f"shows no statistically significant change: {here.value:.3f} ({limits}), {before.value:.3f} without noise"
        )
    return f"changes from {before.value:.3f} to {here.value:.3f} ({limits})"


def _of_ratings(work: DefenceStudy, grown: Grown, budget: float, budgets: list[float]) -> None:
    from core.attriguard.utility import recommendation

    def recommend(report: Any) -> tuple[Any, Any]:
        made = recommendation(grown.guard)
        return made, [(budget, made.at(budget)) for budget in budgets]

    made, curve = work.need("recommendation", "Recommending items", recommend)
    here = made.at(budget)
    drawn = panels.titled(
        recommended_told(made.before, here, made.recommended),
        f"Right is what she rated: five ratings of each of {made.clean.size} people were set aside, a factorisation "
        f"recommends from the others. Without noise 95% {interval(made.before)}. Baseline: the most popular items, "
        f"right for {percent(made.control)}",
        draw_cost(
            curve,
            (budget, here),
            {"No noise": made.before, "Most popular": made.control},
            shell.palette(),
            last=budgets[-1],
            quality="precision of the recommendations",
            unit="ratings",
        ),
        key="cost_chart",
    )
    panels.numbers({"Recommendations": drawn.table}, key="guard-cost")


def recommended_told(before: Estimate, here: Estimate, recommended: int) -> str:
    """Say how many of the items recommended are right; the interval with noise decides whether that changed."""
    items = f"{'ten' if recommended == 10 else recommended} items recommended"
    limits = f"95% {interval(here)}"
    if here.low <= before.value <= here.high:
        none = f"no statistically significant change from {percent(before)}"
        return f"{percent(here)} of the {items} are right ({limits}): {none}"
    return f"{percent(here)} of the {items} are right ({limits}), instead of {percent(before)}"


_METHODS = {
    "blurme": ("BlurMe", "3 added"),
    "chisquare": ("ChiSquare", "3 added"),
    "qpm": ("QPM", "slack 0.5"),
    "local_dp": ("Local DP, ε = 8", "epsilon 8 an entry"),
}
"""What is drawn of each method; the other settings are among the numbers."""

_READERS = ("logistic", "forest", "network")


def _others_section(work: DefenceStudy, grown: Grown, budget: float) -> None:
    """Draw the comparison, with AttriGuard at the slider's budget."""
    import pandas as pd

    from core.attriguard import comparison

    study = grown.study
    made: Any = work.need("others", "Defending otherwise", lambda report: list(comparison(grown.guard, report)))
    now = {point.attacker: point.accuracy for point in study.at(budget)}
    ours = DefenceRow(
        name="AttriGuard",
        size=study.spent(budget).value,
        rates={name: now[name] for name in _READERS if name in now},
        ours=True,
    )
    rows = []
    for row in made:
        name, parameter = _METHODS[row.method]
        if row.method in ("blurme", "chisquare"):
            name += ", true value" if row.knows_truth else ", guessed"
        if parameter == row.parameter:
            rows.append(DefenceRow(name=name, size=row.size.value, rates=row.accuracy))
    sizes = sorted(row.size for row in rows)
    drawn = panels.titled(
        f"AttriGuard changes {ours.size:.1f} {study.unit} a person, the others {sizes[0]:.1f} to {sizes[-1]:.1f}",
        f"How often each attacker, trained on clean ratings, names the {shell.escape(study.attribute)} of "
        f"{count(study.truth.size)} people. BlurMe and ChiSquare are told the true value, or what logistic regression "
        "takes for it (guessed); an attacker who trains on their noise is not among them",
        draw_defences(
            [ours, *rows],
            study.majority,
            shell.palette(),
            unit=study.unit,
            labels={name: attacker_label(name) for name in _READERS},
        ),
        key="others_chart",
    )
    every = [
        {
            "defence": row.method,
            "setting": row.parameter,
            "told the true value": row.knows_truth,
            "ratings changed": row.size.value,
            **{attacker_label(name): estimate.value for name, estimate in row.accuracy.items()},
        }
        for row in made
    ]
    panels.numbers({"Defences drawn": drawn.table, "All settings": pd.DataFrame(every)}, key="guard-others")


_SHOWN_VALUES = 8  # values of a column
_NAMED_COLUMNS = 5  # columns
_HEIGHT = 320


def _changes_section(work: DefenceStudy, grown: Grown, budget: float) -> None:
    """Draw the columns and the rules, and a form that changes them."""
    guard = grown.guard
    judged = guard.plausibility
    shell.whisper(
        f"{percent(judged.plausible)} of the changed records hold only pairs of values that somebody has",
        f"{count(judged.changed)} records with noise.{unreached(judged.without_solution)} Rules in force: "
        f"{count(len(guard.rules.rules))}",
    )
    left, right = st.columns(2, gap="large")
    with left:
        columns = _column_table(guard)
        st.dataframe(columns, hide_index=True, height=_HEIGHT)
    with right:
        rules = _rule_table(guard)
        st.dataframe(rules, hide_index=True, height="content" if len(rules) < 8 else _HEIGHT)
    with st.container(border=True):
        _form(work.who, guard, controls.changes(work.who))
    panels.numbers({"Columns": columns, "Pairs that must not meet": rules}, key="guard-changes")


def unreached(times: int) -> str:
    """Say how often the rules leave no noise; empty if they always leave one."""
    if not times:
        return ""
    return f" {count(times)} time{'s' * (times > 1)} no noise was found for a person and a value: then nothing changes."


def _column_table(guard: Any) -> pandas.DataFrame:
    import pandas as pd

    rows = []
    for column in guard.columns:
        values = [column.text(value) for value in column.domain]
        told = ", ".join(values[:_SHOWN_VALUES]) + "…" * (len(values) > _SHOWN_VALUES)
        if column.kind != "category" and values:
            told = f"{values[0]} to {values[-1]}"
        frozen = column.frozen
        rows.append((column.name, "frozen" if frozen else "yes", column.kind, "" if frozen else told))
    return pd.DataFrame(rows, columns=["column", "may change", "kind", "to"])


def _rule_table(guard: Any) -> pandas.DataFrame:
    import pandas as pd

    there = {rule.pair for rule in guard.rules.rules}
    rules = [*guard.rules.rules, *(rule for rule in guard.found_rules if rule.pair not in there)]
    rows = [
        (
            f"{rule.first}: {rule.first_value}",
            f"{rule.second}: {rule.second_value}",
            round(rule.expected, 1),
            "yes" if rule.pair in there else "no",
        )
        for rule in rules
    ]
    return pd.DataFrame(rows, columns=["must not meet", "and", "people expected", "in force"])


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
    from core.attriguard.table_records import table_columns
    from core.attriguard.table_rules import pair_rules

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
    "transfer": ("Which noise fools whom", _transfer_section),
    "where": ("Where the noise sits", _where_section),
    "cost": ("What it costs", _cost_section),
    "others": ("Other defences", _others_section),
    "changes": ("What may change", _changes_section),
}
