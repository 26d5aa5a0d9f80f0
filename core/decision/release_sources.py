"""From the plan of a release to its people: table, audited model, prediction columns, natural models, attacker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from core.datasets import AuditDataset, Table, several_predictions
from core.datasets.columns import quoted
from core.decision.release_plan import ReleasePlan
from core.decision.sources import config_of, dataset_of, roles_of
from core.errors import InputError
from core.models import GIVEN
from core.release import Published, ReleasedPeople, ReleaseStudy, release_of, released_people, study
from core.seeds import child_generator

if TYPE_CHECKING:
    from core.models.files import ModelFile

__all__ = ["people_of", "some_people", "study_of"]


def people_of(
    plan: ReleasePlan,
    table: Table,
    *,
    model_file: ModelFile | None = None,
    report: Callable[[int, int], None] | None = None,
) -> ReleasedPeople:
    """Train what a release needs and return its people.

    Parameters
    ----------
    plan : ReleasePlan
    table : Table
        As `core.decision.load_table` reads it.
    model_file : ModelFile, optional
        Where the plan names one.
    report : callable, optional
        Called with (done, total); may raise `core.errors.Cancelled` to stop.

    Raises
    ------
    InputError
        If a rule of `core.datasets.build_dataset`, `several_predictions` or `core.release.released_people` is broken,
        or there is no such group.
    """
    given = None
    names: tuple[str, ...] = ()
    if plan.models == GIVEN:
        several = several_predictions(table, roles_of(plan.source, table), plan.columns)
        dataset, given, names = several.dataset, several.predictions, several.names
        config = replace(plan.source.config, roles=dataset.roles, method=GIVEN)
    else:
        dataset = dataset_of(plan.source, table, model_file=model_file)
        config = config_of(plan.source, dataset)
    people = released_people(
        config,
        dataset,
        models=plan.models,
        count=plan.settings.count,
        on=plan.on,
        group=_group(plan, dataset),
        given=given,
        names=names,
        without=plan.without,
        report=report,
    )
    return some_people(people, plan.people, seed=config.seed)


def some_people(people: ReleasedPeople, most: int, *, seed: int) -> ReleasedPeople:
    """Return the people, or so many of them drawn with a seed; 0 is all."""
    if not 0 < most < people.n:
        return people
    drawn = np.sort(child_generator(seed, "released people").choice(people.n, most, replace=False))
    return replace(
        people,
        rows=people.rows[drawn],
        posterior=people.posterior[drawn],
        predictions=people.predictions[:, drawn],
        labels=people.labels[drawn],
        sensitive=people.sensitive[drawn],
        columns=people.columns.iloc[drawn].reset_index(drop=True),
    )


def study_of(plan: ReleasePlan, people: ReleasedPeople) -> ReleaseStudy:
    """Meter and measure what a plan publishes, or the numbers typed into it.

    Raises
    ------
    InputError
        If a setting breaks its rule, or typed numbers are no numbers of these people or contradict each other.
    """
    if not plan.numbers:
        return study(people, plan.settings)
    published = Published.from_values(release_of(people, plan.settings), plan.numbers)
    return study(people, plan.settings, published=published)


def _group(plan: ReleasePlan, dataset: AuditDataset) -> int:
    """Return the code of the group that counts as 1."""
    if not plan.group:
        return 1
    if plan.group not in dataset.group_names:
        raise InputError(f"people.group must be one of {', '.join(dataset.group_names)}, got {quoted(plan.group)}.")
    return dataset.group_names.index(plan.group)
