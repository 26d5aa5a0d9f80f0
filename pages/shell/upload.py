"""Bringing one's own table or model: the upload boxes, what becomes of the files, and the gate of a table.

A file is read from memory, kept in the session and nowhere else. A table waits for its column roles before it is
audited; a file that breaks a rule is answered in one sentence. What was audited before stays as it was.

The gate is what the input check measures and asks of a table, a line each, with its repairs as buttons. A repair
changes the drafted roles, and nothing else: the table stays as it is. What was repaired or confirmed stays as a green
line with *Undo* until the roles are applied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.base.settings import params
from core.base.untrusted import warm_up
from core.datasets.build import build_dataset
from core.datasets.checked_table import Fact, Repair, Severity
from core.datasets.dataset import Table
from core.datasets.read_table import read_table
from core.datasets.roles import Roles
from pages.shell import cached, panels, shell, state
from pages.shell.cached import OwnModel
from pages.shell.controls import control

if TYPE_CHECKING:
    from core.models.model_files import ModelFile

LOST_ON_RELOAD = "Stays in memory: gone when you reload or close the page."
"""What stands beside an upload box."""


def pending() -> Table | None:
    """Return the table that waits for its column roles, if there is one."""
    table: Table | None = cached.uploaded_data(state.PENDING)
    return table


def box() -> None:
    """Draw the upload box, read what comes, and say what is wrong with it."""
    warm_up()
    gone = all(cached.uploaded_data(name) is None for name in (state.UPLOAD, state.PENDING))
    panels.upload(
        "Your own table (CSV or Parquet, up to 200 MB)",
        "upload",
        _read,
        doing="Reading your table",
        again=gone,
        help="Kept in this session's memory only: never written to disk, and freed ten minutes after the page is "
        "closed.",
    )
    st.caption(LOST_ON_RELOAD)


def _read(file: Any) -> None:
    """Read a table to be given roles; one that is audited, and was lost with a connection, is audited again."""
    audited = (
        st.session_state.get("upload_applied") == file.file_id
        and cached.uploaded_data(state.PENDING) is None
    )
    again = audited and cached.uploaded_data(state.UPLOAD) is None
    panels.forget("roles_problem")
    header = st.session_state.get(f"header_{file.file_id}") != "data"
    table = read_table(file.getvalue(), file.name, header=header)
    roles = state.chosen_roles(table) if again else None
    answers = roles and {roles.prediction, roles.score, *roles.excluded} - {
        "",
        *table.frame.columns,
    }
    if roles is not None and not answers:  # of a model, which is gone
        cached.store_upload(state.UPLOAD, table)
        state.choose("dataset", state.UPLOAD)
    else:
        cached.store_upload(state.PENDING, replace(table, name=state.PENDING))
    st.rerun()


def remove_button() -> None:
    """Offer to remove the table that waits, or else the session's own."""
    if any(cached.uploaded_data(name) is not None for name in (state.PENDING, state.UPLOAD)):
        st.button(
            "Remove your table", key="remove_upload", icon=":material/delete:", on_click=_remove
        )


def _remove() -> None:
    panels.forget("roles_problem", "preset_roles", _MODEL, _PROBLEM)
    st.session_state["upload_removed"] = True
    if pending() is not None:
        cached.store_upload(state.PENDING)
        return
    cached.store_upload(state.UPLOAD)
    state.forget_roles(state.UPLOAD)
    st.session_state["dataset"] = state.default("dataset")


_PROBLEM = "model_file_problem"
_MODEL = "model_pending"


