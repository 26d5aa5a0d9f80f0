"""Models: the register. Which models are in use, what was decided about each version, and what is due."""

from __future__ import annotations

from pages.shell import shell

shell.guard()

from collections.abc import Sequence

import streamlit as st

from core.auditing.policy import VERDICT_TITLES
from core.report.report import day_text
from core.store.events import BAN, RegisteredModel, name_key
from core.store.history import History, today
from core.store.register import answers_text, decided, is_due, register_finding, review_text
from pages._models import registered_model
from pages._report import report_history
from pages.shell import panels, signin

_OPEN = "model"
"""Key of the address that says which row is open."""

_FILTERS = {
    "all": "All",
    "banned": "Banned versions",
    "released": "Released or risk accepted",
    "due": "Review due",
}
_SHARES = [30, 12, 18, 22, 26, 14]
"""Widths of the columns of a row."""

_HEADINGS = (
    "Model and purpose",
    "Newest",
    "Owner",
    "Last verdict",
    "Decision that stands",
    "Next review",
)
_MOST_ROWS = 25

_VERDICT_ICONS = {
    "fail": ":red[:material/cancel: **Fail**]",
    "inconclusive": ":yellow[:material/help: **Inconclusive**]",
    "not_run": ":gray[:material/do_not_disturb_on: **Not run**]",
    "pass": ":green[:material/check_circle: **Pass**]",
}
_DECISION_TEXTS = {
    BAN: ":red[:material/block: **Banned: {}**]",
    "accept_risk": ":yellow[:material/event_busy: **Risk accepted: {}**]",
    "release": ":green[:material/verified: **Released: {}**]",
}

_STYLE = """<style>
.st-key-model_rows p, .st-key-model_decisions p {margin: 0; line-height: 1.35}
.st-key-model_rows [data-testid=stMarkdownContainer], .st-key-model_decisions [data-testid=stMarkdownContainer]
  {margin: 0}
.st-key-model_rows [data-testid=stColumn] [data-testid=stVerticalBlock] {row-gap: .1rem}
.st-key-model_rows [data-testid=stHorizontalBlock] {row-gap: .2rem}
[class*=st-key-model_row_] {border-top: 1px solid var(--fl-line); padding: .45rem .5rem .55rem}
[class*=st-key-model_row_open] {background: color-mix(in srgb, var(--fl-line) 35%, transparent)}
[class*=st-key-model_row_] button {padding: 0; min-height: 0; text-align: left}
[class*=st-key-model_row_] button p {font-weight: 600}
[class*=st-key-model_row_] button:is(:hover, :focus, :active) {color: var(--fl-chosen)}
.st-key-model_headings {padding: .5rem .5rem .3rem}
.st-key-model_headings p {color: var(--fl-grey); font-size: .85rem; margin: 0}
.st-key-model_versions {border-top: 2px solid; padding-top: .6rem; margin-top: .4rem}
@media (max-width: 760px) {
  .st-key-model_headings {display: none}
  [class*=st-key-model_row_] [data-testid=stColumn]:nth-child(3) p:first-child::before {content: "Owner: "}
  [class*=st-key-model_row_] [data-testid=stColumn]:nth-child(6) p:first-child::before {content: "Next review: "}
}
</style>"""

GUIDE = (
    "**Question.** Which models are in use, and what was decided about each version?\n\n"
    "**A decision is about a version**, the audited one. *Do not release* stands until a person revokes it "
    "by name and reason, whatever else is audited, decided or deleted; also for the same answers in another "
    "version. *Release* and *Accept the risk* stand until a later decision about the version, their last day, or a "
    "revocation.\n\n"
    "**The charts** have the report's scale: chance below, the limit in the middle, twice that distance above. The "
    "stroke is the interval of the verdict.\n\n"
    "**Nothing is deleted from the record.** Reports can be deleted (below *All audits*, or all of some age by "
    "`fairleak history expire`); verdicts and decisions stay. `fairleak history verify` checks the chain."
)


def of_filter(models: Sequence[RegisteredModel], name: str, day: str) -> list[RegisteredModel]:
    """Return the models that a filter leaves."""
    if name == "banned":
        return [model for model in models if model.bans()]
    if name == "released":
        return [
            model
            for model in models
            if any(signature.decision != BAN for signature in model.current_decisions(day))
        ]
    if name == "due":
        return [model for model in models if is_due(model, day)]
    return list(models)


def toggle(name: str) -> None:
    """Open a model's row, or close it."""
    if name_key(st.query_params.get(_OPEN, "")) == name_key(name):
        del st.query_params[_OPEN]
    else:
        st.query_params[_OPEN] = name


def cell(first: str, second: str = "") -> str:
    """Return two lines of a row: what counts, and in small grey what belongs to it."""
    if not second:
        return first or "–"
    return f"{first or '–'}  \n:small[:gray[{second}]]"


