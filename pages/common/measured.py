"""Models measured in the background: jobs that train many of them, keep each as it is finished, and can be resumed.

Finished models of built-in data are kept on disk, where the command line keeps them too; those of a user's own table
only in the memory of its session.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.errors import InputError
from core.fingerprint import fingerprint
from pages.common.cached import store_of
from pages.common.jobs import Job, Store
from pages.common.state import UPLOAD

__all__ = [
    "leak_job",
    "point_store",
    "points_job",
    "summary_of",
    "sweep_job",
    "sweep_rows",
    "tuned",
    "tuning_job",
]


def sweep_job(
    config: AuditConfig, dataset: AuditDataset, configs: list[AuditConfig], *, start: str = "no"
) -> Job | None:
    """Return the job that trains one model a tolerance and seed.

    Parameters
    ----------
    config : AuditConfig
        The audit on the page.
    configs : list of AuditConfig
        What is trained.
    start : {"no", "first", "again"}
        Whether to start it: never, unless it or one like it was started before for this audit, or anew.
    """
    store = store_of(config.dataset)
    if start == "first":
        begun = fingerprint("sweeps begun", dataset.fingerprint, config)
        start = "no" if store.get(begun) else "again"
        store.put(begun, True)
    return points_job("sweep", configs, dataset, start=start == "again")


def points_job(name: str, configs: list[AuditConfig], dataset: AuditDataset, *, start: bool = False) -> Job | None:
    """Return the job that measures these configurations, begun with what is kept from earlier ones."""
    from core.sweep import SweepPoint, measure

    return _measuring(name, configs, dataset, measure, SweepPoint, start)


def leak_job(config: AuditConfig, dataset: AuditDataset, seeds: list[int], *, start: bool = False) -> Job | None:
    """Return the job that attributes the leak for every seed, with and without mitigation."""
    from core.leak import LeakPoint, leak_configs, measure_leak

    return _measuring("leak", leak_configs(config, seeds), dataset, measure_leak, LeakPoint, start)


def _measuring(
    name: str, configs: list[AuditConfig], dataset: AuditDataset, measure: Any, result: Any, start: bool
) -> Job | None:
    from core import sweep as sweeps

    store = store_of(configs[0].dataset)
    key = fingerprint(name, dataset.fingerprint, list(configs))
    if start:
        _stop_other_sweep(store, key)
        points = point_store(configs[0].dataset, dataset)
        found = [points.load(sweeps.point_key(config, dataset, result), result) for config in configs]
        kept = [point for point in found if point is not None]
        left = [config for config, point in zip(configs, found, strict=True) if point is None]

        def work(job: Job) -> list[Any]:
            measured = sweeps.sweep(left, dataset, n_jobs=2, store=points, measure=measure, result=result)
            return job.collect(measured)

        return store.start(key, work, lane="sweep", total=len(configs), partial=kept)
    return store.job(key)


def point_store(name: str, dataset: AuditDataset) -> Any:
    """Return where finished models are kept: in memory for a user's own table, else on disk, as on the command line."""
    from core.datasets.catalog import default_cache_folder
    from core.sweep import FolderStore, MemoryStore

    if name != UPLOAD:
        try:
            return FolderStore(default_cache_folder().parent / "sweeps")
        except InputError:  # nothing can be written there
            pass
    points: dict[str, Any] = store_of(name).remember(f"points:{dataset.fingerprint}", dict)
    return MemoryStore(points)


def sweep_rows(points: list[Any], adversary: str, protocol: str, cost: str) -> list[Any]:
    """Return finished models over their seeds, for one attacker."""
    if not points:
        return []
    wanted = (adversary, protocol, cost)
    return [row for row in summary_of(points).rows if (row.adversary, row.protocol, row.cost) == wanted]


def summary_of(points: list[Any]) -> Any:
    """Return finished models over their seeds."""
    from core.sweep import summarise

    return summarise(list({point.config: point for point in points}.values()))


def tuning_job(
    config: AuditConfig, dataset: AuditDataset, kind: str, evaluations: int, *, start: bool = False
) -> Job | None:
    """Return the job that searches better parameters for the attacker's forest."""
    store, key = store_of(config.dataset), _tuning_key(config, dataset, kind, evaluations)
    if not start:
        return store.job(key)

    def work(job: Job) -> Any:
        from core.adversaries import tune_forest
        from core.datasets.splits import split
        from core.training import train_model

        splits = split(dataset, train_share=config.train_share, seed=config.seed)
        known = splits.known
        drawn = train_model(config, dataset, splits).predictions if kind == "predictions" else None
        return tune_forest(
            kind,
            dataset.features[known],
            dataset.labels[known],
            dataset.sensitive[known],
            None if drawn is None else drawn[known],
            evaluations=evaluations,
            seed=config.seed,
            report=job.report,
        )

    _stop_other_sweep(store, key)
    return store.start(key, work, lane="sweep", total=evaluations)


def tuned(config: AuditConfig, dataset: AuditDataset, kind: str, evaluations: int) -> Any | None:
    """Return what a search found, if it is finished."""
    return store_of(config.dataset).get(_tuning_key(config, dataset, kind, evaluations))


def _tuning_key(config: AuditConfig, dataset: AuditDataset, kind: str, evaluations: int) -> str:
    from dataclasses import replace

    return fingerprint("tuning", dataset.fingerprint, replace(config, forest=None), kind, evaluations)


def _stop_other_sweep(store: Store, key: str) -> None:
    """Stop the sweep this session started for other settings: nobody here waits for it any more."""
    started: tuple[Store, str] | None = st.session_state.get("started_sweep")
    if started is not None and started != (store, key):
        other = started[0].job(started[1])
        if other is not None and other.busy:
            other.cancel()
    st.session_state["started_sweep"] = (store, key)
