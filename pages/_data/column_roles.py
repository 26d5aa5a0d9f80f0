"""The form of the column roles: what to check, one row for each column, and beside them values and groups."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.auditing.policy import default_policy, predictions_policy
from core.auditing.sizes import SizeProblem, counted, size_problems
from core.base.errors import InputError
from core.base.serialize import fingerprint
from core.base.settings import params
from core.datasets import cautions, role_suggestion
from core.datasets.checked_table import Fact, Severity
from core.datasets.columns import as_text, crossed_columns, quoted
from core.datasets.dataset import Table
from core.datasets.input_check import check_input
from core.datasets.role_suggestion import Suggestion, reason_of, suggested_group, suggested_limit
from core.datasets.roles import (
    COLUMN_ROLES,
    FEATURE,
    LEFT_OUT,
    MINIMUM_PER_GROUP,
    MOST_GROUPS,
    ColumnSummary,
    Roles,
    assign_roles,
    role_of,
    summarise_columns,
    usable_features,
)
from core.models import GIVEN_PREDICTIONS
from core.stats.estimates import count, percent
from core.studies.subject import AuditConfig
from pages.shell import cached, panels, shell, state
from pages.shell.controls import control
from pages.shell.upload import SETTINGS, Gate, line, line_text, sentences

if TYPE_CHECKING:
    import pandas

_MOST_VALUES = 50
"""Most values of a column on offer for a group."""

_SIDE_BY_SIDE = 3
_SHORT = 16
"""Most values of a label that stand side by side, and the letters each may have."""

_TALL = 16
"""Rows from which on the form scrolls in its own box."""

_STYLE = """<style>
.st-key-column_roles {gap: 0}
.st-key-column_roles [data-testid=stHorizontalBlock] {border-bottom: 1px solid var(--fl-line); padding: 2px 0}
.st-key-column_roles [data-baseweb=select] > div, .st-key-column_roles [data-testid=stSelectbox] > div > div
  {min-height: 30px; height: 30px; padding-block: 0}
.st-key-column_roles [data-testid=stElementContainer] {line-height: 1.25}
.fl-column {display: grid; grid-template-columns: minmax(0, 1fr) 4rem 6.4rem 3.5rem; gap: .5rem; font-size: .9rem}
.fl-column > span {overflow: hidden; text-overflow: ellipsis; white-space: nowrap}
.fl-column > strong {min-width: 0; overflow-wrap: break-word; hyphens: auto}
.fl-column > span:last-child {text-align: right; font-variant-numeric: tabular-nums}
.fl-column > :nth-child(2), .fl-why {color: var(--fl-grey)}
.fl-why {font-size: .85rem}
.st-key-values {gap: .4rem}
.st-key-values h3 {padding: 0 0 1rem}
@media (max-width: 900px) {
.st-key-roles_and_values > div > [data-testid=stHorizontalBlock] {flex-wrap: wrap}
.st-key-roles_and_values > div > [data-testid=stHorizontalBlock] > [data-testid=stColumn] {min-width: 100%}
}
@media (max-width: 760px) {
.st-key-column_heads [data-testid=stColumn]:not(:first-child) {display: none}
.st-key-column_roles [data-testid=stHorizontalBlock] {row-gap: .25rem}
.fl-column {grid-template-columns: minmax(0, 1fr) 4rem 5.4rem 3.5rem}
}
.st-key-values [data-testid=stCaptionContainer], .st-key-values [data-testid=stCaptionContainer] p {margin: 0}
</style>"""

_ROW = [12, 5, 6]
"""Widths of a row: what the column holds, its role, the reason."""

_READ_AGAIN: dict[str, Any] = {
    "label_visibility": "collapsed",
    "on_change": panels.forget,
    "args": ("upload_read",),
    "persist_state": None,
}
"""Of a choice that changes how the file is read."""

Notice = tuple[str, str]
"""A point and more about it."""


@dataclass(frozen=True, slots=True)
class Form:
    """A table's column roles on the form, how many things to check, and whether they are those of the table before."""

    table: Table
    roles: Roles
    to_check: int
    before: bool