def draw_row(model: RegisteredModel, index: int, *, is_open: bool, day: str) -> None:
    """Draw a model in a row: purpose, newest version, owner, last verdict, decisions that stand, next review."""
    key = f"model_row_open_{index}" if is_open else f"model_row_{index}"
    with st.container(key=key):
        columns = st.columns(_SHARES)
        icon = ":material/expand_more:" if is_open else ":material/chevron_right:"
        with columns[0]:
            st.button(
                shell.escape(model.name),
                key=f"open_model_{index}",
                type="tertiary",
                icon=icon,
                on_click=toggle,
                args=(model.name,),
            )
            st.markdown(f":small[:gray[{shell.escape(model.purpose) or 'no purpose given'}]]")
        n = len(model.versions)
        newest = shell.escape(next(iter(model.versions), ""))
        columns[1].markdown(cell(newest, f"{n} version{'s' * (n != 1)}"))
        columns[2].markdown(shell.escape(model.owner) or ":gray[no owner given]")
        columns[3].markdown(verdict_cell(model))
        columns[4].markdown(decision_cell(model, day))
        columns[5].markdown(review_cell(model, day))


def verdict_cell(model: RegisteredModel) -> str:
    """Return the verdict of the last audit, and of what and when."""
    last = model.last
    if last is None:
        return ":gray[not audited yet]"
    verdict = _VERDICT_ICONS.get(last.verdict, VERDICT_TITLES[last.verdict])
    return cell(verdict, shell.escape(f"{last.version}, {last.outputs}, {day_text(last.when)}"))


def decision_cell(model: RegisteredModel, day: str) -> str:
    """Return the decisions that stand, a line for each kind; bans first."""
    lines = []
    for decision, signatures in decided(model.current_decisions(day)):
        versions = ", ".join(signature.version for signature in signatures)
        line = _DECISION_TEXTS[decision].format(shell.escape(versions))
        if until := min(filter(None, (signature.until for signature in signatures)), default=""):
            line += f"  \n:small[:gray[until {day_text(until)}]]"
        lines.append(line)
    for entry in model.contradicted(day):
        version = shell.escape(entry.version)
        lines.append(f":small[:red[last audit of {version}: {VERDICT_TITLES[entry.verdict]}]]")
    for entry, ban in model.banned_answers():
        lines.append(f":small[:red[{shell.escape(answers_text(entry, ban))}]]")
    return "  \n".join(lines) or ":gray[no decision]"


def review_cell(model: RegisteredModel, day: str) -> str:
    """Return the day of the next review, and how far it is."""
    if not model.next_review:
        return ":gray[none set]"
    distance = review_text(model.next_review, day)
    if not is_due(model, day):
        return cell(day_text(model.next_review), distance)
    return f"**{day_text(model.next_review)}**  \n:small[:orange[{distance}]]"


def draw_models(models: Sequence[RegisteredModel], open_model: str, day: str) -> None:
    """Draw the filter, and a row a model."""
    counts = {name: len(of_filter(models, name, day)) for name in _FILTERS}
    titles = {name: f"{title} {counts[name]}" for name, title in _FILTERS.items()}
    name = st.pills(
        "Show",
        list(titles),
        default="all",
        key="models_filter",
        format_func=titles.__getitem__,
        label_visibility="collapsed",
        required=True,
        persist_state="session",
    )
    chosen = of_filter(models, name or "all", day)
    shown_rows = chosen
    if not st.session_state.get("models_unfolded"):
        shown_rows = chosen[:_MOST_ROWS]
    with st.container(key="model_rows", gap=None):
        with st.container(key="model_headings"):
            for column, heading in zip(st.columns(_SHARES), _HEADINGS, strict=True):
                column.markdown(heading)
        for index, model in enumerate(shown_rows):
            is_open = name_key(model.name) == name_key(open_model)
            draw_row(model, index, is_open=is_open, day=day)
    if not chosen:
        st.caption("No model is of this kind.")
    if more := len(chosen) - len(shown_rows):
        st.button(f"Show {more} more", key="models_open_all", on_click=unfold)


def unfold() -> None:
    """Show all rows from now on."""
    st.session_state["models_unfolded"] = True


row = shell.head(badge="")
day = today()
models = report_history.records(History.models)
registered_model.draw_dialog(models)
if signin.is_officer():
    row.button(
        "Register a model",
        key="register_model",
        type="primary",
        icon=":material/add:",
        on_click=registered_model.ask_model,
    )
st.html(_STYLE)
panels.finding(register_finding(models, day))
report_history.problem()
if models:
    requested = st.query_params.get(_OPEN, "")
    draw_models(models, requested, day)
    model = next((model for model in models if name_key(model.name) == name_key(requested)), None)
    if model is not None:
        registered_model.draw(model, day)
    elif requested:
        panels.problem(f"There is no model {requested!r} in the register.")
panels.how_to_read(GUIDE)
