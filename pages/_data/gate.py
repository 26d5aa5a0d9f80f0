"""The gate of a table: what its columns mean, a sentence to confirm a line, with evidence and repairs.

The lines are the facts of the input check. A red line blocks and has a button that repairs it, an amber one asks, a
green one is a guess with its evidence. A repair changes the drafted roles and nothing else: the table stays as it is.
What was repaired or confirmed stays as a green line with *Undo* until the roles are applied.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from core.datasets.checked_table import Fact, Repair, ScoresByLabel, Severity
from core.datasets.input_check import CONFIRMED_GUESSES, shared_lines, topic_of
from core.datasets.roles import Roles
from pages.shell import shell

MOST_LINES = 8
"""Lines that stand open; guesses beyond them are folded."""

_MOST_OPTIONS = 3
_MOST_LETTERS = 54
"""Options that stand side by side, and letters they may have together; else they are a list."""

_MOST_BUTTONS = 2
"""Buttons of a line that warns."""

_TINTS = {
    Severity.BLOCKING: "bad",
    Severity.QUESTION: "ask",
    Severity.CAUTION: "look",
    Severity.GUESS: "ok",
}
"""What a line's key begins with, after "s_"."""

_ICONS = {
    "bad": ":red[:material/block:]",
    "ask": ":orange[:material/help:]",
    "look": ":orange[:material/warning:]",
    "ok": ":green[:material/check_circle:]",
}

STYLE = """<style>
.stMainBlockContainer .st-key-gate [data-testid=stVerticalBlock] {row-gap: 0}
.stMainBlockContainer .st-key-gate {row-gap: 0}
.st-key-gate [class*=st-key-s_] {border-top: 1px solid var(--fl-line); padding: .3rem .5rem; min-height: 52px;
  gap: .3rem .8rem}
.st-key-gate [class*=st-key-s_bad_] {background: rgba(200, 60, 50, .11)}
.st-key-gate [class*=st-key-s_ask_] {background: rgba(227, 179, 76, .15)}
.st-key-gate [class*=st-key-s_] :is(p, [data-testid=stMarkdownContainer]) {margin: 0}
.st-key-gate [class*=st-key-s_] [data-testid=stMarkdown] p {line-height: 1.35; padding-left: 1.75rem;
  position: relative; font-size: .95rem; text-wrap: pretty}
.st-key-gate [class*=st-key-s_] [data-testid=stMarkdown] p > span:first-child {position: absolute; left: 0}
.st-key-gate [class*=st-key-s_] [data-testid=stMarkdown] p br ~ span {color: var(--fl-grey)}
.st-key-gate [class*=st-key-s_] > [data-testid=stElementContainer]:first-child {flex: 1 1 24rem; min-width: 0}
.st-key-gate [class*=st-key-s_bad_] button[kind=secondary] {border-color: currentcolor; color: var(--fl-bad)}
.st-key-gate [class*=st-key-s_] button {min-height: 30px; padding-block: .1rem}
.st-key-gate_head {padding-bottom: .3rem}
.st-key-gate_more, .st-key-gate_notes {border-top: 1px solid var(--fl-line)}
.st-key-gate_more details, .st-key-gate_notes details {border: 0}
.st-key-gate_foot {border-top: 1px solid var(--fl-line); padding-top: .4rem}
.fl-scores {display: flex; align-items: end; gap: .6rem; font-size: .75rem; line-height: 1.2}
.fl-bars {display: flex; align-items: end; width: 110px; height: 26px; border-bottom: 1px solid var(--fl-line)}
.fl-bars i {display: block; flex: 1; background: var(--fl-grey); opacity: .5}
.fl-bars i.fl-positive {background: currentcolor; opacity: 1; margin-right: 1px}
.fl-key {display: block; max-width: 7rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap}
.fl-key::before {content: ""; display: inline-block; width: 7px; height: 7px; margin-right: .3rem;
  background: var(--fl-grey); opacity: .5}
.fl-key.fl-positive::before {background: currentcolor; opacity: 1}
@media (max-width: 760px) {
.st-key-gate [class*=st-key-s_] > [data-testid=stElementContainer]:first-child {flex-basis: 100%}
.st-key-gate [class*=st-key-s_] > :not(:first-child) {margin-left: 1.75rem}
}
</style>"""

