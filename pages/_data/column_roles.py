"""The form of the column roles: the card of what the columns mean, and one row for each column below it.

Lines of the card have the controls of the table's values: two values of the label, the groups, a threshold, records
with gaps.
"""

from __future__ import annotations

import html
from collections.abc import Sequence, Set
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.auditing.plan import ModelPlan
from core.auditing.policy import Policy
from core.auditing.sizes import SizeProblem, counted, size_problems
from core.auditing.suggestion import sets_missing
from core.base.errors import InputError
from core.base.settings import params
from core.datasets import cautions
from core.datasets.checked_table import Fact, Severity
from core.datasets.columns import crossed_columns, quoted
from core.datasets.dataset import Table
from core.datasets.input_check import check_input
from core.datasets.role_suggestion import reason_of
from core.datasets.roles import (
    COLUMN_ROLES,
    FEATURE,
    LEFT_OUT,
    MINIMUM_PER_GROUP,
    MOST_GROUPS,
    ColumnSummary,
    Roles,
    usable_features,
)
from core.models import GIVEN_PREDICTIONS
from core.stats.estimates import count, percent
from core.studies.subject import AuditConfig
from pages._data.draft import Draft, GroupChoice, values_of
from pages._data.gate import Gate
from pages.shell import cached, panels, shell, state
from pages.shell.controls import control

if TYPE_CHECKING:
    import pandas

_FOLDED = 4
"""Features without a note from which on they are folded."""

_STYLE = """<style>
.stMainBlockContainer [class*=st-key-column_roles] {gap: 0}
[class*=st-key-column_roles] [data-testid=stHorizontalBlock] {border-bottom: 1px solid var(--fl-line); padding: 2px 0}
[class*=st-key-column_roles] [data-baseweb=select] > div,
  [class*=st-key-column_roles] [data-testid=stSelectbox] > div > div
  {min-height: 30px; height: 30px; padding-block: 0}
[class*=st-key-column_roles] [data-testid=stElementContainer] {line-height: 1.25}
.fl-column {display: grid; grid-template-columns: minmax(0, 1fr) 4.5rem 9rem 4rem; gap: .5rem; font-size: .9rem}
.fl-column > span {overflow: hidden; text-overflow: ellipsis; white-space: nowrap}
.fl-column > strong {min-width: 0; overflow-wrap: break-word; hyphens: auto}
.fl-column > span:last-child {text-align: right; font-variant-numeric: tabular-nums}
.fl-column > :nth-child(2), .fl-why {color: var(--fl-grey)}
.fl-why {font-size: .85rem}
@media (max-width: 760px) {
.st-key-column_heads [data-testid=stColumn]:not(:first-child) {display: none}
[class*=st-key-column_roles] [data-testid=stHorizontalBlock] {row-gap: .25rem}
.fl-column {grid-template-columns: minmax(0, 1fr) 4rem 5.4rem 3.5rem}
}
</style>"""

_ROW = [14, 6, 9]
"""Widths of a row: what the column holds, its role, the reason."""

_READ_AGAIN: dict[str, Any] = {
    "label_visibility": "collapsed",
    "on_change": panels.forget,
    "args": ("upload_read",),
    "persist_state": None,
}
"""Of a choice that changes how the file is read."""

_SIDE_BY_SIDE = 3
_SHORT = 16
"""Most values of a label that stand side by side, and the letters each may have."""

_WAYS = {"each": "each value", "ranges": "ranges"}
"""Way of forming more than two groups -> its title."""


def draw(table: Table, current: Roles | None) -> Gate:
    """Draw the form and return its gate; its button applies the roles, and until then nothing changes."""
    st.html(_STYLE)
    draft = Draft(table, current)
    roles = draft.roles
    with st.spinner("Checking the table"):
        facts = _facts(draft, roles)
    controls = {
        "favourable": lambda fact: _label_value(draft, "favourable", "Good for the person"),
        "positive": lambda fact: _label_value(draft, "positive", "The score predicts"),
        "groups": lambda fact: _groups(draft),
    }
    for kind in ("contradiction", "inverted_predictions", "reversed_score"):
        controls[kind] = controls["positive"]
    gate = Gate(draft.mark, facts, roles, draft.write, controls)
    gate.draw(foot=partial(_apply, draft, gate))
    panels.kept_problem("roles_problem")
    _head(draft)
    _rows(
        draft, {column for fact in facts for column in fact.columns}, keep=roles.missing == "keep"
    )
    return gate


