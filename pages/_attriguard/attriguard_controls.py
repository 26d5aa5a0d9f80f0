"""AttriGuard's controls: whose records are protected, what the noise may do, whom it should mislead; and its run.

Everything is kept in the store of the people it comes from. A move of the slider weighs guesses that are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.base.fingerprint import fingerprint
from core.base.settings import params
from core.datasets.ratings import Ratings
from core.studies import attriguard
from core.studies.attriguard import AttriGuardSettings, Exposure, ProtectedRecords, ratings_subject
from core.studies.attriguard.settings import RATING_DEFENDERS
from core.studies.attriguard.study import AttriGuardStudy
from core.studies.attriguard.table_search import TABLE_DEFENDERS
from core.studies.config import AuditConfig
from core.studies.study import ReportProgress
from core.studies.subject import Subject
from pages._study.study_run import StudyRun
from pages.shell import cached, panels, state
from pages.shell.background import require_result
from pages.shell.controls import bound, control

if TYPE_CHECKING:
    import pandas

_TITLES = {
    "table": "The audited table",
    "google_play": "Google Play ratings",
    "invented": "Synthetic ratings",
    state.OWN_RATINGS: "My ratings",
}

TRAINED_BUDGETS = {"table": (0.1, 0.25, 0.5, 0.75), "ratings": (1.0, 3.0, 5.0)}
"""Noise budgets that adversarial attackers are trained at, over which the slider moves."""

_FIRST_TARGETS = {"table": "uniform", "ratings": "train_shares"}
_DEFENDERS = {"table": TABLE_DEFENDERS, "ratings": RATING_DEFENDERS}

_SETTINGS = params(AttriGuardSettings)
_STEPS = 50  # of the slider


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


def offered() -> list[str]:
    """Return the keys of the data on offer."""
    return [name for name in _TITLES if name != "google_play" or cached.google_play() is not None]


def chosen() -> str:
    """Return the data that are chosen, also before their widget is drawn."""
    name = st.session_state.get("guard_data")
    return str(name) if name in offered() else "table"


def kind() -> str:
    """Return whether the records chosen are of a table or ratings."""
    return "table" if chosen() == "table" else "ratings"


def badge() -> str | None:
    """Return the badge of synthetic people."""
    badges = {"table": None, "invented": "synthetic data"}
    return badges.get(chosen(), "")


def _chosen_records() -> ProtectedRecords:
    """Return the records chosen; ends the page while there are none."""
    name = chosen()
    if name == "table":
        config, table = cached.audited()
        # The study needs the division of the records and the seed; a model is neither trained nor asked.
        division = AuditConfig(dataset=config.dataset, train_share=config.train_share, seed=config.seed)
        return ProtectedRecords(dataset=cached.dataset_of(table, config.roles), config=division)
    return ratings_subject(_own_ratings() if name == state.OWN_RATINGS else cached.ratings_of(name))


def _own_ratings() -> Ratings:
    """Return the session's own ratings, with the box to bring them; ends the page while there are none."""
    panels.upload(
        "Your own ratings (CSV, up to 200 MB)",
        "guard_upload",
        _read_ratings,
        doing="Reading your ratings",
        again=cached.uploaded_data(state.OWN_RATINGS) is None,
        help="Kept in this session's memory only: never written to disk, gone when you reload or close the page. The "
        "memory is freed ten minutes later.",
    )
    ratings: Ratings | None = cached.uploaded_data(state.OWN_RATINGS)
    if ratings is None:
        st.caption(
            "A CSV with a row for each rating and the columns person, item, rating and attribute, the sensitive one. A "
            "person without ratings has one row with an empty item and rating. It stays in this session's memory."
        )
        st.stop()
    st.button("Remove your ratings", key="guard_remove", icon=":material/delete:", on_click=_remove_ratings)
    return ratings


def _remove_ratings() -> None:
    st.session_state["guard_upload_removed"] = True
    cached.store_upload(state.OWN_RATINGS)


