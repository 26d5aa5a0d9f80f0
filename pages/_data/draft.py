"""The drafted column roles of a table: what the form's controls hold, as roles, and how roles are put into them.

The roles are read from the session's state, so that they are known before any control is drawn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.base.serialize import fingerprint
from core.datasets import role_suggestion
from core.datasets.columns import as_text, crossed_columns
from core.datasets.dataset import Table
from core.datasets.role_suggestion import Suggestion, suggested_group, suggested_limit
from core.datasets.roles import (
    FEATURE,
    ColumnSummary,
    Roles,
    assign_roles,
    role_of,
    summarise_columns,
)
from pages.shell import cached, state

if TYPE_CHECKING:
    import pandas

MOST_VALUES = 50
"""Most values of a column on offer for a group."""

_RANGES = (3, 10)
"""Fewest and most ranges that a number is cut into."""


class Draft:
    """The form of a table's column roles.

    It starts with the roles in use, or those guessed for a table that has none; `preset` are these, `before` those of
    a table before it with the same columns, and `assigned` is the role of each column on the form.
    """

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

    def choice(self, name: str, column: str, default: Any) -> Any:
        """Return what a control holds, before it is drawn."""
        value = st.session_state.get(self.key(name, column))
        if value is None:
            return default
        return value

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

    def guesses(self, roles: Roles) -> tuple[str, ...]:
        """Return the roles to be confirmed: guesses that nobody has changed."""
        guess = self.guess
        if guess is None or self.before is not None:
            return ()
        return tuple(
            role for role in guess.questions if getattr(roles, role) == getattr(guess.roles, role)
        )

    # The roles -----------------------------------------------------------------------------------

    @property
    def roles(self) -> Roles:
        """The roles that the form holds."""
        label = self.column_of("label")
        sensitive = self.column_of("sensitive")
        chosen: dict[str, Any] = {"positive": "", "favourable": ""}
        if label:
            chosen["favourable"] = self.value("favourable", label)
            chosen["positive"] = self.value("positive", label)
        if sensitive and not self.column_of("crossed"):
            chosen |= GroupChoice(self).fields
        if self.asks_threshold:
            chosen["threshold"] = float(self.choice("threshold", "", self.preset.threshold))
        chosen["prediction_positive"] = self._prediction_positive(label, str(chosen["positive"]))
        chosen["training_value"] = self._training_value()
        chosen["missing"] = self.choice("missing", "", self.preset.missing)
        chosen["confirmed"] = self.choice("confirmed", "", self.preset.confirmed)
        roles = assign_roles(Roles(label=label, sensitive=sensitive, **chosen), self.assigned)
        current = self.current
        if current is None or current.sensitive != roles.sensitive:
            return roles
        names: dict[str, Any] = {"attribute_name": current.attribute_name}
        ways = ("group", "at_most", "each", "cuts")
        if all(getattr(current, way) == getattr(roles, way) for way in ways):  # the same groups
            names |= {"first_name": current.first_name, "other_name": current.other_name}
        return replace(roles, **names)

    @property
    def asks_threshold(self) -> bool:
        """Whether predictions are made of scores."""
        return bool(self.column_of("score")) and not self.column_of("prediction")

    def value(self, role: str, label: str) -> str:
        """Return the label's value that is favourable or positive on the form; "" while none is chosen."""
        values = values_of(self.table.frame, label)
        value = self.choice(role, label, self.preset_value(role, label))
        if value in values:
            return str(value)
        return ""

    def preset_value(self, role: str, label: str) -> str:
        """Return with which value of the label a control starts; which is favourable is never guessed."""
        answers = {name: self.column_of(name) for name in ("prediction", "score")}
        guessed_answers = {name: getattr(self.preset, name) for name in answers}
        is_guess = self.guess is not None and self.preset == self.guess.roles
        if role == "positive" and is_guess and any(answers.values()) and answers != guessed_answers:
            suggested = role_suggestion.suggested_positive
            return str(cached.once(suggested, self.table, label=label, **answers))
        if self.preset.label == label:
            return str(getattr(self.preset, role))
        if role == "positive" and self.table.uploaded:
            return self.suggestion(label=label).roles.positive
        return ""

    def _prediction_positive(self, label: str, positive: str) -> str:
        """Return the prediction's value that stands for the positive label; "" while nobody has said it."""
        prediction = self.column_of("prediction")
        if not prediction:
            return ""
        preset = self.preset
        same = (preset.prediction, preset.label, preset.positive) == (prediction, label, positive)
        default = preset.prediction_positive * same
        return str(self.choice("means", f"{prediction}_{label}_{positive}", default))

    def _training_value(self) -> str:
        """Return the value of the column of sets that means training; "" where its values say it themselves."""
        sets = self.column_of("sets")
        default = self.preset.training_value * (self.preset.sets == sets)
        return str(self.choice("trained", sets, default))

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
        means = f"{roles.prediction}_{roles.label}_{roles.positive}"
        st.session_state[self.key("means", means)] = roles.prediction_positive
        st.session_state[self.key("trained", roles.sets)] = roles.training_value
        st.session_state[self.key("positive", roles.label)] = roles.positive or None
        st.session_state[self.key("favourable", roles.label)] = roles.favourable or None
        if roles.group:
            st.session_state[self.key("way", sensitive)] = "two"
            st.session_state[self.key("group", sensitive)] = list(roles.group)