def _facts(draft: Draft, roles: Roles) -> tuple[Fact, ...]:
    """Return what is measured and asked of the table; of a model file that was asked something else, settings alone."""
    input_facts: tuple[Fact, ...] = cached.once(
        check_input, draft.table, roles, guesses=draft.guesses(roles), settings=True
    )
    facts = [_with_reason(draft, roles, fact) for fact in input_facts]
    model = cached.own_model(draft.table.name)
    if model is not None and not model.fits(roles):  # which `_use` refuses
        return tuple(fact for fact in facts if fact.kind in ("favourable", "positive", "groups"))
    too_many = any(fact.kind == "too_many_values" for fact in facts)
    if not too_many:
        facts += _sets_missing(draft, roles)
        facts += [_size_fact(problem) for problem in _sizes(draft, roles)]
        facts += _gone(draft, roles)
    # One click changes what is good for the person; the slow cautions do not hang on it.
    facts += cached.once(cautions, draft.table, replace(roles, favourable=""))
    return tuple(facts)


def _with_reason(draft: Draft, roles: Roles, fact: Fact) -> Fact:
    """Return a fact with the reason of the guess that it is about."""
    reason = ""
    if fact.kind == "groups" and draft.column_of("sensitive") and not draft.column_of("crossed"):
        reason = GroupChoice(draft).reason
    elif fact.kind == "positive" and draft.table.uploaded:
        guess = draft.suggestion(label=roles.label)
        if roles.positive == guess.roles.positive:
            reason = draft.reason(guess.reasons.get("positive"))
    elif fact.kind in ("label_missing", "attribute_missing") and draft.guess is not None:
        role = fact.key.removeprefix("data.")
        missing = draft.guess.reasons.get(role, "")
        reason = f"Not guessed: {missing}." * bool(missing)
        reason += f" The role {COLUMN_ROLES[role]} can be given in the table below."
    return replace(fact, more=f"{fact.more} {reason}".strip())


def _size_fact(problem: SizeProblem) -> Fact:
    """Return why the people are too few, as a fact."""
    return Fact(
        kind="too_few_people",
        severity=Severity.CAUTION,
        point=problem.reason,
        more=problem.remedy,
    )


def _head(draft: Draft) -> None:
    """Write the heading, and for a text file whether its first line holds the names."""
    file = st.session_state.get("upload")
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        if draft.before:
            start = "As in your table before it, which has the same columns. "
        else:
            start = ""
        shell.whisper("Column roles", f"{start}{_press(draft)}")
        if (
            draft.current is None
            and file is not None
            and not file.name.endswith((".parquet", ".pq"))
        ):
            lines = {"names": "Row 1: names", "data": "Row 1: data"}
            panels.pick(
                "First line of the file",
                lines,
                key=f"header_{file.file_id}",
                default="names",
                **_READ_AGAIN,
            )


def _press(draft: Draft) -> str:
    """Return what stands under the heading: what the roles have to do with the card and its button."""
    if draft.current:
        return "Nothing changes until you press *Apply roles*"
    return "A repair above changes the role here"


