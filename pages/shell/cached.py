"""All caching of the dashboard. Results are kept under one fingerprint of data, settings and version.

Built-in data go to a store shared by everybody; a user's own table, and all that follows from it, to a store of the
session that is emptied when the session ends.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from core.auditing.subprocess_jobs import ReportProgress
from core.base.errors import InputError
from core.base.serialize import fingerprint
from core.datasets.dataset import AuditDataset, Table
from core.datasets.ratings import RATING_FILES, RATINGS_FOLDER, Ratings
from core.datasets.roles import Roles
from core.models import GIVEN_PREDICTIONS
from core.studies.correction import CorrectionResult, MoreDisclosed, audit_key, disclose_more, run
from core.studies.subject import AuditConfig
from pages.shell import panels, shell, state
from pages.shell.background import Job, ResultStore, require_result
from pages.shell.preparation import open_results
from pages.shell.state import OWN_RATINGS, PENDING, UPLOAD

if TYPE_CHECKING:
    from core.auditing.plan import ModelPlan
    from core.auditing.policy import Policy
    from core.models.model_files import ModelFile

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnModel:
    """A model file, how it was asked about which table, and where its answers stand."""

    model_file: ModelFile = field(repr=False)
    plan: ModelPlan
    source_table: Table = field(repr=False)  # without the model's answers
    roles: Roles  # with the columns of its answers in the session's table
    notes: tuple[str, ...]

    @property
    def answer_columns(self) -> tuple[str, str]:
        """Columns of its predictions and scores, "" where it gives none."""
        return self.roles.prediction, self.roles.score

    def fits(self, roles: Roles) -> bool:
        """Whether its answers, where the roles use them, are about their label, and scores about its positive value."""
        scored = bool(self.roles.score) and roles.score == self.roles.score
        if not scored and roles.prediction != self.roles.prediction:
            return True
        return roles.label == self.roles.label and (
            not scored or roles.positive == self.roles.positive
        )

    def taken_out(self, roles: Roles) -> Roles:
        """Return roles that do not name the columns of its answers."""
        columns = self.answer_columns
        excluded = tuple(column for column in roles.excluded if column not in columns)
        if roles.prediction in columns:
            roles = replace(roles, prediction="", prediction_positive="")
        if roles.score in columns:
            roles = replace(roles, score="")
        return replace(roles, excluded=excluded)

    def put_in(self, roles: Roles) -> Roles:
        """Return roles with its answers in place of the table's own; left out where the roles have another label."""
        if (roles.label, roles.positive) != (self.roles.label, self.roles.positive):
            return replace(roles, excluded=(*roles.excluded, *filter(None, self.answer_columns)))
        replaced_columns = filter(None, (roles.prediction, roles.score))
        return replace(
            roles,
            prediction=self.roles.prediction,
            score=self.roles.score,
            prediction_positive="",
            excluded=(*roles.excluded, *replaced_columns),
        )


@st.cache_resource(show_spinner=False)
def _shared_store() -> ResultStore:
    return ResultStore("shared store", entries=48, prepared=open_results())


@st.cache_resource(
    scope="session", max_entries=3, on_release=lambda store: store.release(), show_spinner=False
)
def _session_store(name: str) -> ResultStore:
    return ResultStore(name, entries=24, uploaded=True)


@st.cache_resource(show_spinner=False)
def test_sets() -> ResultStore:
    """Return where the test sets are that an officer has opened to askers: in memory, shared by all sessions."""
    return ResultStore("test sets for askers", entries=48)


def store_of(dataset: str) -> ResultStore:
    """Return where results of a dataset are kept."""
    store_names = {
        UPLOAD: "session store",
        PENDING: "session pending",
        OWN_RATINGS: "session ratings",
    }
    if dataset in store_names:
        return _session_store(store_names[dataset])
    return _shared_store()


def uploaded_data(dataset: str) -> Any | None:
    """Return the session's own table (`UPLOAD`, or `PENDING`) or ratings (`OWN_RATINGS`), if there are any."""
    return store_of(dataset).uploads.get("own")


