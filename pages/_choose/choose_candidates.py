"""The comparison of models in the background of the page, and what follows it.

That is the list of candidates, the model that is audited, and the command that repeats the choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core.auditing import plan_text
from core.auditing.policy import VERDICT_TITLES, Policy, policy_text
from core.base.fingerprint import fingerprint
from core.base.settings import flags_text
from core.experiments.choose import (
    Candidate,
    CandidatePoint,
    CandidateSet,
    Choice,
    ChooseSettings,
    measure_all,
)
from core.experiments.choose.findings import leak_text, order, report_section, short_check
from core.experiments.store import point_key
from core.models import GIVEN_PREDICTIONS, PRIVATE_METHODS, TOLERANCE_METHODS
from core.stats.estimates import epsilon_text, percent, tolerance_text
from pages._choose.choose_controls import METHOD_NAMES
from pages._report import report_plan
from pages.shell import cached, panels, shell, state
from pages.shell.background import Background, Job, pace

_MOST_LISTED = 24
"""Rows of the table beside the chart at most; the file has all."""

_VERDICTS = {
    "pass": ":green[:material/check_circle:] Pass",
    "fail": ":red[:material/cancel:] Fail",
    "inconclusive": ":orange[:material/help:] Inconclusive",
    "not_run": ":gray[:material/do_not_disturb_on:] Not run",
}


def short_title(point: CandidatePoint) -> str:
    """Name of a candidate in a narrow column, without its depth: "Exp. gradient 0.05"."""
    config = point.config
    if point.name:
        return point.name
    name = METHOD_NAMES[config.method]
    if config.method in TOLERANCE_METHODS:
        name = f"{name} {tolerance_text(config.tolerance)}"
    if config.method in PRIVATE_METHODS:
        name = f"{name} ε = {epsilon_text(config.epsilon)}"
    return name


def draw_table(choice: Choice) -> None:
    """Draw the best candidates, the chosen one in bold."""
    import pandas as pd

    title, full = order(choice)
    count_note = ""
    if len(choice.candidates) > _MOST_LISTED:
        count_note = f"; the first {_MOST_LISTED} are shown"
    shell.whisper(
        title,
        f"On the half that chooses: {full}{count_note}. The finding's test accuracy is from the half that judges",
    )
    with st.container(key="choose_table"):
        rows = [_table_row(choice, candidate) for candidate in choice.candidates[:_MOST_LISTED]]
        st.table(pd.DataFrame(rows), hide_index=True)


def _table_row(choice: Choice, candidate: Candidate) -> dict[str, str]:
    first = candidate.points[0]
    half = candidate.choosing
    bold = "**" if candidate is choice.chosen else ""
    row = {"Model": f"{bold}{shell.escape(short_title(first))}{bold}"}
    if not first.name:
        row["Depth"] = str(first.config.depth)
    row["Acc."] = f"{bold}{percent(half.accuracy)}{bold}"
    attack = short_check(half.leaking, choice.attribute).partition(" (")[0]
    row["Worst leak"] = f"**{leak_text(half.leak)}** {shell.escape(attack)}"
    if choice.prefer == "leak" and candidate in choice.leak_more:
        row["Worst leak"] += ", shown to leak more"
    row["Verdict"] = _VERDICTS.get(half.status, VERDICT_TITLES[half.status])
    if half.blocking:
        row["Verdict"] += f": {shell.escape(short_check(half.blocking[0].check, choice.attribute))}"
    return row


# The model that is audited --------------------------------------------------------------------------------------------


def choose_audited(
    choice: Choice, candidate_sets: list[CandidateSet], policy: Policy, table_fingerprint: str
) -> None:
    """Choose a candidate, and make it the audited model by a button that opens its Report."""
    options = {
        title: _short_label(candidate) if title else "The model named above"
        for title, candidate in _candidates_by_title(choice).items()
    }
    panels.choose(
        "Model to audit", options, key="choose_audited", label_visibility="collapsed", width=260
    )
    arguments = (choice, candidate_sets, policy, table_fingerprint)
    st.button(
        "Audit this model", key="audit_chosen", type="primary", on_click=_audit, args=arguments
    )


def _candidates_by_title(choice: Choice) -> dict[str, Candidate]:
    """Candidates by their titles; the one that the finding names has none and stands first."""
    return {"": choice.chosen} | {candidate.title: candidate for candidate in choice.candidates}


def _short_label(candidate: Candidate) -> str:
    """Name of a candidate in a list: "Exp. gradient 0.05, depth 4"."""
    first = candidate.points[0]
    if first.name:
        return first.name
    return f"{short_title(first)}, depth {first.config.depth}"


def _audit(
    choice: Choice, candidate_sets: list[CandidateSet], policy: Policy, table_fingerprint: str
) -> None:
    """Make the candidate of the list the audited model; the page then opens its Report."""
    picked = _candidates_by_title(choice).get(st.session_state["choose_audited"], choice.chosen)
    first = picked.points[0]
    config = first.config
    if config.method != GIVEN_PREDICTIONS:
        values: dict[str, Any] = {
            "method": config.method,
            "tolerance": config.tolerance,
            "depth": config.depth,
            "seed": config.seed,
        }
        if config.method in PRIVATE_METHODS:
            values["epsilon"] = config.epsilon
        for name, value in values.items():
            state.choose(name, value)
    elif config.roles is not None:
        state.keep_roles(state.dataset_name(), config.roles)
    if len(choice.candidates) > 1:
        outputs = next(item.plan.outputs for item in candidate_sets if item.name == first.name)
        section = report_section(choice, picked)
        st.session_state[report_plan.CHOSEN] = (
            config,
            table_fingerprint,
            (outputs, policy),
            section,
        )
    st.session_state["choose_report"] = True


# The command ----------------------------------------------------------------------------------------------------------


def offer_command(
    candidate_set: CandidateSet, policy: Policy, settings: ChooseSettings, effect: str
) -> None:
    """Offer the files and the command that make the same choice; `effect` says what the command does."""
    table_file = candidate_set.plan.data.file
    plan = replace(candidate_set.plan, policy="policy.toml")
    seeds = ",".join(map(str, dict.fromkeys(config.seed for config in candidate_set.configs)))
    if table_file:
        beside = f" beside your table, `{shell.escape(table_file)}`"
    else:
        beside = ""
    with st.popover("Repeat it", icon=":material/terminal:", key="choose_repeat"):
        st.markdown(
            f"Save both files{beside}. The command {effect}; the model's plan is then in chosen.toml."
        )
        with st.container(horizontal=True):
            panels.download(
                "choose.toml", lambda: plan_text(plan).encode(), "choose.toml", key="choose_plan"
            )
            panels.download(
                "policy.toml",
                lambda: policy_text(policy).encode(),
                "policy.toml",
                key="choose_policy_file",
            )
        command = (
            f"fairleak choose choose.toml -o chosen.toml --seeds {seeds} {flags_text(settings)}"
        )
        st.code(command, language="bash", wrap_lines=True)
        st.caption(
            "Not installed? In FairLeak's folder, `.venv/bin/python -m core` stands for `fairleak`; give both files "
            "with their whole paths."
        )


_JOBS = 2


class ChooseRun(Background):
    """Candidates measured one after the other; those that are stored already are not measured again."""

    def __init__(
        self, candidate_sets: Sequence[CandidateSet], minutes: float, dataset_name: str
    ) -> None:
        self.candidate_sets = list(candidate_sets)
        self.minutes = minutes
        self.dataset_name = dataset_name
        self.points: Any = None
        self.left: list[CandidateSet] = []
        parts = [
            [item.name, item.dataset.fingerprint, list(item.configs), list(item.measure.parts)]
            for item in candidate_sets
        ]
        total = sum(len(candidate_set.configs) for candidate_set in candidate_sets)
        store = cached.store_of(dataset_name)
        super().__init__(
            "choose",
            store,
            fingerprint("choose", parts, minutes),
            self._run,
            lane="sweep",
            total=total,
        )

    def initial_partial(self) -> list[CandidatePoint]:
        """Return the stored points of these models, and note which models have none."""
        self.points = cached.point_store(self.dataset_name)  # the job may not call Streamlit
        self.left = []
        finished: list[CandidatePoint] = []
        for candidate_set in self.candidate_sets:
            missing = []
            for config in candidate_set.configs:
                key = point_key(
                    config, candidate_set.dataset, CandidatePoint, *candidate_set.measure.parts
                )
                point = self.points.load(key, CandidatePoint)
                if point is None:
                    missing.append(config)
                else:
                    finished.append(point)
            if missing:
                self.left.append(replace(candidate_set, configs=missing))
        return finished

    def recall(self) -> None:
        """Take the result from the stored points, where that is all of it: nothing has to wait for a place."""
        if self.result is None and not self.busy:
            points = self.initial_partial()
            if not self.left:
                self.store.put(self.key, points)

    @property
    def progress(self) -> str:
        """How many of the models are measured: "12 of 18 models"."""
        return f"{len(self.result or self.partial)} of {self.total} models"

    def show_progress(self) -> None:
        """Show how far it is, with a button that stops it, or that goes on."""
        label = f"Stopped after {self.progress}. Go on"
        self.show(lambda job: f"{self.progress} done, {pace(job)}", label, again="Try again")

    def _run(self, job: Job) -> list[CandidatePoint]:
        if not self.left:
            return list(job.partial)
        return job.collect(
            measure_all(self.left, seconds=60 * self.minutes, n_jobs=_JOBS, store=self.points)
        )