def _rows(draft: Draft, mentioned: Set[str], *, keep: bool) -> None:
    """Draw a row for each column, its role in a select box.

    Columns with a role or a note come first, and those that the card mentions; then the other features.
    """
    reasons = {
        column.name: reason_of(column, draft.assigned[column.name], draft.guess, keep=keep)
        for column in draft.columns
    }
    plain = [
        column
        for column in draft.columns
        if draft.assigned[column.name] == FEATURE
        and not reasons[column.name]
        and column.name not in mentioned
    ]
    if len(plain) < _FOLDED:
        plain = []
    with st.container(key="column_roles"):
        heads = st.container(key="column_heads")
        cells, role, why = heads.columns(_ROW, vertical_alignment="center", gap="small")
        cells.html(_cells("Column", "Type", "First values", "Missing", head=True))
        role.html('<div class="fl-why">Role</div>')
        why.html('<div class="fl-why">Why</div>')
        for column in draft.columns:
            if column not in plain:
                _row(draft, column, reasons[column.name])
    if plain:
        with (
            st.expander(f"{len(plain)} more features", icon=":material/table_rows:"),
            st.container(key="column_roles_more"),
        ):
            for column in plain:
                _row(draft, column, reasons[column.name])


def _row(draft: Draft, column: ColumnSummary, reason: str) -> None:
    cells, role, why = st.columns(_ROW, vertical_alignment="center", gap="small")
    share = column.missing / max(1, len(draft.table.frame))
    if 0 < share < 0.005:
        missing = "<1%"
    else:
        missing = percent(share, decimals=0)
    cells.html(_cells(column.name, column.kind, ", ".join(column.first), missing))
    role.selectbox(
        f"Role of {shell.escape(column.name)}",
        column.possible_roles(with_outputs=draft.table.uploaded),
        format_func=COLUMN_ROLES.__getitem__,
        key=draft.keys[column.name],
        label_visibility="collapsed",
        on_change=_clear_previous_role,
        args=(tuple(draft.keys.values()), draft.keys[column.name]),
        persist_state="session",
    )
    why.html(f'<div class="fl-why">{html.escape(reason)}</div>')


def _cells(name: str, *texts: str, head: bool = False) -> str:
    if head:
        first = f"<span>{html.escape(name)}</span>"
    else:
        first = f"<strong>{html.escape(name).replace('_', '_<wbr>')}</strong>"
    rest = "".join(
        f'<span title="{html.escape(text)}">{html.escape(text)}</span>' for text in texts
    )
    return f'<div class="fl-column{" fl-why" * head}">{first}{rest}</div>'


def _clear_previous_role(keys: Sequence[str], chosen: str) -> None:
    """Make the column that had a role before a feature, where only one can have it."""
    role = st.session_state.get(chosen)
    if role in (None, FEATURE, LEFT_OUT):
        return  # a browser may send the change of a form whose draft is gone: its roles were applied
    for key in keys:
        if key != chosen and st.session_state.get(key) == role:
            st.session_state[key] = FEATURE


def _label_value(draft: Draft, role: str, title: str) -> None:
    """Choose the value of the label that is favourable, or that scores predict; side by side where they are few."""
    label = draft.column_of("label")
    values = values_of(draft.table.frame, label)
    preset = draft.preset_value(role, label)
    arguments: dict[str, Any] = {
        "key": draft.key(role, label),
        "label_visibility": "collapsed",
        "persist_state": "session",
    }
    start = preset if preset in values else None
    if len(values) <= _SIDE_BY_SIDE and max(map(len, values), default=0) <= _SHORT:
        st.segmented_control(
            title, values, default=start, required=True, format_func=shell.escape, **arguments
        )
    else:
        index = None if start is None else values.index(start)
        st.selectbox(title, values, index=index, placeholder="choose", width=200, **arguments)


def _attribute(draft: Draft) -> None:
    """Choose which column is the audited attribute; the one before is a feature then."""
    sensitive = draft.column_of("sensitive")
    features = [
        column.name
        for column in draft.columns
        if draft.assigned[column.name] == FEATURE
        and not column.set_aside
        and "sensitive" in column.possible_roles(with_outputs=draft.table.uploaded)
    ]
    key = draft.key("attribute", sensitive)

    def choose() -> None:
        chosen = st.session_state.get(key)
        if chosen is None:
            return  # a browser may send the change of a form whose draft is gone
        st.session_state[draft.keys[sensitive]] = FEATURE
        st.session_state[draft.keys[chosen]] = "sensitive"

    st.selectbox(
        "Audited attribute",
        (sensitive, *features),
        key=key,
        format_func=shell.escape,
        on_change=choose,
        persist_state=None,
    )