def store_upload(
    dataset: str, data: Table | Ratings | None = None, model: OwnModel | None = None
) -> None:
    """Make a table, perhaps with a model's answers, or ratings the session's own, or none if there are none.

    What followed from earlier ones is dropped.
    """
    store = store_of(dataset)
    store.release()
    store.uploads = {
        key: item for key, item in (("own", data), ("own model", model)) if item is not None
    }


def own_model(dataset: str = UPLOAD) -> OwnModel | None:
    """Return the model file that has answered about the session's table, if there is one."""
    return store_of(dataset).uploads.get("own model")


def answering(roles: Roles | None) -> OwnModel | None:
    """Return the model file whose answers these roles have audited in the session's table, if there is one."""
    model = own_model()
    if model is None or roles is None or (roles.prediction, roles.score) != model.answer_columns:
        return None
    return model


def model_kind(config: AuditConfig) -> str:
    """Return where the audited model comes from, as a plan says it."""
    if config.method != GIVEN_PREDICTIONS:
        return "train"
    if answering(config.roles) is None:
        return "predictions"
    return "file"


def policy_that_fits(config: AuditConfig) -> Policy:
    """Return FairLeak's policy that fits what is brought, as the command chooses it."""
    from core.auditing import AuditPlan, ModelPlan, fitting_policy

    return fitting_policy(AuditPlan(model=ModelPlan(kind=model_kind(config)), config=config))


def adopt(table: Table, roles: Roles) -> None:
    """Make the pending table the session's own, with these roles.

    What followed from an earlier one is dropped. Raises what `build_dataset` does, and changes nothing then.
    """
    dataset = built(table, roles)
    model = own_model(PENDING)
    adopted = replace(table, name=UPLOAD)
    store_upload(
        UPLOAD,
        adopted,
        model and replace(model, source_table=replace(model.source_table, name=UPLOAD)),
    )
    store_of(UPLOAD).put(_dataset(adopted, roles)[0], dataset)
    store_upload(PENDING)


def google_play() -> Path | None:
    """Return the folder of the Google Play ratings, or None where they are not."""
    local = os.environ.get("FAIRLEAK_DATA")
    folder = Path(local or "") / RATINGS_FOLDER
    if local and all((folder / name).is_file() for name in RATING_FILES):
        return folder
    return None


def ratings_of(name: str) -> Ratings:
    """Return built-in ratings: those of Google Play, or the invented ones; waits while they are read."""
    folder = google_play() if name == "google_play" else None

    def fetch(job: Job) -> Ratings:
        from core.datasets import demo_ratings, read_ratings

        if folder is None:
            return demo_ratings()
        return read_ratings(folder)

    return require_result(
        _shared_store(), f"ratings:{name}", "Reading the ratings", fetch, lane="fetch"
    )  # type: ignore[no-any-return]


def table_of(dataset: str) -> Table:
    """Return a table by name; waits with a progress bar while it is read or fetched."""
    if dataset == UPLOAD:
        table: Table | None = uploaded_data(UPLOAD)
        if table is None:
            st.info(
                "Your table is gone with the connection it came through. Add it again on the Data page."
            )
            shell.link("data")
            st.stop()
        return table

    def fetch(job: Job) -> Table:
        from core.datasets.catalog import default_cache_folder, load

        local = os.environ.get("FAIRLEAK_DATA")
        folder = Path(local) if local else None
        return load(dataset, data_folder=folder, cache_folder=default_cache_folder())

    return require_result(
        _shared_store(), f"table:{dataset}", "Reading the table", fetch, lane="fetch"
    )  # type: ignore[no-any-return]


def once(make: Callable[..., T], table: Table, *parts: Any, **options: Any) -> T:
    """Return what a function makes of a table's cells and some other arguments, made once."""
    key = fingerprint(make.__name__, table.fingerprint, *parts, options)
    return store_of(table.name).remember(key, lambda: make(table.frame, *parts, **options))  # type: ignore[no-any-return]


