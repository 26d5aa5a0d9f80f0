"""A model card on its page: the controls, the people trained in the background, the card, the advice, the file.

Everything is kept in the store of the table it comes from. Twenty models are trained at first, the rest of a family
once somebody asks for more; the page stays meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.charts import draw_in_common, draw_precisions, draw_recognised
from core.config import AuditConfig
from core.datasets import AuditDataset, Table, prediction_candidates, several_predictions
from core.datasets.splits import split
from core.estimates import count, points
from core.fingerprint import fingerprint
from core.model_card import (
    DRAWS,
    STATISTIC_TITLES,
    STATISTICS,
    Advice,
    ReleasedPeople,
    ReleaseSettings,
    ReleaseStudy,
)
from core.models import GIVEN
from core.release_audit.card_plan import ReleasePlan, release_text, some_people
from core.settings import params
from pages.common import cached, panels, shell, state
from pages.common import release_words as words
from pages.common.background import Background, Job, Store, need, want
from pages.common.controls import control
from pages.common.report_plan import plan_of, subject

if TYPE_CHECKING:
    import pandas

COUNTS = (1, 2, 5, 10, 20, 50)
"""Numbers of models the slider offers; a family is trained as a whole."""

_SWEEP = 10
"""Models of a sweep of tolerances, each of which takes seconds to train."""

PEOPLE = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000)
"""Numbers of people the slider offers, below that of all."""

FIRST = 20
"""Models trained before anybody asks for more."""

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Whose numbers of which models: prediction columns for the family "given", 0 people for all."""

    family: str
    columns: tuple[str, ...]
    people: int
    group: int

    @property
    def most(self) -> int:
        """Most models there can be."""
        return {"audited": 1, GIVEN: len(self.columns), "tolerances": _SWEEP}.get(self.family, COUNTS[-1])

    @property
    def first(self) -> int:
        """Models that are there before anybody asks for more."""
        return self.most if self.family == GIVEN else min(FIRST, self.most)

    @property
    def counts(self) -> tuple[int, ...]:
        """Positions of the slider."""
        return tuple(dict.fromkeys([*(c for c in COUNTS if c < self.most), self.most]))


_PLAN, _SETTINGS = params(ReleasePlan), params(ReleaseSettings)

_FAMILIES = {
    "mixed": "A natural family, mixed",
    "audited": "The audited model alone",
    "seeds": "Family: resampled records",
    "depths": "Family: depths of the tree",
    "features": "Family: feature subsets",
    "tolerances": "Family: fair, tolerance sweep",
    "given": "Prediction columns of the table",
}

_WAYS = {"exact": "Exact", "rounded": "Rounded", "noise": "Noise"}

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


def models(row: Sequence[Any], config: AuditConfig, table: Table, dataset: AuditDataset) -> Models:
    """Choose the models, in the row's first place, and how many test people their numbers are about."""
    candidates = prediction_candidates(table, dataset.roles) if state.dataset_name() == state.UPLOAD else ()
    brought = dataset.roles.gives_predictions
    offered = {name: title for name, title in _FAMILIES.items() if candidates or name != GIVEN}
    first = "audited" if brought else "mixed"
    family = control(
        _PLAN["models"],
        "release_family_brought" if brought else "release_family",
        place=row[0],
        options=offered,
        value=first,
        help=(
            "The audited model comes first. A natural family is what a developer trains on the way to one model, none "
            "of them told the attribute: other training records, depths, features, or fair models for other tolerances."
        ),
    )
    family = family if family in offered else first
    test = split(dataset, train_share=config.train_share, seed=config.seed).test
    people = _people(row[1], int(test.size))
    columns = _columns(table, dataset, candidates) if family == GIVEN else ()
    group = _group(dataset) if dataset.n_groups > 2 else 1
    return Models(family=family, columns=columns, people=people, group=group)


def _people(place: Any, test: int) -> int:
    """Choose how many test people the numbers are about; 0 is all."""
    offered = [n for n in PEOPLE if n < test] + [test]
    first = _FIRST_PEOPLE if _FIRST_PEOPLE in offered else offered[-1]
    value = control(
        _PLAN["people"],
        f"release_people_{test}",
        "select_slider",
        place=place,
        options=offered,
        value=first,
        format_func=lambda n: f"all {count(n)}" if n == test else count(n),
        help="Test people, whom no model was trained on. Where they are fewer, each counts for more in every number.",
    )
    return 0 if value == test else int(value)