def _groups(draft: Draft) -> None:
    """Choose the audited attribute, how it splits people, and what becomes of records with gaps."""
    with st.popover("Change", key="groups_change"):
        _attribute(draft)
        if second := draft.column_of("crossed"):
            pair = shell.escape(f"{draft.column_of('sensitive')} and {second}")
            st.caption(
                f"A group for each pair of values of {pair}. Each needs {MINIMUM_PER_GROUP} people; "
                "neither column is a feature."
            )
        else:
            _groups_of_column(draft, GroupChoice(draft))
        if draft.asks_threshold:
            arguments: dict[str, Any] = {"value": draft.preset.threshold, "help": None}
            control(params(ModelPlan)["threshold"], draft.key("threshold"), **arguments)
        panels.pick(
            "Records with a missing feature",
            ["keep", "drop"],
            key=draft.key("missing"),
            default=draft.preset.missing,
            help="Kept: numbers get the column's median over all records, categories a value of their own.",
        )


def _groups_of_column(draft: Draft, choice: GroupChoice) -> None:
    """Choose the groups of one column."""
    panels.pick(
        "Groups",
        {"two": "two groups", choice.many: _WAYS[choice.many]},
        key=draft.key("way", choice.sensitive),
        default=choice.way,
        help=f"Up to {MOST_GROUPS} groups. Values of fewer than 30 people are taken together if they are 30 in all.",
    )
    if choice.way == "each":
        return
    if choice.way == "ranges":
        st.number_input(
            "Number of ranges, each with about as many people",
            min_value=3,
            max_value=10,
            value=choice.pieces,
            key=draft.key("pieces", choice.sensitive),
            persist_state="session",
        )
    elif choice.limit is not None:
        st.number_input(
            "Group 1: values up to",
            value=choice.limit,
            key=draft.key("limit", choice.sensitive),
            persist_state="session",
            help="Preset: the lowest quarter. Everybody else is group 2.",
        )
    else:
        st.multiselect(
            "Group 1 (values)",
            choice.options,
            default=choice.preset_group,
            key=draft.key("group", choice.sensitive),
            persist_state="session",
            help="Everybody else is group 2.",
        )


def _sizes(draft: Draft, roles: Roles) -> tuple[SizeProblem, ...]:
    """Return why the people of a table that waits are too few, for an audit with the settings of the sidebar."""
    if draft.current is not None or not (roles.label and roles.positive and roles.sensitive):
        return ()
    method = state.setting("method")
    train_share = state.setting("train_share")
    if roles.gives_predictions:
        method = GIVEN_PREDICTIONS
    if roles.gives_predictions or roles.sets:
        train_share = state.default("train_share")
    config = AuditConfig(
        dataset=draft.table.name,
        method=method,
        metric=state.setting("metric"),
        train_share=float(train_share),
        seed=int(state.setting("seed")),
    )
    same = replace(roles, favourable="", confirmed=())  # the sizes do not depend on them
    policy = cached.policy_that_fits(replace(config, roles=same))
    problems: tuple[SizeProblem, ...] = cached.once(sizes_of, draft.table, same, config, policy)
    return problems


def _sets_missing(draft: Draft, roles: Roles) -> tuple[Fact, ...]:
    """Return that no column says who trained the model, of a table that waits and brings its answers."""
    if draft.current is not None or cached.own_model(draft.table.name) is not None:
        return ()
    config = AuditConfig(dataset=draft.table.name, method=GIVEN_PREDICTIONS, roles=roles)
    return sets_missing(draft.table, roles, cached.policy_that_fits(config))


def sizes_of(
    frame: pandas.DataFrame, roles: Roles, config: AuditConfig, policy: Policy
) -> tuple[SizeProblem, ...]:
    """Return why the people of a table are too few for a policy; none where the roles break a rule."""
    try:
        return size_problems(counted(frame, roles), config, policy)
    except InputError:
        return ()