def model_box(table: Table, current: Roles | None, drafted: Roles) -> None:
    """Draw the box for a model file, ask the model that comes, and say what is wrong with it.

    `current` are the roles in use, `drafted` those on the form.
    """
    from core.models.model_files import read_model

    def take(file: Any) -> None:
        st.session_state[_MODEL] = (file.name, read_model(file.getvalue(), file.name))

    panels.upload(
        "Or a model file (ONNX or skops): its answers become the prediction and the score",
        "model_file",
        take,
        doing="Reading the model",
        forgets=(_MODEL,),
        help="Pickle, joblib, PyTorch and Keras files are refused, because opening one can run any code hidden in it. "
        "Export to ONNX or skops. Kept in this session's memory only.",
    )
    if _MODEL in st.session_state:
        _ask_model(table, current, drafted, *st.session_state[_MODEL])
    if (model := cached.own_model(table.name)) is not None:
        columns = " and ".join(f"“{name}”" for name in (model.prediction, model.score) if name)
        panels.notes(f"{model.plan.file} has predicted for everybody: {columns}.")
        panels.notes(*model.notes)
        if st.button("Take its answers out", key="remove_model", icon=":material/delete:"):
            cached.store_upload(table.name, model.source_table)
            _change_roles(model.source_table, current, drafted, model.taken_out)
            st.rerun()


def _ask_model(
    table: Table, current: Roles | None, drafted: Roles, name: str, model_file: ModelFile
) -> None:
    """Ask a model about everybody, and first which columns it takes if its file does not say.

    Its answers replace those of an earlier one. In a table that waits for its roles they are added to those drafted.
    """
    from core.auditing.plan import ModelPlan
    from core.models.model_files import with_answers

    earlier_model = cached.own_model(table.name)
    roles = current or drafted
    if not (roles.label and roles.positive):
        panels.notes("The model is asked once a label and its positive value are chosen.")
        return
    source = earlier_model.source_table if earlier_model else table
    features = ()
    if not model_file.feature_names:
        if model_file.width:
            takes = f"; it takes {model_file.width}."
        else:
            takes = "."
        columns = [str(column) for column in source.frame.columns]
        options: dict[str, Any] = {
            "help": f"Its file does not name them{takes}",
            "persist_state": None,
        }
        features = tuple(
            control(params(ModelPlan)["features"], "model_features", options=columns, **options)
        )
        if not st.button("Ask the model", key="ask_model", disabled=not features):
            return
    with panels.keeping_problem(_PROBLEM):
        plan = ModelPlan(kind="file", file=name, threshold=roles.threshold, features=features)
        with st.spinner("Asking the model about everybody in the table"):
            answered = with_answers(
                source, model_file, roles, threshold=roles.threshold, features=features
            )
        model = OwnModel(
            model_file=model_file,
            plan=plan,
            source_table=source,
            label=roles.label,
            positive=roles.positive,
            prediction=answered.prediction,
            score=answered.score,
            notes=answered.answers.notes,
        )

        def answer(roles_before: Roles) -> Roles:
            if earlier_model:
                roles_before = earlier_model.taken_out(roles_before)
            return model.put_in(roles_before)

        if current is not None:
            build_dataset(answered.table, answer(current))
        panels.forget(_MODEL)
        cached.store_upload(table.name, answered.table, model)
        _change_roles(answered.table, current, drafted, answer)
    if model_file.feature_names:
        panels.forget(_MODEL)  # there is nothing else to try
    st.rerun()


def _change_roles(
    table: Table, current: Roles | None, drafted: Roles, change: Callable[[Roles], Roles]
) -> None:
    """Change the roles in use, of every attribute, or those drafted for a table that waits."""
    if current is None:
        st.session_state["preset_roles"] = (table.fingerprint, change(drafted))
        return
    state.change_roles(table.name, change)


