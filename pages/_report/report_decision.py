"""The decision on the Report page: what it means for people, what can be done, and the counts that filter the checks.

A remedy is said with its numbers, each beside chance. One of a narrower release was measured within the audit; a model
that would have to be trained first is audited when somebody asks for it, and until then was not tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import streamlit as st

from core.auditing import next_models
from core.auditing.policy import (
    VERDICT_TITLES,
    Alternative,
    CheckVerdict,
    JudgedAlternatives,
    Policy,
    Status,
    Untried,
    Verdict,
    chance_text,
    passing_alternative,
    tries_text,
    unchanged_rows,
    untried_reason,
)
from core.base.serialize import fingerprint
from core.report import Reports, people_html, people_sentences
from core.studies.subject import AuditConfig, OutputsPlan
from pages._report.report_audit import Attacks, SelfTests, judged_reports
from pages._report.report_plan import AuditRequest
from pages.shell import panels, shell, state
from pages.shell.background import ensure_started

ICONS = {
    "fail": ":red[:material/cancel:]",
    "inconclusive": ":yellow[:material/help:]",
    "not_run": ":gray[:material/do_not_disturb_on:]",
    "pass": ":green[:material/check_circle:]",
    "not_attacked": ":gray[:material/remove_circle_outline:]",
}
"""Verdict -> its icon in Markdown."""

_ALL = "all"
_TRIALS = "release_trials"

_MOST_CHANGES = 2
"""Checks whose change stands in the card of a remedy."""

_COST = {
    "labels": "Accuracy stays as it is. Who needs the order of people, or how sure the model is, loses it.",
    "scores": "Labels and accuracy stay as they are. Scores lose their further decimals.",
}
"""What a narrower release costs, by what is still released."""


_UNTRIED = {
    Untried.LABELS_ALONE: "Nothing narrower is left to release",
    Untried.OTHER_CHECKS: "Releasing less does not help",
    Untried.OTHER_POLICY: "Releasing less is yet to be tried",
}
"""Why nothing narrower was tried, beside the heading."""


# Checks ---------------------------------------------------------------------------------------------------------------


def draw_filter(rows: Sequence[CheckVerdict]) -> tuple[CheckVerdict, ...]:
    """Draw the numbers of checks by verdict, which sum to the headline's; return the rows of the chosen one."""
    decisive = [row for row in rows if row.is_decisive]
    counts = Counter(row.display_verdict for row in decisive)
    titles = {_ALL: f"All {len(decisive)}"}
    for verdict, title in VERDICT_TITLES.items():
        if counts[verdict]:
            titles[verdict] = f"{ICONS[verdict]} {title} {counts[verdict]}"
    key = "release_filter"
    if st.session_state.get(key) not in titles:
        panels.forget(key)
    chosen = panels.pick("Checks", titles, key=key, default=_ALL, label_visibility="collapsed")
    if chosen == _ALL:
        unlimited = [row for row in rows if row.limit is None]
        return (*decisive, *unlimited)
    return tuple(row for row in decisive if row.display_verdict == chosen)


def for_information(rows: Sequence[CheckVerdict]) -> tuple[CheckVerdict, ...]:
    """Rows with a limit on which the release does not hang."""
    return tuple(row for row in rows if row.limit is not None and not row.is_decisive)


def remedy_texts(candidates: JudgedAlternatives) -> dict[str, str]:
    """Check that depends on the release -> its number of the narrower one that passes, else of the narrowest tried."""
    if not candidates:
        return {}
    alternative, verdict = passing_alternative(candidates) or candidates[-1]
    title = f"{alternative.title[:1].upper()}{alternative.title[1:]}"
    measured_again = {measurement.check for measurement in alternative.measurements}
    return {
        row.check: f"{title}: {row.value}, {VERDICT_TITLES[row.verdict].lower()}"
        for row in verdict.rows
        if row.measured and row.check in measured_again
    }


# Remedies -------------------------------------------------------------------------------------------------------------


class Trial(Attacks):
    """A model to try in the place of the audited one, attacked beside it: what changes, and its settings."""

    def __init__(self, title: str, config: AuditConfig, subject: AuditRequest) -> None:
        super().__init__(subject, trial=True)
        self.title = title
        self.config = config

    @property
    def is_requested(self) -> bool:
        """Whether this session asked for it."""
        return fingerprint(self.config) in st.session_state.get(_TRIALS, ())

    def ask(self) -> None:
        """Audit it from now on."""
        requested = st.session_state.setdefault(_TRIALS, [])
        if not self.is_requested:
            requested.append(fingerprint(self.config))

    def adopt(self) -> None:
        """Make it the audited model."""
        state.choose_model(self.config)


def trials_of(
    config: AuditConfig, verdict: Verdict, subject_of: Callable[[AuditConfig], AuditRequest]
) -> list[Trial]:
    """Models that may pass where this one does not, of those trained here; goes on with those that were asked for."""
    models = next_models(config, verdict)
    trials = [Trial(title, changed, subject_of(changed)) for title, changed in models.items()]
    requested = [trial for trial in trials if trial.is_requested]
    if requested:
        ensure_started(*requested, patience=0.0)
    return trials