def _gone(draft: Draft, roles: Roles) -> list[Fact]:
    """Return, as a fact, the values of group 1 in the table before that this one does not have."""
    before = draft.preset
    if not draft.before or not roles.group or roles.sensitive != before.sensitive:
        return []
    present = values_of(draft.table.frame, roles.sensitive)
    gone = [quoted(value) for value in before.group if value not in present]
    if not gone:
        return []
    point = f"Not in this table: {', '.join(gone)}."
    more = "Group 1 had it before; check its values."
    return [Fact(kind="gone", severity=Severity.CAUTION, point=point, more=more)]


def _apply(draft: Draft, gate: Gate) -> None:
    """Say what is missing or what an audit would use, and offer to apply the roles."""
    roles = gate.roles
    missing = gate.missing
    if missing:
        st.caption(f"Missing: {shell.escape(', '.join(missing))}.", width="stretch")
    else:
        features = usable_features(draft.columns, draft.assigned)
        records = _records(draft.table.frame, roles, features)
        text = f"The audit will use {records}, {count(len(features))} features."
        st.caption(f"{text}{_unanswered(draft.table.frame, roles)}", width="stretch")
    title = "Apply roles" if draft.current else "Confirm and audit"
    icon = None if draft.current else ":material/arrow_forward:"
    arguments: dict[str, Any] = {"icon": icon, "icon_position": "right", "type": "primary"}
    if not st.button(title, key="use_roles", disabled=bool(missing), **arguments):
        return
    with panels.keeping_problem("roles_problem"):
        _use(draft, roles)
        drafted = [str(key) for key in st.session_state if draft.mark in str(key)]
        panels.forget(*drafted)  # the roles it began with may come back
        if draft.current is None:
            st.switch_page("pages/report.py", query_params={})
        st.rerun()


def _use(draft: Draft, roles: Roles) -> None:
    """Make the roles those of the audited table; raises `InputError` where they break a rule."""
    name = draft.table.name
    if (model := cached.own_model(name)) is not None and not model.fits(roles):
        raise InputError(
            f"{model.plan.file} was asked for {quoted(model.roles.positive)} of {quoted(model.roles.label)}, got "
            f"{quoted(roles.positive)} of {quoted(roles.label)}; take its answers out and upload it again."
        )
    if name == state.PENDING:
        cached.adopt(draft.table, roles)
        panels.forget("preset_roles")
        state.forget_roles(state.UPLOAD)
        st.session_state["upload_applied"] = st.session_state.get("upload_read")
        name = state.UPLOAD
        state.choose("dataset", name)
    else:
        cached.built(draft.table, roles)
    state.keep_roles(name, roles)


def _unanswered(frame: pandas.DataFrame, roles: Roles) -> str:
    """Return in how many records the model gives no answer, as a sentence; "" where it always does."""
    answers = [name for name in (roles.prediction, roles.score) if name]
    missing = int(frame[answers].isna().any(axis=1).sum())
    if not missing:
        return ""
    return f" In {count(missing)} the model gives no answer."


def _records(frame: pandas.DataFrame, roles: Roles, features: Sequence[str]) -> str:
    sensitive = crossed_columns(frame, roles.sensitive) or (roles.sensitive,)
    needed = [roles.label, *sensitive, roles.sets]  # who has no answer of the model is audited too
    if roles.missing == "drop":
        needed += features
    is_present = frame[[name for name in needed if name]].notna()
    complete = is_present.all(axis=1)
    n_complete = int(complete.sum())
    all_of = len(frame)
    if roles.person:
        person = frame.loc[complete, roles.person]
        n_people = person.nunique() + int(person.isna().sum())
        return f"{count(n_people)} of {count(all_of)} records, one a person"
    if n_complete == all_of:
        return f"{count(n_complete)} records"
    gaps = (~is_present).sum()
    most = f"{shell.escape(str(gaps.idxmax()))} is empty in {count(int(gaps.max()))}"
    return f"{count(n_complete)} of {count(all_of)} records ({most})"