class _Draft:
    """The form's start: the roles in use, or those guessed for a table that has none; and what has been assigned."""

    def __init__(self, table: Table, current: Roles | None) -> None:
        self.table = table
        self.current = current
        self.columns: tuple[ColumnSummary, ...] = cached.once(summarise_columns, table)
        if current:
            self.guess = None
        else:
            self.guess = cached.once(role_suggestion.suggest_roles, table)
        stored = st.session_state.get("preset_roles")
        if stored and stored[0] == table.fingerprint:
            requested = stored[1]
        else:
            requested = None
        if current or requested:
            self.before = None
        else:
            self.before = _roles_before(table)
        preset = current or requested or self.before
        if preset is None and self.guess:
            preset = self.guess.roles
        assert preset is not None
        self.preset: Roles = preset
        self.mark = f"{table.fingerprint[:12]}_{fingerprint(self.preset)[:8]}"
        self.keys = {
            column.name: f"role_{self.mark}_{index}" for index, column in enumerate(self.columns)
        }
        self.assigned: dict[str, str] = {}
        crossed = crossed_columns(table.frame, self.preset.sensitive)
        for column in self.columns:
            role = self._possible(column, role_of(column.name, self.preset, crossed))
            self.assigned[column.name] = st.session_state.setdefault(self.keys[column.name], role)

    def _possible(self, column: ColumnSummary, role: str) -> str:
        """Return a role, or that of a feature where the column cannot have it."""
        if role in column.possible_roles(with_outputs=self.table.uploaded):
            return role
        return FEATURE

    def key(self, name: str, column: str = "") -> str:
        """Return the key of a choice of this draft, which may be about a column."""
        return "_".join(filter(None, (name, self.mark, column)))

    def write(self, roles: Roles) -> None:
        """Put roles into the form; called before its controls are drawn."""
        crossed = crossed_columns(self.table.frame, roles.sensitive)
        for column in self.columns:
            role = self._possible(column, role_of(column.name, roles, crossed))
            st.session_state[self.keys[column.name]] = role
        sensitive = crossed[0] if crossed else roles.sensitive
        st.session_state[self.key("confirmed")] = roles.confirmed
        st.session_state[self.key("missing")] = roles.missing
        st.session_state[self.key("threshold")] = roles.threshold
        st.session_state[self.key("positive", roles.label)] = roles.positive or None
        st.session_state[self.key("favourable", roles.label)] = roles.favourable or None
        if roles.group:
            st.session_state[self.key("way", sensitive)] = "two"
            st.session_state[self.key("group", sensitive)] = list(roles.group)

    def guesses(self, roles: Roles) -> tuple[str, ...]:
        """Return the roles to be confirmed: guesses that nobody has changed."""
        guess = self.guess
        if guess is None or self.before is not None:
            return ()
        return tuple(
            role for role in guess.questions if getattr(roles, role) == getattr(guess.roles, role)
        )

    @property
    def confirmed(self) -> tuple[str, ...]:
        """Facts that the user has confirmed."""
        names: tuple[str, ...] = st.session_state.get(self.key("confirmed"), self.preset.confirmed)
        return names

    def asks_positive(self, value: str) -> bool:
        """Whether it is a guess that a model's answers are about this value of the label."""
        guess = self.guess
        if guess is None or self.before is not None or "positive" in self.confirmed:
            return False
        answers = self.column_of("prediction") or self.column_of("score")
        return bool(answers) and "positive" in guess.questions and value == guess.roles.positive

    def column_of(self, role: str) -> str:
        """Return the column that has a role; "" if none has."""
        return next((name for name, has in self.assigned.items() if has == role), "")

    def suggestion(self, **columns: str) -> Suggestion:
        """Return what is guessed where some columns are known."""
        return cached.once(role_suggestion.suggest_roles, self.table, **columns)

    def reason(self, reason: str | None) -> str:
        """Return why a field holds its guess, as a sentence; nothing of roles in use."""
        if self.current is None and self.before is None and reason:
            return f"Guessed: {reason}."
        return ""


