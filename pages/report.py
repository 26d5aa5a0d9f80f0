"""Report: may the model be released? Every attack, judged by a policy, and the reports to file."""

from __future__ import annotations

from pages.shell import shell

shell.guard()

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.base.caveats import CaveatKind
from core.base.files import csv_of_frame
from core.base.serialize import short_fingerprint
from core.models import GIVEN_PREDICTIONS, METHOD_TITLES, PRIVATE_METHODS, TOLERANCE_METHODS
from core.report.comparison import since
from core.stats.estimates import count, epsilon_text, percent, tolerance_text
from core.stats.fairness import METRIC_TITLES
from core.studies.subject import AuditConfig
from pages._report import (
    report_audit,
    report_decision,
    report_history,
    report_plan,
    report_policy,
    sign_off,
)
from pages._report.report_audit import Attacks, SelfTests
from pages._report.report_plan import (
    AuditRequest,
    plan_of,
    release_instead,
    released,
    stated_plan,
    statement_form,
    try_narrower,
)
from pages.shell import panels, state
from pages.shell.background import State, ensure_started
from pages.shell.cached import audited, kept_tolerance
from pages.shell.controls import accept_stand_in, is_stand_in, show_verdict

if is_stand_in():
    shell.head(badge="")
    shell.finding(
        ":gray[:material/block:] No verdict: the table of this address is not in this session.",
        "An uploaded table stays in memory and is gone after a reload; a link does not hold it. "
        "Upload it again with its roles, or ask for its report.",
    )
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        shell.link("data")
        st.button("Show the demo’s report", key="use_demo_report", on_click=accept_stand_in)
    st.stop()
head = shell.head()
opening = st.container()
config, table = audited()

from core.auditing.policy import VERDICT_TITLES, judge, limits_to_set
from core.report import (
    Reports,
    audited_model_text,
    board_html,
    board_style,
    caveats_html,
    confirmed_html,
    was_confirmed,
)
from core.report.tables import report_tables

_NONE = {
    State.CANCELLED: ("No verdict: the attacks were stopped.", "What was found so far is not kept"),
    State.FAILED: ("No verdict: the audit could not be made.", "Nothing was judged"),
}
_BESIDE_THE_VERDICT = (CaveatKind.CHOSEN_ON_THESE_RECORDS, CaveatKind.CONSTANT_MODEL)
"""Caveats that stand in the finding itself; all stand below the checks."""
_UNDER_WAY = ("No verdict yet: the attacks are under way.", "Judged as soon as they are done")
_STYLE = (
    "[data-testid=stMain] h2 .stMarkdownColoredText {color: var(--fl-verdict) !important}"
    ".st-key-way_out {background: var(--fl-way-out); border-radius: 6px; padding: .8rem 1rem}"
    "[data-testid=stPopoverBody]:has(.fl-board, .st-key-files)"
    " {width: min(66rem, 94vw) !important; max-width: 94vw !important}"
    "[data-testid=stPopoverBody]:has(.st-key-remedies) {width: min(38rem, 94vw) !important}"
    ".st-key-way_out [data-testid=stMarkdownContainer] p {font-size: .88rem; line-height: 1.35}"
    "@media (min-width: 641px) {.st-key-compare > div:last-child {margin-left: auto}}"
    "@media (max-width: 640px) {.st-key-compare_row, .st-key-compare_row > div, .st-key-compare_with"
    " {width: 100% !important; flex: 1 1 100% !important}}"
)


def trained_text() -> str:
    """Name the settings of a model that is trained here: "Private tree (DP-ID3), ε = 3, depth 8, seed 42"."""
    parts = [METHOD_TITLES[config.method]]
    if config.method in PRIVATE_METHODS:
        parts.append(f"ε = {epsilon_text(config.epsilon)}")
    if config.method != GIVEN_PREDICTIONS:
        parts.append(f"depth {config.depth}")
    return ", ".join([*parts, constraint_text(), f"seed {config.seed}"])


def constraint_text() -> str:
    """Say the fairness constraint, and whether it is only disclosed or assumed."""
    constraint = f"{METRIC_TITLES[config.metric].lower()} within {tolerance_text(config.tolerance)}"
    if config.method not in (*TOLERANCE_METHODS, GIVEN_PREDICTIONS):  # which know nothing of it
        return f"disclosed {constraint}"
    if config.method == GIVEN_PREDICTIONS and config.tolerance == kept_tolerance(table, config):
        return f"{constraint} (measured: the smallest tolerance that this model keeps)"
    return constraint


def model_text() -> str:
    """Name the audited model: its file or method, and its version by fingerprint once it is audited."""
    if release is None or config.method != GIVEN_PREDICTIONS:
        text = trained_text()
    else:
        text = f"{release.audit.model.title}, {constraint_text()}, seed {config.seed}"
    if release is not None:
        text = f"{text}, model {short_fingerprint(release.audit.model.fingerprint)}"
    register = attacks.subject.plan.register
    if register.model:
        text = f"{register.model_version}: {text}"
    return text


