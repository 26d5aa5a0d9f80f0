"""All caching of the dashboard. Results are kept under one fingerprint of data, settings and version.

Built-in data go to a store shared by everybody; a user's own table, and all that follows from it, to a store of the
session that is emptied when the session ends. Nothing is written to disk.
"""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from core.audit import AuditConfig, AuditFindings, audit_key, run
from core.correction import Disclosure
from core.datasets.dataset import AuditDataset, Roles, Table
from core.fingerprint import fingerprint
from pages.common.jobs import Job, Store
from pages.common.state import UPLOAD

__all__ = [
    "CURVE_TOLERANCES",
    "audited",
    "curve",
    "dataset_of",
    "disclosure",
    "drop_own_table",
    "findings_of",
    "keep_own_table",
    "own_table",
    "store_of",
    "sweep_job",
    "table_of",
]

CURVE_TOLERANCES = tuple(
    [t / 1000 for t in range(0, 20, 1)] + [t / 1000 for t in range(20, 60, 4)] + [t / 1000 for t in range(60, 201, 10)]
)
"""Disclosed tolerances of the curve: 45 values in [0, 0.2], denser near 0; others are added when asked for."""


@st.cache_resource(show_spinner=False)
def _shared_store() -> Store:
    return Store("shared store", entries=48)


@st.cache_resource(scope="session", max_entries=1, on_release=lambda store: store.release(), show_spinner=False)
def _session_store() -> Store:
    return Store("session store", entries=24)


def store_of(dataset: str) -> Store:
    """Return where results of a dataset are kept."""
    return _session_store() if dataset == UPLOAD else _shared_store()


def own_table() -> Table | None:
    """Return the session's own table, if there is one."""
    table: Table | None = _session_store().get("table:upload")
    return table


def keep_own_table(table: Table) -> None:
    """Make a table the session's own; what followed from an earlier one is dropped."""
    store = _session_store()
    store.release()
    store.put("table:upload", table)


def drop_own_table() -> None:
    """Forget the session's own table and all that followed from it."""
    _session_store().release()


def table_of(dataset: str) -> Table:
    """Return a table by name; waits with a progress bar while it is read or fetched."""
    from pages.common.panels import need

    if dataset == UPLOAD:
        table = own_table()
        if table is None:
            st.info("Your table is gone with the connection it came through. Add it again on the Data page.")
            st.stop()
        return table

    def fetch(job: Job) -> Table:
        from core.datasets.catalog import default_cache_folder, load

        local = os.environ.get("FAIRLEAK_DATA")
        return load(dataset, data_folder=Path(local) if local else None, cache_folder=default_cache_folder())

    return need(_shared_store(), f"table:{dataset}", "Reading the table", fetch, lane="fetch")  # type: ignore[no-any-return]


def audited() -> tuple[AuditConfig, Table]:
    """Return the audit the settings describe, and its table; ends the page while a user's table has no roles."""
    from pages.common import panels, state

    table = table_of(state.dataset_name())
    config = state.config(table)
    if config is None:
        panels.choose_columns()
    return config, table


def dataset_of(table: Table, roles: Roles) -> AuditDataset:
    """Return a table with its roles, as arrays."""
    from pages.common.panels import need

    key = fingerprint("dataset", table.fingerprint, roles)

    def build(job: Job) -> AuditDataset:
        from core.datasets.dataset import build_dataset

        return build_dataset(table, roles)

    return need(store_of(table.name), key, "Preparing the table", build)  # type: ignore[no-any-return]


class _Audit:
    """A finished audit with its curves: disclosures by tolerance told, for each attacker asked for."""

    def __init__(self, findings: AuditFindings) -> None:
        self.findings = findings
        self.curves: dict[tuple[str, str, bool], dict[float, Disclosure]] = {}
        self.fill("features", "published", False)

    def fill(self, adversary: str, cost: str, as_published: bool) -> None:
        settings = {"adversary": adversary, "cost": cost, "as_published": as_published}
        curve = {t: self.findings.disclose(t, **settings) for t in CURVE_TOLERANCES}  # type: ignore[arg-type]
        self.curves[adversary, cost, as_published] = curve


def _audit(config: AuditConfig, dataset: AuditDataset) -> _Audit:
    from pages.common.panels import need

    def work(job: Job) -> _Audit:
        return _Audit(run(config, job.report, dataset=dataset))

    return need(store_of(config.dataset), audit_key(config, dataset), "Auditing", work)  # type: ignore[no-any-return]


def findings_of(config: AuditConfig, table: Table) -> tuple[AuditFindings, AuditDataset]:
    """Return a finished audit and its data; waits with a progress bar while it runs."""
    dataset = dataset_of(table, config.roles or table.roles[0])
    return _audit(config, dataset).findings, dataset


def curve(
    findings: AuditFindings, dataset: AuditDataset, *, adversary: str, cost: str, as_published: bool
) -> dict[float, Disclosure]:
    """Return the disclosures over the slider's range, computing them if need be."""
    audit = _audit(findings.config, dataset)
    if (adversary, cost, as_published) not in audit.curves:
        with st.spinner("Telling the attacker every tolerance"):
            audit.fill(adversary, cost, as_published)
    return audit.curves[adversary, cost, as_published]


def disclosure(
    points: dict[float, Disclosure],
    findings: AuditFindings,
    tolerance: float,
    *,
    adversary: str,
    cost: str,
    as_published: bool,
) -> Disclosure:
    """Return the disclosure at one tolerance, rounded to the slider's step and added to the curve if missing."""
    tolerance = round(tolerance, 3)
    if tolerance not in points:
        points[tolerance] = findings.disclose(tolerance, adversary=adversary, cost=cost, as_published=as_published)
    return points[tolerance]


def sweep_job(config: AuditConfig, dataset: AuditDataset, *, start: str = "no") -> Job | None:
    """Return the job that trains one model a tolerance.

    Parameters
    ----------
    start : {"no", "first", "again"}
        Whether to start it: never, unless it was started before, or anew.
    """
    from dataclasses import replace

    from core.sweep import sweep, tolerance_configs

    store = store_of(config.dataset)
    configs = tolerance_configs(replace(config, method="exponentiated_gradient"))
    key = fingerprint("sweep", dataset.fingerprint, list(configs))
    job = store.job(key)
    if start == "again" or (start == "first" and job is None):
        _stop_other_sweep(store, key)
        done = [] if job is None else list(job.partial)
        left = [c for c in configs if c.tolerance not in {point.tolerance for point in done}]
        job = store.start(
            key,
            lambda job: job.collect(sweep(left, dataset, n_jobs=2)),
            lane="sweep",
            total=len(configs),
            partial=done,
        )
    return job


def _stop_other_sweep(store: Store, key: str) -> None:
    """Stop the sweep this session started for other settings: nobody here waits for it any more."""
    started: tuple[Store, str] | None = st.session_state.get("started_sweep")
    if started is not None and started != (store, key):
        other = started[0].job(started[1])
        if other is not None and other.busy:
            other.cancel()
            started[0].forget(started[1])
    st.session_state["started_sweep"] = (store, key)