def _roles_before(table: Table) -> Roles | None:
    """Return the roles in use of the user's table before this one, if it has the same columns.

    What was confirmed of that table is not confirmed of this one.
    """
    model = cached.own_model()
    before: Table | None = model.source_table if model else cached.uploaded_data(state.UPLOAD)
    if before is None or list(before.frame.columns) != list(table.frame.columns):
        return None
    roles = state.chosen_roles(before)
    if roles is None:
        return None
    if model:
        roles = model.taken_out(roles)
    return replace(roles, confirmed=())


def draw(table: Table, current: Roles | None) -> Form:
    """Draw the form; its button applies the roles, and until then nothing changes."""
    st.html(_STYLE)
    draft = _Draft(table, current)
    gate = Gate.draw(draft.mark, draft.write)
    left, right = st.container(key="roles_and_values").columns([3, 1], gap="medium")
    with left:
        _head(draft)
        keep = st.session_state.get(draft.key("missing"), draft.preset.missing) == "keep"
        _rows(draft, keep=keep)
    with right, st.container(border=True, key="values"):
        st.markdown("### Values")
        roles = _values(draft, gate)
    with gate.places["head"], st.spinner("Checking the table"):
        facts = _facts(draft, roles)
    gate.fill(facts, roles)
    with gate.places["cautions"]:
        to_check = _cautions(draft, roles, facts)
    with gate.places["foot"]:
        _apply(draft, roles, facts)
    panels.kept_problem("roles_problem")
    to_check += sum(fact.severity != Severity.NOTE for fact in facts)
    return Form(table, roles, to_check, draft.before is not None)


def _facts(draft: _Draft, roles: Roles) -> tuple[Fact, ...]:
    """Return what the input check finds; nothing where a model file was asked something else, which `_use` refuses."""
    model = cached.own_model(draft.table.name)
    if model is not None and not model.fits(roles):
        return ()
    facts: tuple[Fact, ...] = cached.once(
        check_input, draft.table, roles, guesses=draft.guesses(roles)
    )
    return facts


def _head(draft: _Draft) -> None:
    """Write the heading, and for a text file whether its first line holds the names."""
    file = st.session_state.get("upload")
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        if draft.before:
            start = "As in your table before it, which has the same columns. "
        else:
            start = ""
        shell.whisper("Column roles", f"{start}Nothing changes until you press *Apply roles*")
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


def _rows(draft: _Draft, *, keep: bool) -> None:
    """Draw a row for each column, its role in a select box."""
    tall: dict[str, Any] = {"height": 620, "border": False} if len(draft.columns) > _TALL else {}
    with st.container(key="column_roles", **tall):
        heads = st.container(key="column_heads")
        cells, role, why = heads.columns(_ROW, vertical_alignment="center", gap="small")
        cells.html(_cells("Column", "Type", "First values", "Missing", head=True))
        role.html('<div class="fl-why">Role</div>')
        why.html('<div class="fl-why">Why</div>')
        for column in draft.columns:
            _row(draft, column, keep=keep)


def _row(draft: _Draft, column: ColumnSummary, *, keep: bool) -> None:
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
    reason = reason_of(column, draft.assigned[column.name], draft.guess, keep=keep)
    why.html(f'<div class="fl-why">{html.escape(reason)}</div>')


def _cells(name: str, *texts: str, head: bool = False) -> str:
    if head:
        first = f"<span>{html.escape(name)}</span>"
    else:
        first = f"<strong>{html.escape(name)}</strong>"
    rest = "".join(
        f'<span title="{html.escape(text)}">{html.escape(text)}</span>' for text in texts
    )
    return f'<div class="fl-column{" fl-why" * head}">{first}{rest}</div>'