def kept_tolerance(table: Table, config: AuditConfig) -> float:
    """Return the smallest tolerance that a table's predictions keep to; the default where they cannot be audited."""

    def keep() -> float:
        from core.auditing import kept_tolerance

        try:
            return kept_tolerance(built(table, config.roles), config)
        except InputError:
            return config.tolerance

    parts = (config.roles, config.metric, config.train_share, config.seed)
    return store_of(table.name).remember(
        fingerprint("kept tolerance", table.fingerprint, *parts), keep
    )  # type: ignore[no-any-return]


def audited() -> tuple[AuditConfig, Table]:
    """Return the audit the settings describe, and its table; ends the page while a user's table has no roles."""
    table = table_of(state.dataset_name())
    config = state.config(table)
    if config is None:
        panels.choose_columns()
    return config, table


def _dataset(table: Table, roles: Roles | None) -> tuple[str, Callable[[], AuditDataset]]:
    from core.datasets.build import build_dataset

    used = roles or table.roles[0]
    return fingerprint("dataset", table.fingerprint, used), lambda: build_dataset(table, used)


def dataset_of(table: Table, roles: Roles | None) -> AuditDataset:
    """Return a table with its roles, as arrays; waits with a progress bar while they are made."""
    key, make = _dataset(table, roles)
    return require_result(store_of(table.name), key, "Preparing the table", lambda _: make())  # type: ignore[no-any-return]


def built(table: Table, roles: Roles | None) -> AuditDataset:
    """Return the same, made here and now; raises what `build_dataset` does."""
    return store_of(table.name).remember(*_dataset(table, roles))  # type: ignore[no-any-return]


ATTACKER: dict[str, Any] = {"adversary": "features", "cost": "published", "as_published": False}
"""The published attack, whose curve is drawn first."""


def audit(config: AuditConfig, table: Table) -> CorrectionResult:
    """Return a finished audit, with the curve of the published attack; waits with a progress bar while it runs."""
    dataset = dataset_of(table, config.roles)

    def make(report: ReportProgress) -> CorrectionResult:
        result = run(config, report, dataset=dataset)
        result.curve(report=report, **ATTACKER)
        return result

    store = store_of(config.dataset)
    key = audit_key(config, dataset)
    return require_result(
        store, key, "Auditing", lambda job: job.in_subprocess(make, about=dataset)
    )  # type: ignore[no-any-return]


def tell(result: CorrectionResult, attacker: dict[str, Any]) -> None:
    """Disclose every tolerance of the curve to an attacker; waits with a progress bar while that is computed."""
    store = store_of(result.config.dataset)
    label = "Telling the attacker every tolerance"
    key = fingerprint("curve", audit_key(result.config, result.subject.dataset), attacker)
    require_result(store, key, label, lambda job: bool(result.curve(report=job.report, **attacker)))


def more_disclosed(
    result: CorrectionResult, tolerance: float, attacker: dict[str, Any]
) -> tuple[MoreDisclosed, ...]:
    """Return the corrections with more than a bound; waits with a progress bar while they are computed."""
    key = fingerprint(
        "more disclosed", audit_key(result.config, result.subject.dataset), tolerance, attacker
    )
    store = store_of(result.config.dataset)

    def work(job: Job) -> Any:
        return job.in_subprocess(
            lambda _: disclose_more(result, tolerance, **attacker), about=result.subject.dataset
        )

    return require_result(store, key, "Telling the attacker more", work)  # type: ignore[no-any-return]


def trained_model(store: ResultStore, config: AuditConfig, dataset: AuditDataset) -> Any | None:
    """Return the audited model if an audit has trained it already."""
    audit = store.get(audit_key(config, dataset))
    if audit is None:
        return None
    return audit.model


def point_store(name: str) -> Any:
    """Return where finished models are kept: in memory for a user's own table, else on disk, as on the command line."""
    from core.experiments.engine import FileStore, MemoryStore, default_store

    if name != UPLOAD:
        try:
            return FileStore(default_store())
        except InputError:  # nothing can be written there, or it is damaged
            pass
    return MemoryStore(store_of(name).points)