def _read_ratings(file: Any) -> None:
    from core.datasets import ratings_from_csv

    cached.store_upload(state.OWN_RATINGS, ratings_from_csv(file.getvalue(), file.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Defended:
    """The records, the settings of their defense but for the budget, and the run of the study."""

    records: ProtectedRecords
    settings: AttriGuardSettings
    run: StudyRun

    def need(self, name: str, label: str, make: Callable[[Callable[[int, int], None]], Any]) -> Any:
        """Return something else about these people, made by a function that reports; waits while it is computed."""
        model = cached.audited()[0] if kind() == "table" else None
        key = fingerprint(name, self.run.key, repr(model))
        return require_result(self.run.store, key, label, lambda job: job.in_subprocess(make))

    def defense_of(self, exposure: Exposure) -> Any:
        """Return the defense that made an exposure; fitted again where the exposure was stored without it."""
        if exposure.defense is not None:
            return exposure.defense

        def make(_: Any) -> Any:
            defense = attriguard.defense_of(self.records.dataset, self.records.config, self.run.settings)
            defense.search()
            return defense

        return self.need("defense", "Fitting the defence again", make)


def defended() -> Defended:
    """Choose records and defense in one row; ends the page while there are no records."""
    places = st.columns([3, 3, 2] if kind() == "table" else [3, 3, 3, 2], vertical_alignment="bottom")
    panels.choose(
        "Records",
        {name: _TITLES[name] for name in offered()},
        key="guard_data",
        help="The settings at the left choose the table and its sensitive attribute; they do not concern ratings.",
        container=places[0],
    )
    below = st.container()
    settings: dict[str, Any] = {**STUDY.command_defaults, "trained_budgets": TRAINED_BUDGETS[kind()]}
    if kind() == "ratings":
        settings["noise_policy"] = control(
            _SETTINGS["noise_policy"],
            "guard_policy",
            container=places[1],
            help="Modify_Add, Modify_Exist and Add_New of the paper. Where changing ratings that are there cannot "
            "mislead the classifier, new ones are added all the same.",
        )
    settings["defender"] = control(
        _SETTINGS["defender"],
        f"guard_defender_{kind()}",
        options=_DEFENDERS[kind()],
        container=places[-2],
        help="The classifier the noise is found against. Attackers may use another one, which it fools less.",
    )
    records = _records(below, places[-1])
    with places[-1].popover("Defence settings", icon=":material/tune:", width="stretch"):
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
    full = replace(changes(records), **settings)
    store = cached.store_of(records.config.dataset if kind() == "table" else chosen())
    run = StudyRun(STUDY, records, full, store)
    return Defended(records=records, settings=replace(full, balanced=balanced), run=run)


def _records(below: DeltaGenerator, column: DeltaGenerator) -> ProtectedRecords:
    """Return the records chosen; a page that ends here, while they are read, keeps its last control, greyed out."""
    records = None
    try:
        with below:
            records = _chosen_records()
    finally:
        if records is None:
            column.button("Defence settings", icon=":material/tune:", width="stretch", disabled=True)
    return records


def changes(records: ProtectedRecords) -> AttriGuardSettings:
    """Return what may change in the table's records, as the section of that name was left."""
    return st.session_state.get(_changes_key(records), AttriGuardSettings())  # type: ignore[no-any-return]


def change(records: ProtectedRecords, settings: AttriGuardSettings) -> None:
    """Note what may change from now on."""
    st.session_state[_changes_key(records)] = settings


def _changes_key(records: ProtectedRecords) -> str:
    return f"guard_changes_{records.dataset.fingerprint}"


def first_budget(exposure: Exposure) -> float:
    """Return where the slider stands at first: what people need on average, of a table half of the axis."""
    last = exposure.last_budget
    if exposure.unit == "columns":
        return last / 2
    return min(max(1.0, round(float(exposure.unlimited_changes.mean()))), last)


def budget(exposure: Exposure) -> float:
    """Return the budget; the slider that sets it stands under its chart."""
    return state.slider_position(_slider_key(exposure), first_budget(exposure), most=exposure.last_budget)


def budget_slider(exposure: Exposure) -> None:
    """Draw the slider of the budget, as wide as the curves above it."""
    last = exposure.last_budget
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
            format="%.1f" if last >= 5 else "%.2f",
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


def by_value(card: pandas.DataFrame) -> pandas.DataFrame:
    """Return a card of many values with a row a value: what changes for it, and how."""
    entry, now, *values = card.columns
    cells = {value: zip(card[entry], card[now], card[value], strict=True) for value in values}
    descriptions = (
        ", ".join(f"{name}: {was} → {after}" for name, was, after in rows if after) for rows in cells.values()
    )
    rows = zip(values, descriptions, strict=True)
    return panels.frame(
        {"target value": value, "what changes": description or "nothing"} for value, description in rows
    )
