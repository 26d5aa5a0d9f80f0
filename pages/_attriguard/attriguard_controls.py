"""AttriGuard's controls: whose records are protected, what the noise may do and whom it should mislead; and the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.base.serialize import fingerprint
from core.base.settings import params
from core.datasets.ratings import Ratings
from core.studies import attriguard
from core.studies.attriguard import AttriGuardSettings, Exposure, ProtectedRecords, ratings_subject
from core.studies.attriguard.result import RATING_DEFENDERS
from core.studies.attriguard.study import AttriGuardStudy
from core.studies.attriguard.table_search import TABLE_DEFENDERS
from core.studies.study import ReportProgress
from core.studies.subject import AuditConfig, Subject
from pages.shell import cached, panels, state
from pages.shell.background import require_result
from pages.shell.controls import bound, control
from pages.shell.study_jobs import StudyRun
from pages.shell.upload import LOST_ON_RELOAD

_TITLES = {
    "table": "The audited table",
    "google_play": "Google Play ratings",
    "invented": "Synthetic ratings",
    state.OWN_RATINGS: "My ratings",
}


def offered() -> dict[str, str]:
    """Return the records on offer: key -> title."""
    titles = dict(_TITLES)
    if cached.google_play() is None:
        del titles["google_play"]
    return titles


def selected() -> str:
    """Return the key of the records that are selected, also before their widget is drawn."""
    name = st.session_state.get("guard_data")
    if name not in offered():
        return "table"
    return str(name)


def kind() -> str:
    """Return whether the records are of a "table" or "ratings"."""
    if selected() == "table":
        return "table"
    return "ratings"


def badge() -> str | None:
    """Return the badge of synthetic people; None for the audited table, whose badge the page's head knows."""
    badges = {"table": None, "invented": "synthetic data"}
    return badges.get(selected(), "")


def selected_records() -> ProtectedRecords:
    """Return the records selected; ends the page while there are none."""
    name = selected()
    if name == "table":
        config, table = cached.audited()
        # The study needs the division of the records and the seed; a model is neither trained nor asked.
        division = AuditConfig(
            dataset=config.dataset, train_share=config.train_share, seed=config.seed
        )
        return ProtectedRecords(dataset=cached.dataset_of(table, config.roles), config=division)
    if name == state.OWN_RATINGS:
        return ratings_subject(_own_ratings())
    return ratings_subject(cached.ratings_of(name))


def _own_ratings() -> Ratings:
    """Return the session's own ratings, with the box to bring them; ends the page while there are none."""
    panels.upload(
        "Your own ratings (CSV, up to 200 MB)",
        "guard_upload",
        _read_ratings,
        doing="Reading your ratings",
        again=cached.uploaded_data(state.OWN_RATINGS) is None,
        help="Kept in this session's memory only: never written to disk, and freed ten minutes after the page is "
        "closed.",
    )
    st.caption(LOST_ON_RELOAD)
    ratings: Ratings | None = cached.uploaded_data(state.OWN_RATINGS)
    if ratings is None:
        st.caption(
            "A CSV with a row for each rating and the columns person, item, rating and attribute, the sensitive one. A "
            "person without ratings has one row with an empty item and rating."
        )
        st.stop()
    st.button(
        "Remove your ratings",
        key="guard_remove",
        icon=":material/delete:",
        on_click=_remove_ratings,
    )
    return ratings


def _remove_ratings() -> None:
    st.session_state["guard_upload_removed"] = True
    cached.store_upload(state.OWN_RATINGS)


def _read_ratings(file: Any) -> None:
    from core.datasets import ratings_from_csv

    cached.store_upload(state.OWN_RATINGS, ratings_from_csv(file.getvalue(), file.name))


class CurvesStudy(AttriGuardStudy):
    """The study, with the curves over the budget made where it runs."""

    def run(
        self,
        subject: Subject | ProtectedRecords,
        settings: AttriGuardSettings,
        report: ReportProgress | None = None,
    ) -> Iterator[Exposure]:
        """Yield each result once its curves are there."""
        for exposure in super().run(subject, settings, report):
            _ = exposure.curves
            yield exposure


STUDY = CurvesStudy()


class GuardRun(StudyRun):
    """The study of some records. Balanced accuracy is counted from the same guesses, so it starts no other run."""

    def __init__(
        self,
        records: ProtectedRecords,
        settings: AttriGuardSettings,
        dataset_name: str,
        *,
        balanced: bool,
    ) -> None:
        super().__init__(STUDY, records, settings, cached.store_of(dataset_name))
        self.records = records
        self.drawn_settings = replace(settings, balanced=balanced)

    @property
    def is_ratings(self) -> bool:
        """Whether the records are ratings, and not rows of the audited table."""
        return isinstance(self.records.dataset, Ratings)

    def exposure(self) -> Exposure:
        """Return the newest result; ends the page, which shows how far it is, while there is none."""
        exposure: Exposure = self.first(self.show_progress)
        return exposure

    def defense_of(self, exposure: Exposure) -> Any:
        """Return the defense that made an exposure; fitted again where the exposure was stored without it."""
        if exposure.defense is not None:
            return exposure.defense

        def make(_: Any) -> Any:
            defense = attriguard.defense_of(
                self.records.dataset, self.records.config, self.settings
            )
            defense.search()
            return defense

        return self.require("defense", "Fitting the defence again", make)

    def require(self, name: str, label: str, make: Callable[[ReportProgress], Any]) -> Any:
        """Return something else about these people, made by a function that reports; waits while it is computed."""
        model = None if self.is_ratings else cached.audited()[0]
        key = fingerprint(name, self.key, repr(model))
        return require_result(self.store, key, label, lambda job: job.in_subprocess(make))