def _clear_previous_role(keys: Sequence[str], chosen: str) -> None:
    """Make the column that had a role before a feature, where only one can have it."""
    role = st.session_state[chosen]
    if role in (FEATURE, LEFT_OUT):
        return
    for key in keys:
        if key != chosen and st.session_state.get(key) == role:
            st.session_state[key] = FEATURE


def _cautions(draft: _Draft, roles: Roles, facts: Sequence[Fact]) -> int:
    """Write what to check, each with its choice at the right; return how many things there are to check."""
    to_check = 0
    for role, title in (("label", "label"), ("sensitive", "sensitive attribute")):
        if not draft.column_of(role) and f"data.{role}" not in {fact.key for fact in facts}:
            if draft.guess is None:
                reason = ""
            else:
                reason = draft.guess.reasons.get(role, "")
            if reason:
                reason = f"Not guessed: {reason}."
            _notice(f"no_{role}", (f"Choose the {title}.", reason))
            to_check += 1
    for number, problem in enumerate(_sizes(draft, roles)):
        point, more = sentences(problem.reason)
        _notice(f"size_{number}", (point, f"{more} {problem.remedy}".strip()))
        to_check += problem.blocks
    if gone := ", ".join(map(quoted, _gone(draft, roles))):
        _notice("gone", (f"Not in this table: {gone}.", "Group 1 had it before; check its values."))
        to_check += 1
    # what the user leaves out is still looked at, so that the choice beside its caution stays
    excluded = tuple(name for name in draft.preset.excluded if name in roles.excluded)
    warnings = cached.once(cautions, draft.table, replace(roles, excluded=excluded))
    for number, caution in enumerate(warnings):
        with _notice(f"{draft.mark}_{number}", (caution.point, caution.more)):
            columns = [
                name for name in caution.columns if draft.assigned[name] in (FEATURE, LEFT_OUT)
            ]
            if columns:
                _keep_or_leave(draft, columns, number)
    return to_check + len(warnings)


def _sizes(draft: _Draft, roles: Roles) -> tuple[SizeProblem, ...]:
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
    problems: tuple[SizeProblem, ...] = cached.once(sizes_of, draft.table, same, config)
    return problems


def sizes_of(frame: pandas.DataFrame, roles: Roles, config: AuditConfig) -> tuple[SizeProblem, ...]:
    """Return why the people of a table are too few for FairLeak's own policy; none where the roles break a rule."""
    if config.method == GIVEN_PREDICTIONS:
        policy = predictions_policy()
    else:
        policy = default_policy()
    try:
        return size_problems(counted(frame, roles), config, policy)
    except InputError:
        return ()


def _gone(draft: _Draft, roles: Roles) -> list[str]:
    """Return the values of group 1 in the table before that this one does not have."""
    before = draft.preset
    if not draft.before or not roles.group or roles.sensitive != before.sensitive:
        return []
    values = values_of(draft.table.frame, roles.sensitive)
    return [value for value in before.group if value not in values]


def _notice(key: str, notice: Notice) -> Any:
    """Write something to check; return the place of its choice."""
    with line(f"s_ask_caution_{key}"):
        st.markdown(line_text("caution", *notice), width="stretch")
        return st.container(horizontal=True, width="content")


def _keep_or_leave(draft: _Draft, columns: Sequence[str], number: int) -> None:
    """Choose whether columns are features or left out; the same choice as in their rows."""
    keys = [draft.keys[name] for name in columns]
    now = {st.session_state[key] for key in keys}
    widget_key = f"keep_{draft.mark}_{number}"
    st.session_state[widget_key] = now.pop() if len(now) == 1 else None

    def assign() -> None:
        if st.session_state[widget_key]:
            for key in keys:
                st.session_state[key] = st.session_state[widget_key]

    st.segmented_control(
        f"Use of {shell.escape(', '.join(columns))}",
        [LEFT_OUT, FEATURE],
        format_func={LEFT_OUT: "Leave out", FEATURE: "Keep"}.__getitem__,
        key=widget_key,
        label_visibility="collapsed",
        on_change=assign,
    )