STYLE = """<style>
.stMainBlockContainer .st-key-gate [data-testid=stVerticalBlock] {row-gap: 0}
.stMainBlockContainer .st-key-gate {row-gap: 0}
.st-key-gate [class*=st-key-s_] {border-top: 1px solid var(--fl-line); padding: .35rem .6rem; min-height: 44px;
  column-gap: .8rem; row-gap: .3rem}
.st-key-gate [class*=st-key-s_bad_] {background: rgba(200, 60, 50, .11)}
.st-key-gate [class*=st-key-s_ask_] {background: rgba(227, 179, 76, .15)}
.st-key-gate [class*=st-key-s_] :is(p, [data-testid=stMarkdownContainer]) {margin: 0}
.st-key-gate [class*=st-key-s_] [data-testid=stMarkdown] p {line-height: 1.35; padding-left: 1.75rem;
  position: relative}
.st-key-gate [class*=st-key-s_] [data-testid=stMarkdown] p > span:first-child {position: absolute; left: 0}
.st-key-gate [class*=st-key-s_bad_] button {border-color: currentcolor; color: var(--fl-bad)}
.st-key-gate [class*=st-key-s_] button {min-height: 30px; padding-block: .1rem}
.st-key-gate_head {padding-bottom: .4rem}
.st-key-gate_notes {border-top: 1px solid var(--fl-line)}
.st-key-gate_notes [data-testid=stExpander] details {border: 0}
.st-key-gate_foot {border-top: 1px solid var(--fl-line); padding-top: .5rem}
@media (max-width: 760px) {
.st-key-gate [class*=st-key-s_] [data-testid=stElementContainer]:has(> [data-testid=stMarkdown]) {min-width: 100%}
.st-key-gate [class*=st-key-s_] > :not(:first-child) {margin-left: 1.75rem}
}
</style>"""

_ICONS = {
    "bad": ":red[:material/block:]",
    "ask": ":orange[:material/help:]",
    "caution": ":orange[:material/warning:]",
    "ok": ":green[:material/check_circle:]",
}

_MOST_BUTTONS = 4

SETTINGS = ("favourable", "positive")
"""Settings with a line of their own, and what a fact about one of them is called."""

_SENTENCE_END = re.compile(r"(?<=[.?!]) ")


@dataclass(frozen=True, slots=True)
class Repaired:
    """A repair that was made: the fact, what the button said, and the roles before and after it."""

    fact: Fact
    title: str
    before: Roles
    after: Roles

    def holds(self, roles: Roles) -> bool:
        """Whether the drafted roles still have what the repair changed."""
        return all(
            _contains(getattr(roles, name), getattr(self.after, name)) for name in self._fields
        )

    def undo(self, roles: Roles) -> Roles:
        """Return roles without the repair; what else was changed since stays."""
        changes: dict[str, Any] = {}
        for name in self._fields:
            now, old, new = (getattr(version, name) for version in (roles, self.before, self.after))
            changes[name] = old
            if isinstance(now, tuple):
                rest = tuple(item for item in now if item not in new or item in old)
                changes[name] = rest + tuple(
                    item for item in old if item not in new and item not in rest
                )
        return replace(roles, **changes)

    @property
    def _fields(self) -> list[str]:
        return [
            name
            for name in Roles.__dataclass_fields__
            if getattr(self.before, name) != getattr(self.after, name)
        ]


def _contains(value: Any, part: Any) -> bool:
    if isinstance(value, tuple):
        return set(part) <= set(value)
    return bool(value == part)


def _confirmations(fact: Fact, roles: Roles) -> list[str]:
    """Return the names by which the roles confirm a fact: its kind, or its kind with one of its columns."""
    names = {fact.kind, *(f"{fact.kind}:{column}" for column in fact.columns)}
    return [name for name in roles.confirmed if name in names]


