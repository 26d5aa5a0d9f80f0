"""The map on the Start page: kept for the built-in demo, made in the background for other tables when asked for."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset, Table
from core.datasets.demo import DEMO_FILE
from core.errors import FairLeakError
from core.wording import in_words
from pages.common import cached, panels, shell
from pages.common.jobs import Job

__all__ = ["KEPT_MAP", "draw_map"]

KEPT_MAP = DEMO_FILE.with_name("demo_landscape.json")
"""The demo's map; ``python -m core landscape --seeds 0-19 --out data/demo_landscape.json`` makes it anew."""


_LESS: dict[str, Any] = {"tolerances": (0.01, 0.05, None), "epsilons": (math.inf, 1.0, 0.1), "seeds": (0, 1, 2)}


def draw_map(config: AuditConfig, table: Table) -> None:
    """Draw the map of a table's models, or offer to make it."""
    dataset = cached.dataset_of(table, config.roles or table.roles[0])
    kept = _kept(config, dataset)
    if kept is not None:
        _draw(kept)
        return
    job = _job(config, dataset)
    busy = job is not None and job.busy
    st.fragment(_made, run_every=1.0 if busy else None)(config, dataset, busy)


def _plan(config: AuditConfig, dataset: AuditDataset) -> Any:
    """Return what the map holds; with more than two groups less, as each correction takes programs of its own."""
    from core.landscape import LandscapePlan

    less = {} if dataset.n_groups == 2 else _LESS
    return LandscapePlan(metric=config.metric, train_share=config.train_share, **less)


def _kept(config: AuditConfig, dataset: AuditDataset) -> Any:
    """Return the map that came with FairLeak if it is one of this table and these settings, else None."""
    if config.dataset != "demo":
        return None
    from dataclasses import replace

    from core.landscape import landscape_key, read_landscape

    try:
        kept = cached.store_of(config.dataset).remember("landscape:kept", lambda: read_landscape(KEPT_MAP))
    except FairLeakError:  # the file is missing or damaged: the map can still be made
        return None
    wanted = replace(_plan(config, dataset), seeds=kept.plan.seeds)
    return kept if kept.made_from == landscape_key(dataset, wanted) else None


def _job(config: AuditConfig, dataset: AuditDataset, *, start: bool = False) -> Job | None:
    """Return the job that makes the map."""
    from core.landscape import landscape, landscape_key, landscape_steps

    plan, store = _plan(config, dataset), cached.store_of(config.dataset)
    key = landscape_key(dataset, plan)
    if not start:
        return store.job(key)

    def work(job: Job) -> Any:
        return landscape(dataset, plan, report=job.report)

    return store.start(key, work, lane="sweep", total=landscape_steps(plan))


def _made(config: AuditConfig, dataset: AuditDataset, running: bool) -> None:
    from core.landscape import landscape_key

    found = cached.store_of(config.dataset).get(landscape_key(dataset, _plan(config, dataset)))
    job = _job(config, dataset)
    if running != (job is not None and job.busy):
        st.rerun()
    if found is not None:
        _draw(found)
        return
    shell.whisper(
        "How fair, how private, and what leaks all the same",
        "A map of models trained on this table: tolerance across, privacy budget down, colour what is recovered",
    )
    if job is not None and job.busy:
        panels.sweep_progress(job, f"{job.done} of {job.total} steps", key="cancel_map")
        return
    if job is not None and job.state == "failed":
        panels.problem(job.error)
    stopped = job is not None and job.state == "cancelled"
    if st.button("Stopped. Make the map" if stopped else "Make the map", key="start_map", icon=":material/play_arrow:"):
        _job(config, dataset, start=True)
        st.rerun()
    plan = _plan(config, dataset)
    cells = len(plan.tolerances) * len(plan.epsilons)
    st.caption(
        f"{cells} kinds of models, {in_words(len(plan.seeds))} seeds each: about a minute for 12,000 people, longer "
        "with more than two groups. The page can be used meanwhile."
    )


def _draw(found: Any) -> None:
    from core.figures import draw_landscape
    from pages.common.starting import words

    drawing = draw_landscape(found, shell.palette())
    point, cell = words.finding(found)
    shell.whisper(point, words.quantity(found) + words.promise(cell))
    panels.chart(drawing, key="start_map_chart")
    st.caption(words.cost(found, cell) + words.unlike_headline(found))
    panels.how_to_read(words.HOW_TO_READ)
    panels.numbers({"Map of fair and private models": drawing.table}, key="start-map")
