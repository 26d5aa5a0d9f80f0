"""Parts of pages: a chart with its text and numbers, a progress bar that waits for a job, a problem in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import streamlit as st

from core.csv_table import csv_of_frame
from pages.common import shell, state
from pages.common.background import Job, Store, Work

if TYPE_CHECKING:
    import pandas

    from core.figures import Drawing


def problem(sentence: str, *, point: str = "") -> None:
    """Say what is wrong, in one sentence, or with its point in bold before it."""
    bold = f"**{shell.escape(point)}** " if point else ""
    st.warning(bold + shell.escape(sentence), icon=":material/error:")


def need(store: Store, key: str, label: str, work: Work, *, lane: str = "audit") -> Any:
    """Return a result of the store, or start the work and show its progress instead of the rest of the page."""
    found = store.get(key)
    if found is not None:
        return found
    job = store.job(key)
    if job is None or job.state == "finished":  # finished, but since dropped from the store
        job = store.start(key, work, lane=lane)
        job.wait(0.15)
        if job.state == "finished":
            return store.get(key)
    if job.state == "failed":
        problem(job.error)
        _again(store, key, "Try again")
        if state.dataset_name() != state.default("dataset"):
            st.button("Use the built-in demo", key="use_demo", on_click=_use_demo, icon=":material/undo:")
    elif job.state == "cancelled":
        st.info("Stopped before it was finished.", icon=":material/stop_circle:")
        _again(store, key, "Start again")
    else:
        _progress(store, key, label)
    st.stop()


def _use_demo() -> None:
    st.session_state["dataset"] = state.default("dataset")


def _again(store: Store, key: str, label: str) -> None:
    if st.button(label, key=f"again_{key[:16]}", icon=":material/refresh:"):
        store.forget(key)
        st.rerun()


@st.fragment(run_every=0.4)
def _progress(store: Store, key: str, label: str) -> None:
    job = store.job(key)
    if job is None or not job.busy:
        st.rerun()
    left, right = st.columns([5, 1], vertical_alignment="center")
    left.progress(job.share, text=f"{label}{_stage(job)}")
    right.button("Cancel", key=f"cancel_{key[:16]}", on_click=job.cancel, width="stretch", disabled=job.stopping)


def _stage(job: Job) -> str:
    if job.stopping:
        return ": stopping after this step"
    if job.state == "waiting":
        return ": waiting for another audit on this server"
    return f": step {min(job.done + 1, job.total)} of {job.total}" if job.total else ""


def choose_columns() -> NoReturn:
    """Send the user of a fresh table to the Data page."""
    st.info("Your table is here. Say on the Data page which column is the label and which the sensitive attribute.")
    st.page_link("pages/data.py", label="Choose the columns", icon=":material/table_rows:")
    st.stop()


def job_state(job: Job | None, name: str, total: int, start: Callable[[], Any]) -> list[Any]:
    """Show how far a job is and offer to stop or start it; returns the results that are there."""
    points = [] if job is None else list(job.partial)
    if job is not None and job.busy:
        sweep_progress(job, f"{len(points)} of {job.total} models attacked", key=f"cancel_{name}")
    elif job is None or job.state != "finished":
        if job is not None and job.state == "failed":
            problem(job.error)
        label = f"Stopped after {len(points)} models. Go on" if job else f"Train and attack {total} models"
        if st.button(label, key=f"start_{name}", icon=":material/play_arrow:"):
            start()
            st.rerun()
    return points


def sweep_progress(job: Job, done: str, *, key: str = "cancel_sweep") -> None:
    """Show how far a sweep is, with a button that stops it."""
    bar, button = st.columns([5, 1], vertical_alignment="center")
    left = "waiting for other work on this server" if job.state == "waiting" else time_left(job)
    bar.progress(job.share, text=f"{done}, {'stopping' if job.stopping else left}")
    button.button("Cancel", key=key, on_click=job.cancel, width="stretch", disabled=job.stopping)


def growing(jobs: Sequence[Job | None], *, stop: Callable[[], None]) -> None:
    """Show how far the curves of a chart are, with a button that stops them."""
    busy = [job for job in jobs if job is not None and job.busy]
    if not busy:
        return
    done, total = (sum(values) for values in zip(*((job.done, job.total) for job in busy), strict=True))
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(done / total if total else 0.0, text=f"{done} of {total} points of the curves")
    halting = all(job.stopping for job in busy)
    button.button("Cancel", key="cancel_curves", width="stretch", disabled=halting, on_click=stop)


def stopped_curves(go_on: Callable[[], None]) -> None:
    """Offer to go on with curves that were stopped."""
    if st.button("Stopped. Go on with the curves", key="start_curves", icon=":material/play_arrow:"):
        go_on()
        st.rerun()


def time_left(job: Job, *, but_first: bool = False) -> str:
    """Say how long a job will take, if need be without counting a first step that takes longer than others."""
    seconds = job.remaining(but_first=but_first)
    if seconds is None:
        return "time left not known yet"
    return f"about {seconds:.0f} s left" if seconds < 90 else f"about {seconds / 60:.0f} min left"


def chart(drawing: Drawing, key: str) -> None:
    """Show a chart with its alternative text."""
    st.plotly_chart(
        drawing.figure,
        theme=None,
        key=key,
        alt=drawing.alt,
        config={"displayModeBar": False, "scrollZoom": False},
    )


def how_to_read(text: str) -> None:
    """Offer an explanation, folded."""
    with st.expander("How to read this", icon=":material/help:"):
        st.markdown(text)


def numbers(tables: dict[str, pandas.DataFrame], key: str) -> None:
    """Offer the numbers behind the charts as tables and CSV, folded; drawn only once unfolded."""
    box = st.expander("Numbers and CSV", icon=":material/table:", key=f"numbers_{key}", on_change="rerun")
    if not box.open:
        return
    with box:
        for i, (name, table) in enumerate(tables.items()):
            st.markdown(f"**{shell.escape(name)}**")
            st.dataframe(table, hide_index=True, height="content" if len(table) <= 8 else 300)
            st.download_button(
                "CSV",
                data=partial(csv_of_frame, table),
                file_name=f"fairleak-{key}-{i + 1}.csv",
                mime="text/csv",
                key=f"csv_{key}_{i}",
                icon=":material/download:",
                on_click="ignore",
            )