def draw_decision(
    reports: Reports,
    trials: Sequence[Trial],
    *,
    tests: SelfTests,
    adopt: Callable[[OutputsPlan], None],
    try_narrower: Callable[[], None],
) -> None:
    """Draw what the verdict means for people, and beside it what can be done; all the width where nothing has to be."""
    sentences = people_html(people_sentences(reports.document))
    verdict = reports.audit.verdict
    if verdict.overall == Status.PASS:
        st.html(sentences)
        return
    candidates = reports.document.candidates
    passing = passing_alternative(candidates)
    reason = untried_reason(verdict.rows, reports.audit.plan.outputs)
    left, right = st.columns([3, 2], gap="medium")
    left.html(sentences)
    with right, st.container(key="way_out", gap="small"):
        if passing is not None:
            _passing(verdict, *passing)
        elif candidates:
            shell.whisper(
                "What you can do", "Releasing less was measured; none of it is shown to pass"
            )
            _draw_changes(verdict, *candidates[-1])
            st.caption(shell.escape(f"{tries_text(candidates)} {_unchanged_text(verdict)}".strip()))
        else:
            shell.whisper("What you can do", _UNTRIED[reason])
            st.markdown(shell.escape(_untried_text(verdict, reason)))
        with st.container(horizontal=True, gap="small"):
            if passing is not None:
                alternative, _ = passing
                st.button(
                    f"Audit {alternative.title}",
                    key="use_way_out",
                    type="primary",
                    icon=":material/published_with_changes:",
                    on_click=adopt,
                    args=(alternative.outputs,),
                )
            elif not candidates and reason == Untried.OTHER_POLICY:
                st.button(
                    "Try narrower releases",
                    key="use_narrower",
                    type="primary",
                    icon=":material/play_arrow:",
                    on_click=try_narrower,
                )
            rest = [candidate for candidate in candidates if candidate != passing]
            _other_remedies(rest, trials, verdict.policy, tests)


def _passing(verdict: Verdict, alternative: Alternative, narrower: Verdict) -> None:
    """Draw the first narrower release that passes: its numbers beside chance, and what it costs."""
    shell.whisper(
        shell.escape(f"Release {alternative.title}: all checks pass"),
        "What you can do, already measured",
    )
    _draw_changes(verdict, alternative, narrower)
    st.caption(_COST[alternative.outputs.released])


def _draw_changes(verdict: Verdict, alternative: Alternative, narrower: Verdict) -> None:
    """Draw the numbers that a narrower release changes: before, after with its verdict, chance and limit."""
    after = {row.check: row for row in narrower.rows}
    measured_again = {measurement.check for measurement in alternative.measurements}
    changes = [
        f"{shell.escape(row.title)}: **{shell.escape(row.value)} → {shell.escape(after[row.check].value)}** with "
        f"{shell.escape(alternative.title)} ({VERDICT_TITLES[after[row.check].verdict].lower()}), "
        f"chance {shell.escape(chance_text(row.check))}, limit {shell.escape(row.limit_label)}"
        for row in verdict.rows
        if row.blocks and row.measured and row.check in measured_again
    ]
    more = len(changes) - _MOST_CHANGES
    if more > 0:
        changes = [*changes[:_MOST_CHANGES], f"And {more} more, each in its row below."]
    st.markdown("  \n".join(changes))


def _untried_text(verdict: Verdict, reason: Untried) -> str:
    """Return why no narrower release was tried, and what then."""
    if reason == Untried.LABELS_ALONE:
        return "Labels alone are released; nothing narrower is left to try."
    if reason == Untried.OTHER_POLICY:
        return (
            "The audit was run by another policy. By this one, releasing less is yet to be tried."
        )
    return _unchanged_text(verdict)


def _unchanged_text(verdict: Verdict) -> str:
    """Return what no release changes, in a sentence; empty where that keeps nothing back."""
    unchanged = [
        f"{row.title} ({VERDICT_TITLES[row.verdict]})" for row in unchanged_rows(verdict.rows)
    ]
    if not unchanged:
        return ""
    return f"A narrower release does not change: {' · '.join(unchanged)}."


def _other_remedies(
    rest: JudgedAlternatives, trials: Sequence[Trial], policy: Policy, tests: SelfTests
) -> None:
    """Draw the remedies beside the first, in a popover: releases that were tried, models that can be."""
    count = len(rest) + len(trials)
    if not count:
        return
    with (
        st.popover(f"Other remedies: {count}", key="other_remedies"),
        st.container(key="remedies"),
    ):
        for alternative, verdict in rest:
            icon = ICONS[verdict.overall]
            title = f"{alternative.title[:1].upper()}{alternative.title[1:]}"
            st.markdown(f"{icon} **{title}**: {shell.escape(verdict.headline)}")
        for trial in trials:
            _draw_trial(trial, policy, tests)


def _draw_trial(trial: Trial, policy: Policy, tests: SelfTests) -> None:
    """Draw a model to try: a button, how far its audit is, or its verdict with a button that adopts it."""
    mark = fingerprint(trial.config)[:8]
    if trial.result is not None:
        verdict = judged_reports(trial, policy, tests.results).audit.verdict
        st.markdown(
            f"{ICONS[verdict.overall]} **Train with {trial.title}**: {shell.escape(verdict.headline)}"
        )
        st.button("Audit this model", key=f"use_trial_{mark}", on_click=trial.adopt)
        return
    progress = "being tried" if trial.is_requested else "not tried yet"
    st.markdown(f":gray[:material/science:] **Train with {trial.title}**: {progress}.")
    if not trial.is_requested:
        st.button("Try it", key=f"use_try_{mark}", on_click=trial.ask)
        return
    trial.watch(trial.show_progress)