def _values(draft: _Draft, gate: Gate) -> Roles:
    """Ask for what the columns' roles need: two values of the label, the groups, a threshold, records with gaps."""
    current = draft.current
    label = draft.column_of("label")
    sensitive = draft.column_of("sensitive")
    chosen: dict[str, Any] = {"positive": "", "favourable": ""}
    if label:
        chosen["favourable"] = _favourable(draft, gate, label)
        chosen["positive"] = _positive(draft, gate, label)
    if second := draft.column_of("crossed"):
        st.caption(
            shell.escape(
                f"A group for each pair of values of {sensitive or 'the sensitive attribute'} and {second}. "
            )
            + f"Each needs {MINIMUM_PER_GROUP} people; neither column is a feature."
        )
    elif sensitive:
        chosen |= _groups(draft, label, sensitive)
    if draft.column_of("score") and not draft.column_of("prediction"):
        from core.auditing.plan import ModelPlan

        arguments: dict[str, Any] = {"value": draft.preset.threshold, "help": None}
        chosen["threshold"] = float(
            control(params(ModelPlan)["threshold"], draft.key("threshold"), **arguments)
        )
    chosen["missing"] = panels.pick(
        "Records with a missing feature",
        ["keep", "drop"],
        key=draft.key("missing"),
        default=draft.preset.missing,
        help="Kept: numbers get the column's median over all records, categories a value of their own.",
    )
    chosen["confirmed"] = draft.confirmed
    roles = assign_roles(Roles(label=label, sensitive=sensitive, **chosen), draft.assigned)
    names: dict[str, Any] = {}
    if current is not None and current.sensitive == roles.sensitive:
        names["attribute_name"] = current.attribute_name
        ways = chosen.keys() & {"group", "at_most", "each", "cuts"}
        if all(getattr(current, way) == chosen[way] for way in ways):  # the same groups
            names |= {"first_name": current.first_name, "other_name": current.other_name}
    return replace(roles, **names)


def _favourable(draft: _Draft, gate: Gate, label: str) -> str:
    """Ask which value of the label is good for the person, of which nothing is guessed."""
    values = values_of(draft.table.frame, label)
    if draft.preset.label == label:
        preset = draft.preset.favourable
    else:
        preset = ""
    key = draft.key("favourable", label)
    answered = st.session_state.get(key, preset) in values
    with gate.setting("favourable", answered=answered):
        value = _value("Good for the person", values, preset, key)
    if value:
        text = f"Good for the person: {label} = {value}."
    else:
        text = f"Good for the person: {label} = …"
    more = f"Values: {_shares(draft.table.frame, label, values)}. Fairness and the four-fifths ratio are counted on it."
    gate.say("favourable", answered=answered, text=f"{text} {more}")
    return value


def _positive(draft: _Draft, gate: Gate, label: str) -> str:
    """Ask which value of the label scores and predictions are about."""
    values = values_of(draft.table.frame, label)
    if draft.table.uploaded:
        guess = draft.suggestion(label=label)
    else:
        guess = None
    if draft.preset.label == label:
        preset = draft.preset.positive
    elif guess:
        preset = guess.roles.positive
    else:
        preset = ""
    key = draft.key("positive", label)
    start = st.session_state.get(key, preset)
    answered = start in values and not draft.asks_positive(start)
    with gate.setting("positive", answered=answered):
        value = _value("The score predicts", values, preset, key)
    subject = "A model is trained here to predict"
    if draft.column_of("prediction"):
        subject = f"{draft.column_of('prediction')} predicts"
    if draft.column_of("score"):
        subject = f"A higher {draft.column_of('score')} means"
    reason = ""
    if guess and value == guess.roles.positive:
        reason = draft.reason(guess.reasons.get("positive"))
    shown_value = f"{value}." if value else "…"
    gate.say(
        "positive",
        answered=answered,
        text=f"{subject} {label} = {shown_value}",
        more=reason,
    )
    return value