def finding(icon: str, point: str, evidence: str) -> None:
    """Write the verdict, or why there is none, as the page's finding, and under it what was judged by which policy."""
    facts = [
        f"{attacks.subject.table.title}, {state.attribute_of(config)}",
        model_text(),
        f"released: {released(attacks.subject.plan.outputs).lower()}",
        f"policy {policy.name}, version {policy.version}",
    ]
    audited_model = ""
    if release is not None:
        model = release.audit.model
        facts.insert(1, f"{count(release.audit.data.n)} people")
        accuracy = "test accuracy"
        if not release.audit.plan.has_true_sets:
            accuracy = "accuracy, training records perhaps included,"
        facts.append(
            f"{accuracy} {percent(model.accuracy_test)}, majority class {percent(model.majority_test)}"
        )
        if model.kind == "train" or model.beside_majority:
            audited_model = audited_model_text(model)
    sentence = " ".join(filter(None, [audited_model, f"{' · '.join(facts)}.", evidence]))
    with opening:
        shell.finding(f"{icon} {shell.escape(point)}", shell.escape(sentence))


def style(overall: str = "none") -> None:
    """Write the style sheet of the checks, with the colour of the verdict's icon in the finding."""
    st.html(f"<style>{board_style(shell.palette(), overall)}{_STYLE}</style>")


def _policy() -> None:
    shell.whisper(
        "Policy", "Limits that a release must satisfy; a change makes a new verdict, no new attack"
    )
    report_policy.choose_policy(config)
    report_policy.policy_editor(config)
    if release is not None:
        report_audit.file_button(release, "policy.toml")


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


def subject_of(changed: AuditConfig) -> AuditRequest:
    """Audit of a model that is trained by other settings."""
    return report_plan.subject(changed, table, plan_of(config, table))


policy = report_policy.current_policy(config)
planned = replace(plan_of(config, table), register=sign_off.register_plan())
planned = stated_plan(planned, table)
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
    if tested.results and not sign_off.is_in_register(release.document):
        before_the_test = report_audit.judged_reports(attacks, policy, ())
        if sign_off.is_in_register(before_the_test.document):
            release = before_the_test  # what was signed stays on the page
    verdict = release.audit.verdict
    with head:
        report_audit.brief_button(release, testing=tested.busy)
    first = [caveat.text for caveat in verdict.caveats if caveat.kind in _BESIDE_THE_VERDICT]
    finding(report_decision.ICONS[verdict.overall], verdict.headline, " ".join(first))
    style(verdict.overall)
    show_verdict(f"{report_decision.ICONS[verdict.overall]} **{VERDICT_TITLES[verdict.overall]}**")
    for decision in sign_off.decision_lines(release.document):
        opening.markdown(decision)
    conditional = was_confirmed(verdict.caveats)
    if conditional:
        st.html(confirmed_html(verdict.caveats))
    tested.warn()
    trials = report_decision.trials_of(config, verdict, subject_of)
    report_decision.draw_decision(
        release,
        trials,
        tests=tested,
        adopt=partial(release_instead, config, table),
        try_narrower=partial(try_narrower, config),
    )
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        visible = report_decision.draw_filter(release.document.rows)
    with right:
        compared = report_history.chosen(release)
    board_options: dict[str, Any] = {
        "remedies": report_decision.remedy_texts(release.document.candidates),
        "conditional": conditional,
        "to_set": limits_to_set(release.document.rows),
    }
    if compared is not None:
        board_options |= {
            "since": {change.check: since(change) for change in compared.checks},
            "day": compared.since,
        }
    st.html(board_html(visible, **board_options))
    panels.notes(verdict.detail)
    if verdict.caveats:
        st.html(caveats_html(verdict.caveats))
    report_history.below(compared)
    optional = report_decision.for_information(release.document.rows)
    left, middle, right = st.columns(3)
    if optional:
        with left.popover(f"For information: {len(optional)}", key="information", width="stretch"):
            st.html(board_html(optional, **board_options))
    with middle:
        sign_off.draw(release, testing=tested.busy)
    with right.popover(
        "Files: internal, public", icon=":material/folder_open:", key="files", width="stretch"
    ):
        report_audit.downloads(release, tested)
sections: dict[str, tuple[str, Callable[[], Any]]] = {
    "judged": ("Policy and limits", _policy),
    "attacked": ("Audit plan", _plan),
    "stated": ("Purpose and attackers", lambda: statement_form(planned, table)),
    "self_test": ("Self-test", tested.draw),
    "numbers": ("Tables", _numbers),
    "guide": ("How to read this", lambda: st.markdown(GUIDE)),
}
further = panels.further(sections, key="further_release")
if release is not None:
    tested.watch(tested.show_progress, drawn=tested.result)
if further is not None:
    further[1]()
