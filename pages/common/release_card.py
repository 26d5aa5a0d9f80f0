"""The work behind a model card: people trained in the background, cards at every number of models, advice, the file.

Everything is kept in the store of the table it comes from. Twenty models are trained at first, the rest of a family
once somebody asks for more; the page stays meanwhile.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.charts import draw_in_common, draw_precisions
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset, Table
from core.fingerprint import fingerprint
from core.model_card import DRAWS, Advice, ReleasedPeople, ReleaseSettings, ReleaseStudy
from core.models import GIVEN
from core.release_audit.card_plan import ReleasePlan, release_text
from pages.common import cached, panels, shell
from pages.common import release_words as words
from pages.common.background import Background, Job, Store, need, want
from pages.common.release_controls import Models
from pages.common.report_plan import plan_of, subject

if TYPE_CHECKING:
    import pandas


_PATIENCE = 1.5
"""Seconds a moved slider waits for its card before it shows progress."""


def number_of_people(config: AuditConfig, dataset: AuditDataset) -> int:
    """Return how many test records there are, which nobody is trained on."""
    from core.datasets.splits import split

    rows = split(dataset, train_share=config.train_share, seed=config.seed).test
    return int(rows.size)


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
        from core.release_audit.card_plan import some_people

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
        from core.datasets import several_predictions
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
        for i, count in enumerate(counts):
            job.report(i, len(counts))
            found.append(study(self.people, replace(self.precision, count=count)))
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