def _value(title: str, values: Sequence[str], preset: str, key: str, **more: Any) -> str:
    """Draw the choice of a value of the label, side by side where they are few; "" while none is chosen."""
    arguments: dict[str, Any] = {
        "key": key,
        "label_visibility": "collapsed",
        "persist_state": "session",
        **more,
    }
    start = preset if preset in values else None
    if len(values) <= _SIDE_BY_SIDE and max(map(len, values), default=0) <= _SHORT:
        value = st.segmented_control(
            title, values, default=start, required=True, format_func=shell.escape, **arguments
        )
    else:
        index = None if start is None else values.index(start)
        value = st.selectbox(title, values, index=index, placeholder="choose", **arguments)
    return value or ""


def _shares(frame: pandas.DataFrame, label: str, values: Sequence[str]) -> str:
    """Return the most frequent values of a label with their records: "yes (817), no (783)"."""
    sizes = as_text(frame[label]).value_counts()
    listed = [f"{value} ({count(int(sizes[value]))})" for value in values[:_SIDE_BY_SIDE]]
    more = len(values) - len(listed)
    if more:
        listed.append(f"{more} more")
    return ", ".join(listed)


def _groups(draft: _Draft, label: str, sensitive: str) -> dict[str, Any]:
    """Ask how the sensitive column splits people into groups; returns the fields of `Roles` that say so."""
    frame = draft.table.frame
    mark = draft.mark
    if draft.preset.sensitive == sensitive:
        same = draft.preset
    else:
        same = None
    if draft.table.uploaded:
        guess = draft.suggestion(label=label, attribute=sensitive)
    else:
        guess = None
    preset = same
    if guess and not same:
        preset = guess.roles
    limit = suggested_limit(frame[sensitive])
    many, many_label = ("each", "each value") if limit is None else ("ranges", "ranges")
    first_way = many if preset and (preset.each or preset.cuts) else "two"
    way = panels.pick(
        "Groups",
        {"two": "two groups", many: many_label},
        key=f"way_{mark}_{sensitive}",
        default=first_way,
        help=f"Up to {MOST_GROUPS} groups. Values of fewer than 30 people are taken together if they are 30 in all.",
    )
    groups: dict[str, Any]
    if way == "each":
        groups = {"each": True}
    elif way == "ranges":
        groups = {"cuts": _cuts(frame, sensitive, same, mark)}
    elif limit is not None:
        if same and same.at_most is not None:
            limit = float(same.at_most)
        groups = {
            "at_most": st.number_input(
                "Group 1: values up to",
                value=limit,
                key=f"limit_{mark}_{sensitive}",
                persist_state="session",
                help="Preset: the lowest quarter. Everybody else is group 2.",
            )
        }
    else:
        groups = {"group": _group(frame, sensitive, same, mark)}
    if guess and all(
        (getattr(guess.roles, role) or "") == (value or "") for role, value in groups.items()
    ):
        panels.notes(draft.reason(guess.reasons.get("group")))
    return groups


def _group(
    frame: pandas.DataFrame, sensitive: str, same: Roles | None, mark: str
) -> tuple[str, ...]:
    """Ask for the values of the first group."""
    first_group = same.group if same else ()
    options = values_of(frame, sensitive, _MOST_VALUES)
    if first_group:
        present = set(as_text(frame[sensitive]).dropna().unique())
    else:
        present = set()
    options += [value for value in first_group if value in present and value not in options]
    preset = [value for value in first_group if value in options]
    return tuple(
        st.multiselect(
            "Group 1 (values)",
            options,
            default=preset
            or [value for value in (suggested_group(frame[sensitive]),) if value in options],
            key=f"group_{mark}_{sensitive}",
            persist_state="session",
            help="Everybody else is group 2.",
        )
    )


