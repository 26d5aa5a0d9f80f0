"""A model card on its page: the controls, the people trained in the background, the card, the advice, the file.

Everything is kept in the store of the table it comes from. Twenty models are trained at first, the rest of a family
once somebody asks for more; the page stays meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.auditing.card_plan import ReleasePlan
from core.auditing.subprocess_jobs import ReportProgress
from core.base.fingerprint import fingerprint
from core.base.settings import params
from core.datasets import AuditDataset, Table, prediction_candidates, several_predictions
from core.datasets.splits import split
from core.models import GIVEN_PREDICTIONS
from core.stats.estimates import count
from core.studies.config import AuditConfig
from core.studies.model_card import (
    STATISTIC_TITLES,
    STATISTICS,
    Advice,
    ModelCardResult,
    ModelCardSettings,
    ReleasedPeople,
    advise,
    drawn_again,
    measure_card,
    release_of,
)
from core.studies.model_card.settings import FAMILIES, precision_text
from pages._report.report_plan import plan_of, subject
from pages.shell import cached, state
from pages.shell.background import Background, Job, ResultStore, ensure_started, require_result
from pages.shell.controls import bound, control

COUNTS = (1, 2, 5, 10, 20, 50)
"""Numbers of models the slider offers; a family is trained as a whole."""

_SWEEP = 10
"""Models of a sweep of tolerances, each of which takes seconds to train."""

PEOPLE = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000)
"""Numbers of people the slider offers, below that of all."""

FIRST = 20
"""Models trained before anybody asks for more."""

PRECISIONS: dict[str, tuple[int | None, float | None]] = {
    precision_text(decimals, epsilon): (decimals, epsilon)
    for decimals, epsilon in (
        (None, None),
        *((decimals, None) for decimals in (6, 5, 4, 3, 2, 1)),
        *((None, epsilon) for epsilon in (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)),
    )
}
"""In words -> decimals and privacy budget, from the finest on."""

_SETTINGS = params(ModelCardSettings)
_SIZES = "sizes"
_SHORT = {
    "sp_gap": "SP gap",
    "tpr_gap": "TPR gap",
    "fpr_gap": "FPR gap",
    "sp_rate": "SP rates",
    "tpr_rate": "TPR rates",
    "fpr_rate": "FPR rates",
    _SIZES: "Group sizes",
}
_FIRST_PEOPLE = 1_000
_PATIENCE = 1.5
"""Seconds a moved slider waits for its card before it shows progress."""


_FIRST_STATISTICS = ["sp_gap", "tpr_gap", "fpr_gap", _SIZES]


def controls(row: Sequence[Any], config: AuditConfig, table: Table, dataset: AuditDataset) -> ModelCardSettings:
    """Choose whose numbers of which models are published, and how precisely; the slider of models is drawn later."""
    candidates = prediction_candidates(table, dataset.roles) if state.dataset_name() == state.UPLOAD else ()
    family = _family(row[0], candidates, dataset)
    people = _people(row[1], config, dataset)
    columns = _columns(candidates, table, dataset) if family == GIVEN_PREDICTIONS else ()
    group = ""
    if dataset.n_groups > 2:
        group = control(
            _SETTINGS["group"],
            f"release_group_{dataset.roles.key}_{dataset.n_groups}",
            "selectbox",
            help=None,
            options=dataset.group_names,
            value=max(dataset.groups(), key=lambda group: group.count).group,
        )
    precision = row[2].select_slider(
        "Precision",
        list(PRECISIONS),
        key="release_precision",
        help="Of all numbers together. Rounding guarantees nothing. With DP noise, one person's attribute makes no "
        "card more than e to the ε times as likely, all else being the same: smaller is more private.",
        persist_state="session",
        **state.bind("release_precision"),
    )
    decimals, epsilon = PRECISIONS[precision]
    published = _published(row[3])
    return ModelCardSettings(
        family=family,
        columns=columns,
        people=people,
        group=group,
        statistics=tuple(name for name in STATISTICS if name in published),
        sizes=_SIZES in published or epsilon is not None,
        decimals=decimals,
        epsilon=epsilon,
        seed=config.seed,
    )


def _family(column: Any, candidates: Sequence[str], dataset: AuditDataset) -> str:
    brought = dataset.roles.gives_predictions
    offered = {name: title for name, title in FAMILIES.items() if candidates or name != GIVEN_PREDICTIONS}
    first = "audited" if brought else "mixed"
    family = bound(
        _SETTINGS["family"],
        "release_family_brought" if brought else "release_family",
        container=column,
        options=offered,
        value=first,
        help="The audited model comes first. Variants are what a developer trains on the way to one model, none of "
        "them with the attribute as a feature: other training records, depths, features, or fairness tolerances.",
    )
    return family if family in offered else first


def _people(column: Any, config: AuditConfig, dataset: AuditDataset) -> int:
    """Return how many test people are asked about; 0 stands for all."""
    test = int(split(dataset, train_share=config.train_share, seed=config.seed).test.size)
    sizes = [n for n in PEOPLE if n < test] + [test]
    people = bound(
        _SETTINGS["people"],
        f"release_people_{test}",
        "select_slider",
        container=column,
        options=sizes,
        value=_FIRST_PEOPLE if _FIRST_PEOPLE in sizes else sizes[-1],
        format_func=lambda n: f"all {count(n)}" if n == test else count(n),
        help="Test people, whom no model trained here has seen. Where they are fewer, each counts for more in every "
        "number.",
    )
    return 0 if people == test else int(people)


def _columns(candidates: Sequence[str], table: Table, dataset: AuditDataset) -> tuple[str, ...]:
    """Return the columns of answers whose numbers are published."""
    preselected = [dataset.roles.prediction] if dataset.roles.prediction in candidates else []
    return tuple(
        control(
            _SETTINGS["columns"],
            f"release_columns_{table.fingerprint[:16]}",
            persist_state=None,
            options=candidates,
            value=[
                *preselected,
                *(name for name in candidates if "pred" in name.casefold() and name not in preselected),
            ],
            help="Columns of two values, written as the label is or as 0 and 1; none of them is a feature then.",
        )
    )


def _published(column: Any) -> Sequence[str]:
    """Return the statistics published, and whether group sizes are among them."""
    published = st.session_state.get("release_statistics", _FIRST_STATISTICS)
    box = column.popover(f"Published statistics: {len(published)}", icon=":material/checklist:", width="stretch")
    chosen = box.pills(
        _SETTINGS["statistics"].param.title,
        [*STATISTICS, _SIZES],
        selection_mode="multi",
        default=_FIRST_STATISTICS,
        key="release_statistics",
        format_func=_SHORT.__getitem__,
        help="; ".join(f"{_SHORT[name]}: {STATISTIC_TITLES[name].lower()}" for name in STATISTICS)
        + ". A gap is the rate of the first group (of more than two, the chosen one) minus that of the others. Group "
        "sizes: in all and with either label; DP noise comes with them.",
        persist_state="session",
        **state.bind("release_statistics"),
    )
    return chosen or ()


def _read(
    people: ReleasedPeople, settings: Sequence[ModelCardSettings], report: ReportProgress
) -> tuple[ModelCardResult, ...]:
    """Return the card with each of the settings."""
    studies = []
    for done, setting in enumerate(settings):
        report(done, len(settings))
        studies.append(measure_card(people, setting))
    return tuple(studies)


def watch(work: Background, doing: str, go_on: str) -> None:
    """Show how far work beside the card is until the page can be drawn again, or offer to go on."""

    def progress_text(job: Job) -> str:
        steps = f"step {job.done} of {job.total}" if job.total else "waiting"
        return f"{doing}: {'stopping' if job.stopping else steps}"

    work.watch(lambda: work.show(progress_text, go_on))


class Card:
    """A card of the audit in the sidebar: its people, trained once, and what its numbers reveal."""

    def __init__(self, config: AuditConfig, table: Table, dataset: AuditDataset, settings: ModelCardSettings) -> None:
        self.config, self.table, self.dataset, self.settings = config, table, dataset, settings
        self.store: ResultStore = cached.store_of(config.dataset)
        self._trained = ModelCardSettings(family=settings.family, columns=settings.columns)
        self._key = fingerprint("release people", dataset.fingerprint, table.fingerprint, config, self._trained)

    @property
    def most(self) -> int:
        """Most models there can be."""
        family_counts = {"audited": 1, GIVEN_PREDICTIONS: len(self.settings.columns), "tolerances": _SWEEP}
        return family_counts.get(self.settings.family, COUNTS[-1])

    @property
    def first(self) -> int:
        """Models that are there before anybody asks for more."""
        return self.most if self.settings.family == GIVEN_PREDICTIONS else min(FIRST, self.most)

    @property
    def counts(self) -> tuple[int, ...]:
        """Positions of the slider."""
        return tuple(dict.fromkeys([*(c for c in COUNTS if c < self.most), self.most]))

    @property
    def n_models(self) -> int:
        """Where the slider stands, which is drawn under its chart."""
        value = int(state.slider_position(f"release_count_{self.most}", self.first, most=self.most))
        return value if value in self.counts else self.first

    def slider(self) -> None:
        """Draw the slider of the number of models."""
        arguments = {"help": None, "options": self.counts, "value": self.first}
        if len(self.counts) > 1:
            bound(_SETTINGS["count"], f"release_count_{self.most}", "select_slider", **arguments)

    @property
    def training(self) -> Background:
        """The training of all models there can be."""
        key, most = fingerprint(self._key, self.most), self.most
        return Background("family", self.store, key, lambda job: self._train(job, most), lane="questions")

    def people(self, n_models: int) -> ReleasedPeople:
        """Return the people with the models that are there; waits with a progress bar for the first ones.

        The rest is trained in the background once more models are wanted than there are at first.
        """
        everybody = self.training.result
        if everybody is None:
            first = self.first
            key, label = fingerprint(self._key, first), "Training the attacker and the models"
            everybody = require_result(self.store, key, label, lambda job: self._train(job, first))
            if n_models > first:
                ensure_started(self.training, patience=0.0)
        about: ReleasedPeople = replace(everybody, group=self.settings.group or everybody.group_names[1])
        return about.some(self.settings.people, seed=self.config.seed)

    def _train(self, job: Job, number: int) -> ReleasedPeople:
        from core.studies.model_card import released_people

        config, dataset = self.config, self.dataset
        if self.settings.family == GIVEN_PREDICTIONS:
            several = several_predictions(self.table, dataset.roles, self.settings.columns)
            dataset = several.dataset
            config = replace(config, roles=dataset.roles, method=GIVEN_PREDICTIONS)
            arguments: dict[str, Any] = {"model_predictions": several.predictions, "names": several.names}
        else:
            model = cached.trained_model(self.store, config, dataset)
            arguments = {"audited": None if model is None else model.predictions}
        settings = replace(self._trained, count=number)
        make = partial(released_people, config, dataset, settings, **arguments)
        return job.in_subprocess(lambda report: make(report=report), about=dataset)  # type: ignore[no-any-return]

    def studies(self, people: ReleasedPeople) -> tuple[ModelCardResult, ...]:
        """Return the card at every number of models that are there, in the slider's order."""
        counts = [number for number in self.counts if number <= len(people.predictions)]
        read = partial(_read, people, [replace(self.settings, count=number) for number in counts])
        key = fingerprint("release card", self._key, self.settings, len(people.predictions))
        return self._in_process(key, "Reading the card", read)  # type: ignore[no-any-return]

    def drawn(self, study: ModelCardResult) -> ModelCardResult:
        """Return the card with the worst of several draws of its noise."""
        if study.published.noise is None:
            return study
        key = fingerprint("release draws", self._key, study.settings, len(study.people.predictions))
        return self._in_process(key, "Drawing the noise again", lambda _: drawn_again(study))  # type: ignore[no-any-return]

    def _in_process(self, key: str, label: str, make: Callable[[ReportProgress], Any]) -> Any:
        """Return what is made in a process of its own; waits, with a progress bar if it takes longer."""
        return require_result(
            self.store, key, label, lambda job: job.in_subprocess(make), lane="questions", patience=_PATIENCE
        )

    def advice(self, study: ModelCardResult) -> Background:
        """Return the work on the advice for so many models; it is the same for every precision."""
        exact, people = replace(study.settings, decimals=None, epsilon=None), study.people

        def advise_on(job: Job) -> Advice:
            make = partial(advise, people.posterior, release_of(people, exact), sensitive=people.sensitive)
            return job.in_subprocess(lambda report: make(seed=exact.seed, report=report))  # type: ignore[no-any-return]

        key = fingerprint("release advice", self._key, exact)
        return Background("advice", self.store, key, advise_on, lane="questions")

    def plan(self, number: int) -> ReleasePlan | None:
        """Return what the page shows of so many models as a plan; None where the command could not repeat it."""
        audit_subject, settings = subject(self.config, self.table, plan_of(self.config, self.table)), self.settings
        if settings.family == GIVEN_PREDICTIONS and audit_subject.model_file is not None:
            return None
        if settings.family == "tolerances" and number < self.most:  # a sweep is as fine as its count
            return None
        card_settings = replace(settings, count=number, columns=settings.columns[:number])
        return ReleasePlan(source=audit_subject.plan, settings=card_settings)