def _group(dataset: AuditDataset) -> int:
    group: int = control(
        _PLAN["group"],
        f"release_group_{dataset.roles.key}_{dataset.n_groups}",
        "selectbox",
        help=None,
        options=dict(enumerate(dataset.group_names)),
        value=1,
    )
    return group


def _columns(table: Table, dataset: AuditDataset, candidates: tuple[str, ...]) -> tuple[str, ...]:
    first = [dataset.roles.prediction] if dataset.roles.prediction in candidates else []
    like = [name for name in candidates if "pred" in name.casefold() and name not in first]
    return tuple(
        control(
            _PLAN["columns"],
            f"release_columns_{table.fingerprint[:16]}",
            persist_state=None,
            options=candidates,
            value=[*first, *like],
            help="Columns of two values, written as the label is or as 0 and 1; none of them is a feature then.",
        )
    )


def precision(row: Sequence[Any], seed: int) -> ReleaseSettings:
    """Choose what is published of each model, and how precisely; of how many is told by their slider."""
    way = panels.pick("How precisely", _WAYS, key="release_way", default="exact", place=row[0])
    decimals, epsilon = _how(row[1], way)
    chosen = st.pills(
        _SETTINGS["statistics"].param.title,
        [*STATISTICS, _SIZES],
        selection_mode="multi",
        default=["sp_gap", "tpr_gap", "fpr_gap", _SIZES],
        key="release_statistics",
        format_func=_SHORT.__getitem__,
        help="; ".join(f"{_SHORT[name]}: {STATISTIC_TITLES[name].lower()}" for name in STATISTICS)
        + ". A gap is the rate of the first group minus that of the others. Group sizes: in all and with either label; "
        "noise comes with them.",
        persist_state="session",
    )
    return ReleaseSettings(
        statistics=tuple(name for name in STATISTICS if name in (chosen or ())),
        sizes=_SIZES in (chosen or ()) or epsilon is not None,
        decimals=decimals,
        epsilon=epsilon,
        seed=seed,
    )


def _how(place: Any, way: str) -> tuple[int | None, float | None]:
    """Choose decimals or a privacy budget, where the way has either."""
    if way == "rounded":
        told: dict[str, Any] = {"help": None, "options": [1, 2, 3, 4, 5, 6], "place": place}
        return int(control(_SETTINGS["decimals"], "release_decimals", "select_slider", **told)), None
    if way == "exact":
        return None, None
    value = control(
        _SETTINGS["epsilon"],
        "release_epsilon",
        "select_slider",
        place=place,
        options=EPSILONS,
        value=10.0,
        format_func="{:g}".format,
        help="Of all its numbers together, group sizes included: one person's attribute, all else being the same, "
        "makes no card more than e to the ε times as likely. Smaller is more private.",
    )
    return None, float(value)


def number_of_models(chosen: Models) -> int:
    """Return the number of models; the slider that sets it stands under its chart."""
    value = int(st.session_state.get(_slider_key(chosen), chosen.first))
    return value if value in chosen.counts else chosen.first


def number_slider(chosen: Models, value: int) -> None:
    """Draw the slider of the number of models."""
    told = {"help": None, "options": chosen.counts, "value": value}
    if len(chosen.counts) > 1:
        control(_SETTINGS["count"], _slider_key(chosen), "select_slider", **told)


def _slider_key(chosen: Models) -> str:
    return f"release_count_{chosen.most}"


_PATIENCE = 1.5
"""Seconds a moved slider waits for its card before it shows progress."""


def watch(work: Background, doing: str, go_on: str) -> None:
    """Show how far work beside the card is until the page can be drawn anew, or offer to go on."""

    def told(job: Job) -> str:
        steps = f"step {job.done} of {job.total}" if job.total else "waiting"
        return f"{doing}: {'stopping' if job.stopping else steps}"

    work.watch(lambda: work.show(told, go_on), every=0.5)