TRAINED_BUDGETS = {"table": (0.1, 0.25, 0.5, 0.75), "ratings": (1.0, 3.0, 5.0)}
"""Noise budgets that adversarial attackers are trained at, over which the slider moves."""

_FIRST_TARGETS = {"table": "uniform", "ratings": "train_shares"}
_DEFENDERS = {"table": TABLE_DEFENDERS, "ratings": RATING_DEFENDERS}

_SETTINGS = params(AttriGuardSettings)
_STEPS = 50  # of the slider


def guard_run() -> GuardRun:
    """Choose records and defense in one row; return the study's run. Ends the page while there are no records."""
    widths = {"table": [3, 3, 2], "ratings": [3, 3, 3, 2]}
    columns = st.columns(widths[kind()], vertical_alignment="bottom", gap="medium")
    first = columns[0]
    last = columns[-1]
    panels.choose(
        "Records",
        offered(),
        key="guard_data",
        help="The settings at the left choose the table and its sensitive attribute; they do not concern ratings.",
        container=first,
    )
    below = st.container()
    settings: dict[str, Any] = {
        **STUDY.command_defaults,
        "trained_budgets": TRAINED_BUDGETS[kind()],
    }
    if kind() == "ratings":
        settings["noise_policy"] = control(
            _SETTINGS["noise_policy"],
            "guard_policy",
            container=columns[1],
            help="Modify_Add, Modify_Exist and Add_New of the paper. Where changing ratings that are there cannot "
            "mislead the classifier, new ones are added all the same.",
        )
    settings["defender"] = control(
        _SETTINGS["defender"],
        f"guard_defender_{kind()}",
        options=_DEFENDERS[kind()],
        container=columns[-2],
        help="The classifier the noise is found against. Attackers may use another one, which it fools less.",
    )
    records = _records(below, last)
    with last.popover("Defence settings", icon=":material/tune:", width="stretch"):
        settings["target"] = control(
            _SETTINGS["target"],
            f"guard_target_{kind()}",
            label="Target distribution p",
            value=_FIRST_TARGETS[kind()],
            help=f"What attackers should infer as {records.attribute}.",
        )
        settings["margin"] = control(
            _SETTINGS["margin"],
            "guard_margin",
            "select_slider",
            options=[0.0, 0.5, 1.0, 1.5, 2.0, 3.0],
            help="By how much the target value's score must lead. Noise with a margin is larger and fools other "
            "kinds of attackers more often.",
        )
        balanced = control(
            _SETTINGS["balanced"],
            "guard_balanced",
            help="Balanced accuracy: the mean of the accuracies among the people of each value.",
        )
    dataset_name = selected()
    if kind() == "table":
        dataset_name = records.config.dataset
    return GuardRun(
        records, replace(allowed_changes(records), **settings), dataset_name, balanced=balanced
    )


def _records(below: DeltaGenerator, last: DeltaGenerator) -> ProtectedRecords:
    """Return the records selected; while they are read, the row keeps its last control, greyed out."""
    records = None
    try:
        with below:
            records = selected_records()
    finally:
        if records is None:
            last.button("Defence settings", icon=":material/tune:", width="stretch", disabled=True)
    return records


# What may change, as the section below was left -----------------------------------------------------------------------


def allowed_changes(records: ProtectedRecords) -> AttriGuardSettings:
    """Return what may change in the table's records."""
    return st.session_state.get(_changes_key(records), AttriGuardSettings())  # type: ignore[no-any-return]


def allow_changes(records: ProtectedRecords, settings: AttriGuardSettings) -> None:
    """Note what may change from now on."""
    st.session_state[_changes_key(records)] = settings


def _changes_key(records: ProtectedRecords) -> str:
    return f"guard_changes_{records.dataset.fingerprint}"


# The budget -----------------------------------------------------------------------------------------------------------


def first_budget(exposure: Exposure) -> float:
    """Return where the slider stands at first: what people need on average, of a table half of the axis."""
    last = exposure.last_budget
    if exposure.unit == "columns":
        return last / 2
    return min(max(1.0, round(float(exposure.unlimited_changes.mean()))), last)


def budget(exposure: Exposure) -> float:
    """Return the budget; the slider that sets it stands under its chart."""
    return state.slider_position(
        _slider_key(exposure), first_budget(exposure), most=exposure.last_budget
    )


def budget_slider(exposure: Exposure) -> None:
    """Draw the slider of the budget, as wide as the curves above it."""
    last = exposure.last_budget
    written = "%.1f" if last >= 5 else "%.2f"
    with st.container(key="guard_budget"):
        bound(
            _SETTINGS["budget"],
            _slider_key(exposure),
            "slider",
            label=f"Noise budget β (mean {exposure.unit} changed per person)",
            help="0 = records unchanged. Larger hides more and distorts more.",
            max_value=last,
            value=float(first_budget(exposure)),
            step=last / _STEPS,
            format=written,
        )


def _slider_key(exposure: Exposure) -> str:
    return f"guard_budget_{round(10 * exposure.last_budget)}"


def follow(value: float) -> None:
    """Draw the section below again if the slider, which draws the charts only, has left the budget it stands at."""
    if st.session_state.get("guard_below") not in (None, value):
        st.rerun()


def stand(value: float | None) -> None:
    """Note the budget at which the section below is drawn; None if it does not depend on it."""
    st.session_state["guard_below"] = value
