"""Whose private attribute is at stake: the people of the audited table, or people who rated things."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.datasets.ratings import Ratings
from core.errors import InputError
from pages.common import cached, panels, state, wording
from pages.common.background import Store

_TITLES = {
    "table": "The audited table",
    "google_play": "Google Play ratings",
    "invented": "Invented ratings",
    state.OWN_RATINGS: "My ratings",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Who is protected, and from whose data everybody learns: ratings, or the audited table with its settings.

    `data` is what was chosen, `attribute` the private one; in `store` is kept all that follows from these people.
    """

    data: str
    attribute: str
    values: tuple[str, ...]
    store: Store
    ratings: Ratings | None = field(default=None, repr=False)
    config: AuditConfig | None = field(default=None, repr=False)
    dataset: AuditDataset | None = field(default=None, repr=False)

    @property
    def fingerprint(self) -> tuple[Any, ...]:
        """What tells these people, and who knows whom, from others."""
        if self.ratings is not None:
            return (self.ratings.fingerprint,)
        assert self.dataset is not None and self.config is not None
        return self.dataset.fingerprint, self.config.train_share, self.config.seed


def offered() -> list[str]:
    """Return the keys of the data on offer."""
    return [name for name in _TITLES if name != "google_play" or cached.google_play() is not None]


def chosen() -> str:
    """Return the data that are chosen, also before their widget is drawn."""
    name = st.session_state.get("guard_data")
    return str(name) if name in offered() else "table"


def badge() -> str:
    """Return the badge of invented people."""
    name = chosen()
    if name == "table":
        return wording.synthetic_badge(state.dataset_name())
    return "synthetic data" if name == "invented" else ""


def choose(place: DeltaGenerator) -> None:
    """Choose the data."""
    panels.choose(
        "Data",
        {name: _TITLES[name] for name in offered()},
        key="guard_data",
        help="The settings at the left choose the table and its sensitive attribute; they do not concern ratings.",
        place=place,
    )


def people() -> People:
    """Return the people chosen; ends the page while there are none."""
    name = chosen()
    if name == "table":
        config, table = cached.audited()
        dataset = cached.dataset_of(table, config.roles or table.roles[0])
        return People(
            data=name,
            attribute=dataset.roles.attribute,
            values=dataset.group_names,
            store=cached.store_of(config.dataset),
            config=config,
            dataset=dataset,
        )
    ratings = _own() if name == state.OWN_RATINGS else cached.ratings_of(name)
    store = cached.store_of(name)
    return People(data=name, attribute=ratings.attribute, values=ratings.values, store=store, ratings=ratings)


def _own() -> Ratings:
    """Return the session's own ratings, with the box to bring them; ends the page while there are none."""
    _box()
    ratings: Ratings | None = cached.own(state.OWN_RATINGS)
    if ratings is None:
        st.caption(
            "One table with a line a rating and the columns user, item, rating and the private attribute (CSV), the "
            "four files train_user.txt, train_label.txt, test_user.txt and test_label.txt with sparse lines "
            "item:rating, or a zip archive of either. They stay in this session's memory."
        )
        st.stop()
    return ratings


def _box() -> None:
    files = st.file_uploader(
        "Your own ratings (up to 200 MB)",
        key="guard_upload",
        accept_multiple_files=True,
        on_change=panels.forget,
        args=("guard_problem",),
        help="Kept in this session's memory only: never written to disk, gone ten minutes after you close the page.",
    )
    handed = [file.file_id for file in files or []]
    lost = cached.own(state.OWN_RATINGS) is None and "guard_problem" not in st.session_state
    if files and (lost or st.session_state.get("guard_read") != handed):
        _read(files, handed)
    panels.kept_problem("guard_problem")
    if cached.own(state.OWN_RATINGS) is not None:
        icon, of_ratings = ":material/delete:", (state.OWN_RATINGS,)
        st.button("Remove your ratings", key="guard_remove", icon=icon, on_click=cached.drop_own, args=of_ratings)


def _read(files: Any, handed: list[str]) -> None:
    from core.datasets import ratings_from_files

    st.session_state["guard_read"] = handed
    try:
        with st.spinner("Reading your ratings"):
            ratings = ratings_from_files({file.name: file.getvalue() for file in files})
    except InputError as error:
        refused = _refused(files) if len(files) > 1 else ""
        st.session_state["guard_problem"] = refused or str(error)
        return
    except MemoryError:
        st.session_state["guard_problem"] = "The ratings do not fit into memory; use fewer people or items."
        return
    cached.keep_own(state.OWN_RATINGS, ratings)


def _refused(files: Any) -> str:
    """Say which files to remove if there is one that can be used alone; empty if there is not."""
    from core.datasets import ratings_from_files

    problems = {}
    for file in files:
        try:
            ratings_from_files({file.name: file.getvalue()})
        except InputError as error:
            problems[file.name] = str(error)
    if not problems or len(problems) == len(files):
        return ""
    named = ", ".join(f"“{name}”" for name in problems)
    return f"Remove {named} first, which cannot be used: the ratings are one table, one zip archive or the four files."