class ReleaseWork:
    """The people of a release, of the audit in the sidebar."""

    def __init__(self, config: AuditConfig, table: Table, dataset: AuditDataset, chosen: Models) -> None:
        self.config, self.table, self.dataset, self.chosen = config, table, dataset, chosen
        self.store: Store = cached.store_of(config.dataset)
        self._first_group = chosen.group if chosen.family == GIVEN else 1  # the one models are made ready with
        made = (chosen.family, list(chosen.columns), self._first_group)
        self._models = fingerprint("release people", dataset.fingerprint, table.fingerprint, config, *made)
        self.key = fingerprint(self._models, chosen.group)

    @property
    def whole(self) -> Background:
        """The training of all models there can be."""
        most, make = self.chosen.most, self._train
        key = fingerprint(self._models, most)
        return Background("family", self.store, key, lambda job: make(job, most), lane="questions")

    def people(self, wanted: int) -> ReleasedPeople:
        """Return the people with the models that are there; waits with a progress bar for the first ones.

        The rest is trained in the background once more models are wanted than there are at first.
        """
        everybody = self.whole.result
        if everybody is None:
            first = self.chosen.first
            key, label = fingerprint(self._models, first), "Training the attacker and the models"
            everybody = need(self.store, key, label, lambda job: self._train(job, first))
            if wanted > first:
                want(self.whole, patience=0.0)
        if self.chosen.group != self._first_group:
            everybody = self._regrouped(everybody)
        return some_people(everybody, self.chosen.people, seed=self.config.seed)

    def _regrouped(self, people: ReleasedPeople) -> ReleasedPeople:
        """Return the people with the attacker's posterior of another group; no model is trained again."""
        import numpy as np

        from core.model_card import released_people

        def regroup(job: Job) -> ReleasedPeople:
            answers = np.zeros((len(people.predictions), self.dataset.n), dtype=np.uint8)
            answers[:, people.rows] = people.predictions
            told: dict[str, Any] = {"models": GIVEN, "given": answers, "names": people.names}
            return released_people(self.config, self.dataset, group=self.chosen.group, report=job.report, **told)

        key = fingerprint(self.key, len(people.predictions))
        regrouped: ReleasedPeople = need(self.store, key, "Training the attacker", regroup)
        return regrouped

    def _train(self, job: Job, count: int) -> ReleasedPeople:
        from core.model_card import released_people

        config, dataset = self.config, self.dataset
        if self.chosen.family == GIVEN:
            several = several_predictions(self.table, dataset.roles, self.chosen.columns)
            dataset = several.dataset
            config = replace(config, roles=dataset.roles, method=GIVEN)
            told: dict[str, Any] = {"given": several.predictions, "names": several.names}
        else:
            model = cached.trained_model(self.store, config, dataset)
            told = {"audited": None if model is None else model.predictions}
        told |= {"models": self.chosen.family, "count": count, "group": self._first_group}
        return released_people(config, dataset, report=job.report, **told)


class Card:
    """What is published, read at every number of models that are there, in the slider's order.

    Waits with a progress bar where that takes long.
    """

    def __init__(self, work: ReleaseWork, people: ReleasedPeople, precision: ReleaseSettings) -> None:
        self.work, self.people, self.precision = work, people, precision
        self._key = fingerprint("release card", work.key, work.chosen.people, len(people.predictions), precision)
        self.studies: tuple[ReleaseStudy, ...] = need(
            work.store, self._key, "Reading the card", self._read, lane="questions", patience=_PATIENCE
        )

    def _read(self, job: Job) -> tuple[ReleaseStudy, ...]:
        from core.model_card import study

        counts = [count for count in self.work.chosen.counts if count <= len(self.people.predictions)]
        found = []
        for i, n in enumerate(counts):
            job.report(i, len(counts))
            found.append(study(self.people, replace(self.precision, count=n)))
        return tuple(found)

    def drawn(self, count: int) -> ReleaseStudy:
        """Return the card of so many models, or of the most there are, with the worst of several draws of its noise."""
        from core.model_card import drawn_again

        found = next((study for study in self.studies if study.n_models == count), self.studies[-1])
        if found.published.noise is None:
            return found
        again: ReleaseStudy = need(
            self.work.store,
            fingerprint(self._key, "draws", found.n_models),
            "Drawing the noise again",
            lambda _: drawn_again(found, self.people),
            lane="questions",
            patience=_PATIENCE,
        )
        return again

    def advice(self, count: int) -> Background:
        """Return the work on the advice for so many models."""
        told = (self.precision.statistics, self.precision.sizes, count)
        key = fingerprint("release advice", self.work.key, self.work.chosen.people, *told)
        return Background("advice", self.work.store, key, lambda job: self._advise(job, count), lane="questions")

    def _advise(self, job: Job, count: int) -> Advice:
        from core.model_card import advise, release_of

        people, seed = self.people, self.work.config.seed
        exact = replace(self.precision, decimals=None, epsilon=None, count=count)
        release = release_of(people, exact)
        return advise(people.posterior, release, sensitive=people.sensitive, seed=seed, report=job.report)


