"""Report: may the model be released? Every attack, judged by a policy, and the reports to file."""

from __future__ import annotations

from pages.shell import shell

shell.guard()

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.auditing.policy import placeholders_text
from core.base.caveats import CaveatKind
from core.base.files import csv_of_frame
from core.models import GIVEN_PREDICTIONS, METHOD_TITLES, PRIVATE_METHODS, TOLERANCE_METHODS
from core.report.comparison import since
from core.stats.estimates import epsilon_text, percent, tolerance_text
from core.stats.fairness import METRIC_TITLES
from pages._report import report_audit, report_history, report_plan
from pages._report.report_audit import Attacks, SelfTests
from pages._report.report_plan import plan_of, release_instead, released
from pages.shell import panels, state
from pages.shell.background import State, ensure_started
from pages.shell.cached import audited, kept_tolerance

head = shell.head()
opening = st.container()
config, table = audited()

from core.auditing.policy import judge
from core.report import Reports, board_html, board_style, caveats_html
from core.report.tables import report_tables

_ICONS = {
    "fail": ":red[:material/cancel:]",
    "inconclusive": ":yellow[:material/help:]",
    "not_run": ":gray[:material/do_not_disturb_on:]",
    "pass": ":green[:material/check_circle:]",
}
_NONE = {
    State.CANCELLED: ("No verdict: the attacks were stopped.", "What was found so far is not kept"),
    State.FAILED: ("No verdict: the audit could not be made.", "Nothing was judged"),
}
_BESIDE_THE_VERDICT = (CaveatKind.CHOSEN_ON_THESE_RECORDS, CaveatKind.CONSTANT_MODEL)
"""Caveats that stand in the finding itself; all stand below the checks."""
_UNDER_WAY = ("No verdict yet: the attacks are under way.", "Judged as soon as they are done")
_STYLE = (
    "[data-testid=stMain] h2 .stMarkdownColoredText {color: var(--fl-verdict) !important}"
    ".st-key-placeholders {background: var(--fl-banner); border-radius: 6px; padding: .3rem .8rem}"
    ".st-key-placeholders {margin-top: -.7rem}"
    ".st-key-way_out {background: var(--fl-way-out); border-radius: 6px; padding: .8rem 1rem}"
    "@media (min-width: 641px) {.st-key-compare > div:last-child {margin-left: auto}}"
    "@media (max-width: 640px) {.st-key-compare_row, .st-key-compare_row > div, .st-key-compare_with"
    " {width: 100% !important; flex: 1 1 100% !important}}"
    ".st-key-placeholders p, .st-key-placeholders [data-testid=stMarkdownContainer] {margin: 0}"
)


def model_text() -> str:
    """Name the audited model: "Private tree (DP-ID3), ε = 3, depth 8"."""
    parts = [METHOD_TITLES[config.method]]
    if config.method in PRIVATE_METHODS:
        parts.append(f"ε = {epsilon_text(config.epsilon)}")
    if config.method != GIVEN_PREDICTIONS:
        parts.append(f"depth {config.depth}")
    return ", ".join(parts)


def finding(icon: str, point: str, evidence: str) -> None:
    """Write the verdict, or why there is none, as the page's finding."""
    constraint = f"{METRIC_TITLES[config.metric].lower()} within {tolerance_text(config.tolerance)}"
    if config.method not in (*TOLERANCE_METHODS, GIVEN_PREDICTIONS):  # which know nothing of it
        constraint = f"disclosed {constraint}"
    elif config.method == GIVEN_PREDICTIONS and config.tolerance == kept_tolerance(table, config):
        constraint += " assumed (the smallest that holds)"
    sentence = (
        f"{evidence} {attacks.subject.table.title}, {state.attribute_of(config)}. {model_text()}, {constraint}, "
        f"seed {config.seed}. "
        f"Released: {released(attacks.subject.plan.outputs).lower()}. "
        f"Policy: {policy.name}, version {policy.version}."
    )
    with opening:
        shell.finding(f"{icon} {shell.escape(point)}", shell.escape(sentence.strip()))


def style(overall: str = "none") -> None:
    """Write the style sheet of the checks, with the colour of the verdict's icon in the finding."""
    st.html(f"<style>{board_style(shell.palette(), overall)}{_STYLE}</style>")


def placeholders() -> None:
    """Say how many limits are FairLeak's starting values, while one is."""
    first, _, rest = placeholders_text(policy).partition(". ")
    if rest:
        with st.container(key="placeholders"):
            st.markdown(f":material/edit_note: **{shell.escape(first)}.** {shell.escape(rest)}")


