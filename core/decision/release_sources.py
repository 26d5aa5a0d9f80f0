"""From the plan of a release to its people: table, audited model, prediction columns, natural models, attacker.

What can be refused is refused before anything is trained, in one sentence that names the file and its key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.datasets import AuditDataset, Table, several_predictions
from core.datasets.columns import quoted
from core.decision.release_plan import ReleasePlan
from core.decision.sources import config_of, dataset_of, roles_of
from core.errors import InputError
from core.models import GIVEN
from core.release import Published, ReleasedPeople, ReleaseStudy, drawn_again, release_of, released_people, study
from core.release.numbers import SIZE_PARTS
from core.release.people import released_rows
from core.seeds import child_generator

if TYPE_CHECKING:
    from core.models.files import ModelFile

_SHOWN = 4
"""Names of models that a sentence lists."""


@contextmanager
def named(name: str, key: str) -> Iterator[None]:
    """Let sentences about wrong input begin with the file and the key that are to be changed."""
    try:
        yield
    except InputError as error:
        told = str(error)
        if told.startswith(f"{name}: "):
            raise
        place = key.strip("[]").partition(".")[0]
        raise InputError(f"{name}: {told}" if told.startswith(f"{place}.") else f"{name}: {key}: {told}") from None


def people_of(
    plan: ReleasePlan,
    table: Table,
    *,
    model_file: ModelFile | None = None,
    name: str = "The release",
    report: Callable[[int, int], None] | None = None,
) -> ReleasedPeople:
    """Train what a release needs and return its people.

    Parameters
    ----------
    table : Table
        As `core.decision.load_table` reads it.
    model_file : ModelFile, optional
        Where the plan names one.
    name : str
        What to call the plan's file in sentences.
    report : callable, optional
        Called with (done, total); may raise `core.errors.Cancelled` to stop.

    Raises
    ------
    InputError
        If a rule of `core.datasets.build_dataset`, `several_predictions` or `core.release.released_people` is broken,
        there is no such group or feature, or a typed group size is larger than there are people.
    """
    given = None
    names: tuple[str, ...] = ()
    if plan.models == GIVEN:
        _check_columns(plan, table, name)
        with named(name, "[data]"):
            several = several_predictions(table, roles_of(plan.source, table), plan.columns)
        dataset, given, names = several.dataset, several.predictions, several.names
        config = replace(plan.source.config, roles=dataset.roles, method=GIVEN)
    else:
        with named(name, "[data]"):
            dataset = dataset_of(plan.source, table, model_file=model_file)
        config = config_of(plan.source, dataset)
    group = _group(plan, dataset, name)
    _check_features(plan, dataset, name)
    with named(name, "[data]"):
        rows = released_rows(config, dataset, on=plan.on)
    drawn = _drawn(rows.size, plan.people, config.seed)
    _check_sizes(plan, dataset.labels[rows if drawn is None else rows[drawn]], name)
    people = released_people(
        config,
        dataset,
        models=plan.models,
        count=plan.settings.count,
        on=plan.on,
        group=group,
        given=given,
        names=names,
        without=plan.without,
        report=report,
    )
    return some_people(people, plan.people, seed=config.seed)


def some_people(people: ReleasedPeople, most: int, *, seed: int) -> ReleasedPeople:
    """Return the people, or so many of them drawn with a seed; 0 is all."""
    drawn = _drawn(people.n, most, seed)
    if drawn is None:
        return people
    return replace(
        people,
        rows=people.rows[drawn],
        posterior=people.posterior[drawn],
        predictions=people.predictions[:, drawn],
        labels=people.labels[drawn],
        sensitive=people.sensitive[drawn],
        columns=people.columns.iloc[drawn].reset_index(drop=True),
    )


def _drawn(n: int, most: int, seed: int) -> npt.NDArray[np.intp] | None:
    """Return which of n people are looked at; None for all of them."""
    if not 0 < most < n:
        return None
    return np.sort(child_generator(seed, "released people").choice(n, most, replace=False))


def study_of(plan: ReleasePlan, people: ReleasedPeople, *, name: str = "The release") -> ReleaseStudy:
    """Meter and measure what a plan publishes, in several draws of its noise, or the numbers typed into it.

    Raises
    ------
    InputError
        If a setting breaks its rule, or typed numbers are no numbers of these people or contradict each other.
    """
    if not plan.numbers:
        return drawn_again(study(people, plan.settings), people)
    release = release_of(people, plan.settings)
    for i, (model, _) in enumerate(plan.numbers, start=1):
        if model and model not in release.names:
            more = f" and {release.n_models - _SHOWN} more" if release.n_models > _SHOWN else ""
            told = f"{', '.join(release.names[:_SHOWN])}{more}"
            raise InputError(f"{name}: number {i}.model must be a model of this card ({told}), got {quoted(model)}.")
    with named(name, "[[number]]"):
        published = Published.from_values(release, plan.numbers)
    return study(people, plan.settings, published=published)


def _check_columns(plan: ReleasePlan, table: Table, name: str) -> None:
    for column in plan.columns:
        if column not in table.frame.columns:
            raise InputError(f"{name}: models.columns must name columns of the table, got {quoted(column)}.")


def _check_features(plan: ReleasePlan, dataset: AuditDataset, name: str) -> None:
    for feature in plan.without:
        if feature not in dataset.feature_names:
            raise InputError(f"{name}: models.without must name features of the table, got {quoted(feature)}.")


def _check_sizes(plan: ReleasePlan, labels: npt.NDArray[np.uint8], name: str) -> None:
    """Refuse group sizes that are larger than all the people they are counted among."""
    for i, ((_, statistic), value) in enumerate(plan.numbers.items(), start=1):
        part = SIZE_PARTS.get(statistic)
        if part is None or isinstance(value, tuple):
            continue
        people = labels.size if part == "all" else int((labels == int(part[-1])).sum())
        if value > people:
            told = "people of this release" if part == "all" else f"people of this release with {part}"
            raise InputError(
                f"{name}: number {i}.value must be at most {people}, the {told}, for {statistic}, got {value:.0f}."
            )


def _group(plan: ReleasePlan, dataset: AuditDataset, name: str) -> int:
    """Return the code of the group that counts as 1."""
    if not plan.group:
        return 1
    if plan.group not in dataset.group_names:
        raise InputError(
            f"{name}: people.group must be one of {', '.join(dataset.group_names)}, got {quoted(plan.group)}."
        )
    return dataset.group_names.index(plan.group)