class GroupChoice:
    """How the form splits people by the sensitive column: its ways, what it starts with, and the fields of `Roles`.

    `limit` is where a column of numbers is cut in two, None where values make the groups; `many` is the other way.
    """

    def __init__(self, draft: Draft) -> None:
        frame = draft.table.frame
        sensitive = draft.column_of("sensitive")
        same = draft.preset if draft.preset.sensitive == sensitive else None
        guess = None
        if draft.table.uploaded:
            guess = draft.suggestion(label=draft.column_of("label"), attribute=sensitive)
        preset = same
        if guess and not same:
            preset = guess.roles
        self.sensitive = sensitive
        self.limit = suggested_limit(frame[sensitive])
        self.many = "each" if self.limit is None else "ranges"
        way = self.many if preset and (preset.each or preset.cuts) else "two"
        self.way = draft.choice("way", sensitive, way)
        if self.way not in ("two", self.many):
            self.way = "two"
        pieces = 4
        if same and _RANGES[0] <= len(same.cuts) + 1 <= _RANGES[1]:
            pieces = len(same.cuts) + 1
        self.pieces = int(draft.choice("pieces", sensitive, pieces))
        if self.limit is not None:
            if same and same.at_most is not None:
                self.limit = float(same.at_most)
            self.limit = float(draft.choice("limit", sensitive, self.limit))
        self.options, self.preset_group = _group_options(frame, sensitive, same)
        self.fields: dict[str, Any]
        if self.way == "each":
            self.fields = {"each": True}
        elif self.way == "ranges":
            self.fields = {"cuts": _cuts(frame, sensitive, same, self.pieces)}
        elif self.limit is not None:
            self.fields = {"at_most": self.limit}
        else:
            self.fields = {"group": tuple(draft.choice("group", sensitive, self.preset_group))}
        self.reason = ""
        if guess and all(
            (getattr(guess.roles, role) or "") == (value or "")
            for role, value in self.fields.items()
        ):
            self.reason = draft.reason(guess.reasons.get("group"))


def _group_options(
    frame: pandas.DataFrame, sensitive: str, same: Roles | None
) -> tuple[list[str], list[str]]:
    """Return the values on offer for the first group, and those with which it starts."""
    first_group = same.group if same else ()
    options = values_of(frame, sensitive, MOST_VALUES)
    if first_group:
        present = set(as_text(frame[sensitive]).dropna().unique())
        options += [value for value in first_group if value in present and value not in options]
    preset = [value for value in first_group if value in options]
    if not preset:
        preset = [value for value in (suggested_group(frame[sensitive]),) if value in options]
    return options, preset


def _cuts(
    frame: pandas.DataFrame, sensitive: str, same: Roles | None, pieces: int
) -> tuple[float, ...]:
    """Return the limits of so many ranges of a number, each with about as many people."""
    if same and len(same.cuts) + 1 == pieces:
        return same.cuts
    shares = [i / pieces for i in range(1, pieces)]
    quantiles = frame[sensitive].dropna().quantile(shares, interpolation="lower")
    return tuple(sorted({float(cut) for cut in quantiles}))


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


def values_of(frame: pandas.DataFrame, column: str, most: int | None = None) -> list[str]:
    """Return a column's values, the most frequent first, or so many of them."""
    return [str(value) for value in as_text(frame[column]).value_counts().index[:most]]
