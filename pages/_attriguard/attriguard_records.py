"""Whose records AttriGuard protects: the audited table's, built-in ratings, or ratings of one's own."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.datasets.ratings import Ratings
from core.studies.attriguard import ProtectedRecords, ratings_subject
from core.studies.config import AuditConfig
from pages.shell import cached, panels, state
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