def advice_part(card: Card, study: ReleaseStudy) -> dict[str, pandas.DataFrame]:
    """Draw the advice, or how far it is; returns the tables behind it."""
    work, models = card.advice(study.n_models), "one model" if study.n_models == 1 else f"{study.n_models} models"
    want(work, patience=0.0)
    heading = (
        "How precise may it be",
        f"People pinned down by a card of {models}; with noise, the most of up to {DRAWS} draws",
    )
    found: Advice | None = work.result
    if found is None:
        shell.whisper(*heading)
        watch(work, "Trying precisions", "Stopped. Go on with the advice")
        return {}
    settings = study.settings
    drawn = draw_precisions(found, (settings.decimals, settings.epsilon), shell.palette())
    panels.titled(*heading, drawn, key="release_advice_chart")
    st.markdown(words.advice(found, study))
    return {"Precisions tried": drawn.table}


def in_common_part(study: ReleaseStudy) -> dict[str, pandas.DataFrame]:
    """Draw what they share, and return the tables behind it."""
    import pandas as pd

    heading, found = "What the pinned have in common", study.in_common
    if not study.pinned.count:
        shell.whisper(heading, words.nobody(study))
        return {}
    drawn = panels.titled(
        f"{heading}: {words.alone(found)}",
        "Shares among the pinned (●) and the rest (○)",
        draw_in_common(study, shell.palette()),
        key="release_common_chart",
    )
    st.caption(words.cells(found))
    sizes = pd.DataFrame(found.cell_sizes, columns=["cell size", "pinned people"])
    return {heading: drawn.table, "Cells of identical predictions": sizes}


def recognised_part(study: ReleaseStudy) -> dict[str, pandas.DataFrame]:
    """Draw how many are named rightly, before and after, and return the table behind it."""
    gain = study.measured.accuracy_gain
    clear = gain.low > 0.0 or gain.high < 0.0
    drawn = panels.titled(
        f"On average {points(gain) if clear else 'no statistically significant difference'}",
        "People named rightly before (○) and after (●), 95% intervals",
        draw_recognised(study, shell.palette()),
        key="release_named_chart",
    )
    return {"Named rightly": drawn.table}


def card_plan(
    config: AuditConfig, table: Table, dataset: AuditDataset, models: Models, precision: ReleaseSettings, count: int
) -> ReleasePlan | None:
    """Return what the page shows of so many models as a plan; None where the command could not train or find them."""
    found = subject(config, table, plan_of(config, table))
    if models.family == GIVEN and found.model_file is not None:
        return None
    if models.family == "tolerances" and count < models.most:  # a sweep is as fine as its count: others come out
        return None
    return ReleasePlan(
        source=found.plan,
        models=models.family,
        columns=models.columns[:count],
        people=models.people,
        group=dataset.group_names[models.group] if dataset.n_groups > 2 else "",
        settings=replace(precision, count=count),
    )


def download(plan: ReleasePlan | None) -> None:
    """Draw the button."""
    if plan is None:
        return
    panels.download(
        "Card (TOML)",
        lambda: release_text(plan).encode("utf-8"),
        "card.toml",
        key="download_card",
        mime="application/toml",
        icon=":material/checklist:",
        help="For python -m core release card.toml: the same card of the same models, about the same people.",
    )