def _cuts(
    frame: pandas.DataFrame, sensitive: str, same: Roles | None, mark: str
) -> tuple[float, ...]:
    """Ask into how many ranges a number is cut, each with about as many people."""
    first_pieces = 4
    if same and 3 <= len(same.cuts) + 1 <= 10:
        first_pieces = len(same.cuts) + 1
    pieces = st.number_input(
        "Number of ranges, each with about as many people",
        min_value=3,
        max_value=10,
        value=first_pieces,
        key=f"pieces_{mark}_{sensitive}",
        persist_state="session",
    )
    if same and len(same.cuts) + 1 == pieces:
        return same.cuts
    shares = [i / pieces for i in range(1, pieces)]
    return tuple(
        sorted(
            {
                float(cut)
                for cut in frame[sensitive].dropna().quantile(shares, interpolation="lower")
            }
        )
    )


def values_of(frame: pandas.DataFrame, column: str, most: int | None = None) -> list[str]:
    """Return a column's values, the most frequent first, or so many of them."""
    return [str(value) for value in as_text(frame[column]).value_counts().index[:most]]


def _apply(draft: _Draft, roles: Roles, facts: Sequence[Fact]) -> None:
    """Say what is missing or what an audit would use, and offer to apply the roles."""
    missing = _missing(roles, facts)
    if missing:
        st.caption(f"Missing: {', '.join(missing)}.", width="stretch")
    else:
        features = usable_features(draft.columns, draft.assigned)
        records = _records(draft.table.frame, roles, features)
        st.caption(
            f"The audit will use {records}, {count(len(features))} features.", width="stretch"
        )
    if not st.button("Apply roles", key="use_roles", type="primary", disabled=bool(missing)):
        return
    with panels.keeping_problem("roles_problem"):
        _use(draft, roles)
        drafted = [str(key) for key in st.session_state if draft.mark in str(key)]
        panels.forget(*drafted)  # the roles it began with may come back
        st.rerun()


def _missing(roles: Roles, facts: Sequence[Fact]) -> list[str]:
    """Return what must be answered before the roles can be applied."""
    needs = {
        "a label": roles.label,
        "what the score predicts": roles.positive,
        "a sensitive attribute": roles.sensitive,
        "which outcome is good for the person": roles.favourable,
    }
    missing = [need for need, value in needs.items() if not value]
    blocking = [
        fact for fact in facts if fact.severity == Severity.BLOCKING and fact.kind not in SETTINGS
    ]
    if blocking:
        missing.append(f"repairs ({len(blocking)})")
    return missing


def _use(draft: _Draft, roles: Roles) -> None:
    """Make the roles those of the audited table; raises `InputError` where they break a rule."""
    name = draft.table.name
    if (model := cached.own_model(name)) is not None and not model.fits(roles):
        raise InputError(
            f"{model.plan.file} was asked for {quoted(model.positive)} of {quoted(model.label)}, got "
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


def _records(frame: pandas.DataFrame, roles: Roles, features: Sequence[str]) -> str:
    sensitive = crossed_columns(frame, roles.sensitive) or (roles.sensitive,)
    needed = [roles.label, *sensitive, roles.prediction or roles.score, roles.sets]
    if roles.missing == "drop":
        needed += features
    is_present = frame[[name for name in needed if name]].notna()
    n_complete = int(is_present.all(axis=1).sum())
    all_of = len(frame)
    if n_complete == all_of:
        return f"{count(n_complete)} records"
    gaps = (~is_present).sum()
    most = f"{shell.escape(str(gaps.idxmax()))} is empty in {count(int(gaps.max()))}"
    return f"{count(n_complete)} of {count(all_of)} records ({most})"