Control = Callable[[Fact], None]
"""Draws the control of a line, in place of its repairs."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """A repair that was made: the fact, the repair, and the roles before and after it."""

    fact: Fact
    repair: Repair
    before: Roles
    after: Roles

    def holds(self, roles: Roles) -> bool:
        """Whether the drafted roles still have what the repair changed."""
        return all(
            _has_change(*(getattr(version, name) for version in (roles, self.before, self.after)))
            for name in self._fields
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

    def answers(self, fact: Fact) -> bool:
        """Whether a fact is what was repaired."""
        same_columns = not fact.columns or not set(fact.columns).isdisjoint(self.fact.columns)
        return fact.kind == self.fact.kind and same_columns and fact.value == self.fact.value

    @property
    def _fields(self) -> list[str]:
        return [
            name
            for name in Roles.__dataclass_fields__
            if getattr(self.before, name) != getattr(self.after, name)
        ]


def _has_change(now: Any, old: Any, new: Any) -> bool:
    """Whether a field has what a repair changed from `old` to `new`; what else was changed since does not matter."""
    if not isinstance(now, tuple):
        return bool(now == new)
    added = set(new).difference(old)
    removed = set(old).difference(new)
    return added.issubset(now) and removed.isdisjoint(now)


@dataclass(frozen=True, slots=True)
class Gate:
    """The card of a table's lines.

    `mark` names the draft, `roles` are those drafted, `write` puts changed roles into the form, and `controls` draw
    what answers a line of their kind.
    """

    mark: str
    facts: tuple[Fact, ...]
    roles: Roles
    write: Callable[[Roles], None]
    controls: dict[str, Control]

    @property
    def lines(self) -> tuple[Fact, ...]:
        """The lines that are open, or hold by a guess."""
        answered = self.repaired
        return shared_lines(
            fact
            for fact in self.facts
            if fact.severity is not Severity.GUESS
            or not any(entry.answers(fact) for entry in answered)
        )

    @property
    def repaired(self) -> tuple[Repaired, ...]:
        """The repairs that still hold."""
        entries: tuple[Repaired, ...] = st.session_state.get(f"repaired_{self.mark}", ())
        return tuple(entry for entry in entries if entry.holds(self.roles))

    @property
    def confirmed(self) -> tuple[Fact, ...]:
        """The facts that the roles confirm, but for those that were repaired here."""
        notes = [fact for fact in self.facts if fact.severity is Severity.NOTE]
        confirmed = [fact for fact in notes if fact.is_confirmed(self.roles)]
        repaired = self.repaired
        return tuple(
            fact for fact in confirmed if not any(entry.answers(fact) for entry in repaired)
        )

    def count(self, *severities: Severity) -> int:
        """Return how many lines have one of these severities."""
        return sum(fact.severity in severities for fact in self.lines)

    def draw(self, *, foot: Callable[[], None]) -> None:
        """Draw the card; `foot` draws what stands in its last line."""
        st.html(STYLE)
        with st.container(border=True, key="gate"):
            self._head()
            lines = self.lines
            asking = [fact for fact in lines if fact.severity is not Severity.GUESS]
            guesses = [fact for fact in lines if fact.severity is Severity.GUESS]
            for number, fact in enumerate(asking):
                self._line(number, fact)
            answered = self._answered()
            for draw_answer in answered:
                draw_answer()
            room = max(0, MOST_LINES - len(asking) - len(answered))
            folded = guesses[room:]
            for number, fact in enumerate(guesses[:room]):
                self._line(len(asking) + number, fact)
            if folded:
                with st.container(key="gate_more").expander(f"{len(folded)} more, guessed"):
                    for number, fact in enumerate(folded):
                        self._line(len(asking) + room + number, fact)
            self._notes()
            with _row("gate_foot"):
                foot()

    def _head(self) -> None:
        blocks = self.count(Severity.BLOCKING)
        asks = self.count(Severity.QUESTION)
        warnings = self.count(Severity.CAUTION)
        guesses = self.count(Severity.GUESS)
        answers = len(self.repaired) + len(self.confirmed)
        held = "hold"
        if blocks or asks or warnings or answers:
            held = "guessed, with evidence"
            chosen = [fact for fact in self.lines if fact.kind == "favourable"]
            n_chosen = sum(fact.severity is Severity.GUESS for fact in chosen)
            guesses -= n_chosen
            answers += n_chosen
        counts = [
            f":red[{blocks} block{'s' * (blocks == 1)}]" * bool(blocks),
            f":orange[{asks} question{'s' * (asks != 1)}]" * bool(asks),
            f":orange[{warnings} to look at]" * bool(warnings),
            f":green[{answers} answered]" * bool(answers),
            f":green[{guesses} {held}]" * bool(guesses),
        ]
        with _row("gate_head"):
            st.markdown("### What the columns mean", width="content")
            st.markdown(f"**{' · '.join(filter(None, counts))}**", width="content")

    def _line(self, number: int, fact: Fact) -> None:
        tint = _TINTS[fact.severity]
        with line(f"s_{tint}_{number}"):
            st.markdown(line_text(tint, fact), width="stretch")
            if fact.scores is not None:
                st.html(_histogram(fact.scores), width="content")
            control = self.controls.get(fact.kind)
            if fact.severity is Severity.BLOCKING:
                self._repairs(number, fact, control)
            elif control is not None:
                with st.container(key=f"gate_{fact.kind}", width="content"):
                    control(fact)
            elif fact.severity is Severity.CAUTION and fact.repairs:
                with st.container(horizontal=True, width="content", gap="small"):
                    for position, repair in enumerate(fact.repairs[:_MOST_BUTTONS]):
                        self._button(fact, repair, f"{fact.kind}_{number}_{position}")
            else:
                self._options(number, fact)

    def _repairs(self, number: int, fact: Fact, control: Control | None) -> None:
        """Draw the button that repairs what blocks, and beside it the other answers.

        Where nothing repairs it, the one button confirms it and does not look like a repair; where no answer is more
        likely than another, they stand side by side.
        """
        if not fact.repairs:
            return
        first, *alternatives = fact.repairs
        if alternatives and not any(repair.confirms for repair in fact.repairs):
            self._options(number, fact)
            return
        with st.container(horizontal=True, width="content", gap="small"):
            name = f"{fact.kind}_{number}_0"
            if first.confirms and not first.result:
                self._button(fact, first, name, kind="tertiary")
            else:
                self._button(fact, first, name, icon=":material/build:")
            if not alternatives and control is None:
                return
            with st.popover("Other answers", type="tertiary"):
                for position, repair in enumerate(alternatives, 1):
                    self._button(fact, repair, f"{fact.kind}_{number}_{position}", kind="tertiary")
                if control is not None:
                    with st.container(key=f"gate_{fact.kind}"):
                        control(fact)

    def _button(
        self,
        fact: Fact,
        repair: Repair,
        name: str,
        *,
        icon: str | None = None,
        kind: Any = "secondary",
    ) -> None:
        st.button(
            shell.escape(repair.title),
            key=f"use_repair_{name}_{self.mark}",
            icon=icon,
            type=kind,
            on_click=self._repair,
            args=(fact, repair),
        )

    def _options(self, number: int, fact: Fact) -> None:
        """Draw the answers of a question or a guess; what a guess holds by is chosen already."""
        repairs = fact.repairs
        if len(repairs) < 2:
            if fact.severity is Severity.QUESTION:
                for repair in repairs:
                    self._button(fact, repair, f"{fact.kind}_{number}_0")
            return
        key = f"answer_{fact.kind}_{number}_{self.mark}"
        start = None
        if fact.severity is Severity.GUESS:
            start = next((i for i, repair in enumerate(repairs) if repair.confirms), None)
        titles = [repair.title for repair in repairs]

        def answer() -> None:
            chosen = st.session_state.get(key)
            if chosen is not None:
                self._repair(fact, repairs[chosen])
            st.session_state.pop(key, None)

        arguments: dict[str, Any] = {
            "key": key,
            "format_func": lambda i: shell.escape(titles[i]),
            "label_visibility": "collapsed",
            "on_change": answer,
            "persist_state": None,
        }
        label = shell.escape(fact.point)
        if len(titles) <= _MOST_OPTIONS and sum(map(len, titles)) <= _MOST_LETTERS:
            st.segmented_control(
                label, range(len(titles)), default=start, width="content", **arguments
            )
        else:
            st.selectbox(
                label, range(len(titles)), index=start, placeholder="choose", width=260, **arguments
            )

    def _answered(self) -> list[Callable[[], None]]:
        """Return what draws the lines that were repaired or confirmed."""
        drawn: list[Callable[[], None]] = []
        for number, entry in enumerate(self.repaired):
            result = entry.repair.result or f"{entry.repair.title}: {entry.fact.point}"
            fact = replace(entry.fact, point=result, more=f"Before: {entry.fact.point}")
            drawn.append(self._undoable(f"repaired_{number}", fact, entry.undo(self.roles), "ok"))
        for number, fact in enumerate(self.confirmed):
            rest = tuple(name for name in self.roles.confirmed if name not in fact.confirmations)
            before = replace(self.roles, confirmed=rest)
            tint = "look"  # the verdict depends on it
            if fact.kind in CONFIRMED_GUESSES:
                tint = "ok"
            drawn.append(self._undoable(f"confirmed_{number}", fact, before, tint))
        return drawn

    def _undoable(self, name: str, fact: Fact, before: Roles, tint: str) -> Callable[[], None]:
        """Return what draws a line that was answered; `before` are the roles without the answer."""

        def draw() -> None:
            with line(f"s_{tint}_{name}"):
                st.markdown(line_text(tint, fact), width="stretch")
                st.button(
                    "Undo",
                    key=f"back_{name}_{self.mark}",
                    icon=":material/undo:",
                    type="tertiary",
                    on_click=self.write,
                    args=(before,),
                )

        return draw

    def _notes(self) -> None:
        repaired = self.repaired
        confirmed = self.confirmed
        notes = [
            fact
            for fact in self.facts
            if fact.severity is Severity.NOTE
            and fact not in confirmed
            and not any(entry.answers(fact) for entry in repaired)
        ]
        if not notes:
            return
        with (
            st.container(key="gate_notes"),
            st.expander(f"Notes ({len(notes)})", icon=":material/info:"),
        ):
            for fact in notes:
                st.caption(shell.escape(fact.text))

    def _repair(self, fact: Fact, repair: Repair) -> None:
        changes: dict[str, Any] = {**repair.changes}
        after = replace(self.roles, **changes)
        if repair.confirms and not repair.result:  # the fact says of itself that it is confirmed
            self.write(after)
            return
        entry = Repaired(fact, repair, self.roles, after)
        st.session_state[f"repaired_{self.mark}"] = (*self.repaired, entry)
        self.write(after)

    @property
    def missing(self) -> list[str]:
        """What must be answered before an audit, as phrases."""
        phrases = [
            _MISSING.get(fact.kind, fact.point)
            for fact in self.lines
            if fact.severity is Severity.QUESTION
        ]
        phrases += [
            _MISSING_REPAIRS.get(topic_of(fact), "a repair above")
            for fact in self.lines
            if fact.severity is Severity.BLOCKING
        ]
        return phrases


_MISSING = {
    "label_missing": "a label",
    "outcome": "which column is the true outcome",
    "outcome_untold": "which column is the true outcome",
    "attribute_missing": "a sensitive attribute",
    "attribute": "which attribute is audited",
    "favourable": "which outcome is good for the person",
    "positive": "what the score predicts",
    "possible_answers": "whether a column is the model's answer",
    "possible_person": "whether a column identifies people",
    "possible_sets": "whether a column says who was in training",
    "sets": "who was in training",
    "training_value": "which value means training",
}
"""Kind of a question -> what is missing without its answer."""

_MISSING_REPAIRS = {
    "direction": "which way the score points",
    "copy": "whether a column is a copy of the score",
    "person": "people on one side only",
    "prediction_values": "what the predictions mean",
    "label_is_prediction": "an outcome that is not the model's answer",
    "label_equals_attribute": "an outcome that is not the attribute",
    "label_is_attribute": "an outcome that is not the attribute",
    "label_one_value": "an outcome of two values",
    "repeated_person": "whether repeated records are one person",
    "too_many_values": "columns of fewer values",
}
"""What a blocking line is about -> what is missing without a repair of it."""


def _row(key: str) -> AbstractContextManager[Any]:
    return st.container(
        key=key,
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="center",
    )


def line(key: str) -> AbstractContextManager[Any]:
    """Return a line of the card; what its key begins with is its tint."""
    return st.container(key=key, horizontal=True, vertical_alignment="center")


def line_text(tint: str, fact: Fact) -> str:
    """Return a line's text: its icon, its point in bold, and its evidence in grey below."""
    more = f"  \n:small[{shell.escape(fact.more)}]" * bool(fact.more)
    return f"{_ICONS[tint]} **{shell.escape(fact.point)}**{more}"


def _histogram(scores: ScoresByLabel) -> str:
    """Return the scores of both labels as bars side by side, with their key."""
    tallest = max((*scores.positive, *scores.negative))
    bars = []
    for positive, negative in zip(scores.positive, scores.negative, strict=True):
        for share, name in ((negative, ""), (positive, "fl-positive")):
            bars.append(f'<i class="{name}" style="height: {100 * share / tallest:.0f}%"></i>')
    labels = [html.escape(label) for label in (scores.positive_label, scores.negative_label)]
    area = max(scores.area, 1.0 - scores.area)
    side = "higher" if scores.area >= 0.5 else "lower"
    alt = f"Scores of {labels[0]} beside those of {labels[1]}, {side} with an AUC of {area:.3f}"
    key = f'<span class="fl-key fl-positive">{labels[0]}</span><span class="fl-key">{labels[1]}</span>'
    return (
        f'<div class="fl-scores"><div class="fl-bars" role="img" aria-label="{alt}">{"".join(bars)}</div>'
        f"<div>{key}</div></div>"
    )