_PLACES = ("blocking", "favourable", "questions", "positive", "cautions", "answers", "notes")
"""Parts of the card, from the top."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The card, which is drawn before the roles are known and filled when they are.

    `mark` names the draft, `write` puts changed roles into the form, and `places` are the parts of the card.
    """

    mark: str
    write: Callable[[Roles], None]
    places: dict[str, Any]

    @classmethod
    def draw(cls, mark: str, write: Callable[[Roles], None]) -> Gate:
        """Draw the empty card."""
        st.html(STYLE)
        row: dict[str, Any] = {
            "horizontal": True,
            "horizontal_alignment": "distribute",
            "vertical_alignment": "center",
        }
        with st.container(border=True, key="gate"):
            places = {"head": st.container(key="gate_head", **row)}
            places |= {name: st.container(key=f"gate_{name}", gap=None) for name in _PLACES}
            places["foot"] = st.container(key="gate_foot", **row)
        return cls(mark, write, places)

    def setting(self, role: str, *, answered: bool) -> Any:
        """Draw the line of a setting; return the place of its control."""
        kind = "ok" if answered else "ask"
        with self.places[role], line(f"s_{kind}_{role}"):
            self.places[f"{role}_text"] = st.empty()
            with st.container(horizontal=True, width="content"):
                container = st.container(width="content")
                self.places[f"{role}_buttons"] = st.container(horizontal=True, width="content")
        return container

    def say(self, role: str, *, answered: bool, text: str, more: str = "") -> None:
        """Write what a setting says, into its line; `more` stays where a fact takes the place of the text."""
        self.places[f"{role}_more"] = more or self.places.get(f"{role}_more", "")
        self.places[f"{role}_said"] = f"{text} {self.places[f'{role}_more']}".rstrip()
        kind = "ok" if answered else "ask"
        self._say_again(role, kind)

    def _say_again(self, role: str, kind: str) -> None:
        """Write into a setting's line what it says, with this icon."""
        self.places[f"{role}_text"].markdown(
            line_text(kind, *sentences(self.places[f"{role}_said"])), width="stretch"
        )

    def fill(self, facts: Sequence[Fact], roles: Roles) -> None:
        """Draw a line for each fact; what is asked of a setting is drawn in its line."""
        repaired = [entry for entry in self._repaired() if entry.holds(roles)]
        subjects = {(entry.fact.kind, entry.fact.columns) for entry in repaired}
        notes = [
            fact
            for fact in facts
            if fact.severity == Severity.NOTE and (fact.kind, fact.columns) not in subjects
        ]
        confirmed = [fact for fact in notes if _confirmations(fact, roles)]
        for number, fact in enumerate(facts):
            if fact.kind in SETTINGS:
                self._setting_line(fact, roles)
            elif fact.severity != Severity.NOTE:
                self._open_line(number, fact, roles)
        doubted = {
            name
            for fact in facts
            if fact.severity == Severity.BLOCKING
            for name in _repairable(fact)
        }
        for role in doubted.intersection(SETTINGS):
            if self.places.get(f"{role}_said") and not any(fact.kind == role for fact in facts):
                self._say_again(role, "caution")
        for number, entry in enumerate(repaired):
            self._answer_line(
                f"repaired_{number}", f"{entry.title}. {entry.fact.text}", entry.undo(roles)
            )
        for number, fact in enumerate(confirmed):
            if fact.kind not in SETTINGS:
                rest = tuple(
                    name for name in roles.confirmed if name not in _confirmations(fact, roles)
                )
                self._answer_line(f"confirmed_{number}", fact.text, replace(roles, confirmed=rest))
        if notes := [fact for fact in notes if fact not in confirmed]:
            with self.places["notes"].expander(f"Notes ({len(notes)})", icon=":material/info:"):
                for fact in notes:
                    st.caption(shell.escape(fact.text))
        self._heading(facts, len(confirmed) + len(repaired))

    def _heading(self, facts: Sequence[Fact], answers: int) -> None:
        blocks = sum(
            fact.severity == Severity.BLOCKING and fact.kind not in SETTINGS for fact in facts
        )
        asks = sum(fact.severity != Severity.NOTE for fact in facts) - blocks
        counts = [
            f":red[{blocks} block{'s' * (blocks == 1)}]" * bool(blocks),
            f":orange[{asks} question{'s' * (asks != 1)}]" * bool(asks),
            f":green[{answers} answered]" * bool(answers),
        ]
        with self.places["head"]:
            st.markdown("### What the columns mean", width="content")
            st.markdown(
                f"**{' · '.join(filter(None, counts)) or ':green[nothing left to check]'}**",
                width="content",
            )

    def _setting_line(self, fact: Fact, roles: Roles) -> None:
        """Write what is asked of a setting into its line, and offer to confirm what it holds."""
        if f"{fact.kind}_text" not in self.places:  # its label is not chosen yet
            return
        is_question = fact.severity != Severity.NOTE
        self.say(fact.kind, answered=not is_question, text=fact.text)
        for repair in fact.repairs:
            if is_question and set(repair.changes) == {"confirmed"}:
                with self.places[f"{fact.kind}_buttons"]:
                    self._button(fact, repair, roles, name=f"{fact.kind}_confirmed")

    def _open_line(self, number: int, fact: Fact, roles: Roles) -> None:
        """Draw a blocking fact or a question with its repairs."""
        blocks = fact.severity == Severity.BLOCKING
        kind, section = ("bad", "blocking") if blocks else ("ask", "questions")
        with self.places[section], line(f"s_{kind}_{number}"):
            st.markdown(line_text(kind, *sentences(fact.text)), width="stretch")
            with st.container(horizontal=True, width="content"):
                for position, repair in enumerate(fact.repairs[:_MOST_BUTTONS]):
                    self._button(fact, repair, roles, name=f"{fact.kind}_{number}_{position}")

    def _button(self, fact: Fact, repair: Repair, roles: Roles, *, name: str) -> None:
        icon = ":material/build:" if fact.severity == Severity.BLOCKING else None
        st.button(
            shell.escape(repair.title),
            key=f"use_repair_{name}_{self.mark}",
            icon=icon,
            on_click=self._repair,
            args=(fact, repair, roles),
        )

    def _answer_line(self, name: str, text: str, roles: Roles) -> None:
        """Draw what was repaired or confirmed; `roles` are those without it."""
        with self.places["answers"], line(f"s_ok_{name}"):
            st.markdown(line_text("ok", *sentences(text)), width="stretch")
            st.button(
                "Undo",
                key=f"back_{name}_{self.mark}",
                icon=":material/undo:",
                type="tertiary",
                on_click=self.write,
                args=(roles,),
            )

    def _repaired(self) -> tuple[Repaired, ...]:
        entries: tuple[Repaired, ...] = st.session_state.get(f"repaired_{self.mark}", ())
        return entries

    def _repair(self, fact: Fact, repair: Repair, roles: Roles) -> None:
        changes: dict[str, Any] = {**repair.changes}
        after = replace(roles, **changes)
        if set(repair.changes) != {"confirmed"}:  # a confirmed fact comes back as a note
            entries = [entry for entry in self._repaired() if entry.holds(roles)]
            entry = Repaired(fact, repair.title, roles, after)
            st.session_state[f"repaired_{self.mark}"] = (*entries, entry)
        self.write(after)


def _repairable(fact: Fact) -> set[str]:
    """Return the settings that a fact's repairs would change."""
    return {name for repair in fact.repairs for name in repair.changes}


def line(key: str) -> Any:
    """Return a line of the card; the key begins with "s_bad_", "s_ask_" or "s_ok_", by its tint."""
    return st.container(key=key, horizontal=True, vertical_alignment="center")


def line_text(kind: str, point: str, more: str = "") -> str:
    """Return a line's text with its icon, its point in bold."""
    return f"{_ICONS[kind]} **{shell.escape(point)}** {shell.escape(more)}".rstrip()


def sentences(text: str) -> tuple[str, str]:
    """Return the first sentence of a text, and the others."""
    point, *more = _SENTENCE_END.split(text, maxsplit=1)
    return point, " ".join(more)