def _policy() -> None:
    left, right = st.columns([2, 3], gap="large")
    with left:
        shell.whisper("Policy", "Limits that a release must satisfy")
        report_plan.choose_policy(config)
        if release is not None:
            report_audit.file_button(release, "policy.toml")
    with right:
        shell.whisper("Limits", "A changed limit is applied at once, without a new attack")
        report_plan.policy_editor(config)


def _plan() -> None:
    report_plan.attacks(config, table)
    if release is not None:
        report_audit.file_button(release, "plan.toml")


def _numbers() -> None:
    import pandas as pd

    if release is None:
        st.caption("There is no verdict yet.")
        return
    all_tables = report_tables(release.document)
    tables = {
        table.title: pd.DataFrame(table.rows, columns=list(table.columns))
        for table in all_tables
        if table.rows
    }
    shell.whisper("Tables", "Every table of the internal report, not rounded")
    title = st.selectbox(
        "Table", list(tables), key="release_table", persist_state="session"
    ) or next(iter(tables))
    chosen = tables[title]
    st.dataframe(chosen, hide_index=True, height=panels.table_height(chosen, 10, 380))
    panels.download("CSV", lambda: csv_of_frame(chosen), "fairleak-release.csv", key="csv_release")


GUIDE = (
    "**Question.** May this model be released under the chosen policy?\n\n"
    "**How to read the rows.** Each bar runs from chance, or equal groups, over the limit to twice that distance; "
    "right is worse. The dot is the result, the line the interval of its verdict. ◂ and ▸ mean that it goes on. "
    "Open a row for attack, assumptions and evidence."
    "\n\n"
    "**Pass and fail** need the whole interval on one side. All limits are tested together (Holm), so this interval "
    "can be wider than the 95% CI shown. **Inconclusive** and **not run** block a release that requires the check, "
    "unless its limit allows that it cannot be run.\n\n"
    "**Measured:** an attack was run. **Declared:** calculated from declared settings. **Combined:** both.\n\n"
    "**What it does not show.** A pass holds for these attacks, this model and this table.\n\n"
    "**Repeat it.** `fairleak audit plan.toml`, then `fairleak report verify`."
)

policy = report_plan.current_policy(config)
planned = replace(plan_of(config, table), register=report_history.register_plan())
attacks = Attacks(report_plan.subject(config, table, planned))
tested = SelfTests()
ensure_started(attacks)
release: Reports | None = None
if attacks.result is None:
    point, why = _UNDER_WAY if attacks.state is None else _NONE.get(attacks.state, _UNDER_WAY)
    finding(":gray[:material/hourglass_empty:]", point, f"{why}.")
    attacks.watch(attacks.show_progress)
    style()
    waiting = judge(policy, (), attribute=state.attribute_of(config))
    st.html(board_html(waiting.rows, waiting=True))
else:
    ensure_started(tested)
    release = report_audit.judged_reports(attacks, policy, tested.results)
    verdict = release.audit.verdict
    with head:
        report_audit.summary_button(release, testing=tested.busy)
    model = release.audit.model
    worth = f"Test accuracy {percent(model.accuracy_test)}, majority class {percent(model.majority_test)}."
    first = [caveat.text for caveat in verdict.caveats if caveat.kind in _BESIDE_THE_VERDICT]
    finding(_ICONS[verdict.overall], verdict.headline, " ".join([verdict.detail, worth, *first]))
    tested.warn()
    placeholders()
    report_audit.draw_way_out(release, partial(release_instead, config, table))
    compared = report_history.chosen(release)
    style(verdict.overall)
    board_options: dict[str, Any] = {}
    if compared is not None:
        board_options = {
            "since": {change.check: since(change) for change in compared.checks},
            "day": compared.since,
        }
    st.html(board_html(release.document.rows, **board_options))
    if verdict.caveats:
        st.html(caveats_html(verdict.caveats))
    report_history.below(compared)
    report_audit.downloads(release, tested)
    report_history.card(release, testing=tested.busy)
sections: dict[str, tuple[str, Callable[[], Any]]] = {
    "judged": ("Policy and limits", _policy),
    "attacked": ("Audit plan", _plan),
    "self_test": ("Self-test", tested.draw),
    "numbers": ("Tables", _numbers),
    "guide": ("How to read this", lambda: st.markdown(GUIDE)),
}
further = panels.further(sections, key="further_release")
if release is not None:
    tested.watch(tested.show_progress, drawn=tested.result)
if further is not None:
    further[1]()
