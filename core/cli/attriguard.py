"""``python -m core attriguard``: how far noise misleads who infers an attribute."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from core.attriguard import (
    ATTACKER_TITLES,
    PUBLISHED_CURVE,
    TABLE_ATTACKER_TITLES,
    CurveSettings,
    Guarded,
    GuardSettings,
    Point,
    Study,
    TableSettings,
    study_ratings,
    study_table,
    table_guard,
)
from core.cli.arguments import (
    add_dataset_arguments,
    add_file_arguments,
    data_folder_of,
    dataset_of,
    interval_cells,
    write_csv,
    write_json,
)
from core.cli.console import Console, aligned, estimate_words
from core.config import AuditConfig
from core.datasets import CATALOG, Ratings, demo_ratings, read_ratings
from core.errors import DataUnavailableError, InputError
from core.estimates import Estimate
from core.serialize import plain
from core.settings import add_arguments as add_settings
from core.settings import from_arguments, given, params
from core.validation import choice

NAME = "attriguard"
HELP = "print how far noise on people's records misleads who infers their private attribute"

_RATINGS = ("ratings", "demo_ratings")
_PAPER = "Jia and Gong (2018): network, noise of a network"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser, [*_RATINGS, *CATALOG])
    add_settings(parser, CurveSettings)
    add_settings(parser, {"on ratings": GuardSettings, "on a table": TableSettings})
    add_file_arguments(parser)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What to study, checked, before any of the work."""

    studies: Iterator[Study]
    settings: GuardSettings | TableSettings
    titles: dict[str, str]
    trained_at: tuple[float, ...]
    budgets: tuple[float, ...]


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and print."""
    choice(arguments.dataset, [*_RATINGS, *CATALOG], name="--dataset")
    asked = from_arguments(arguments, CurveSettings).budgets
    work = (_on_ratings if arguments.dataset in _RATINGS else _on_table)(arguments, console)
    # Without any noise, which is budget 0, is always among the results.
    budgets = work.budgets if asked is None else tuple(budget for budget in dict.fromkeys(asked) if budget > 0)
    study = None
    for study in work.studies:
        if study.guesses:
            newest = study.guesses[-1]
            against = "" if newest.trained_at is None else f", at {newest.trained_at:g} {study.unit}"
            console.note(f"Done: {work.titles[newest.attacker]}{against}")
    if study is None:
        raise InputError("A study needs at least one attacker, got none.")
    points = [*study.undefended(), *(point for budget in budgets for point in study.at(budget))]
    console.results(_told(study, points, budgets, work, arguments))
    write_csv([_record(point, work, arguments) for point in points], arguments, console)
    write_json(_everything(study, points, budgets, work, arguments), arguments, console)


def _on_ratings(arguments: argparse.Namespace, console: Console) -> _Work:
    if arguments.attribute is not None:
        raise InputError(f"--attribute is for tables, got it with --dataset {arguments.dataset}.")
    settings = _chosen(arguments, GuardSettings, TableSettings, "tables")
    return _Work(
        studies=study_ratings(Guarded(_ratings(arguments), settings), console.counting("steps")),
        settings=settings,
        titles=ATTACKER_TITLES,
        trained_at=settings.trained_at,
        budgets=(0.3, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0),
    )


def _on_table(arguments: argparse.Namespace, console: Console) -> _Work:
    settings = _chosen(arguments, TableSettings, GuardSettings, "ratings")
    dataset = dataset_of(arguments)
    config = AuditConfig(dataset=arguments.dataset, roles=dataset.roles, seed=settings.seed)
    return _Work(
        studies=study_table(table_guard(dataset, config, settings), report=console.counting("steps")),
        settings=settings,
        titles=TABLE_ATTACKER_TITLES,
        trained_at=settings.trained_budgets,
        budgets=(0.1, 0.25, 0.5, 0.75, 1.0),
    )


_G = TypeVar("_G", GuardSettings, TableSettings)


def _chosen(arguments: argparse.Namespace, own: type[_G], other: type, whose: str) -> _G:
    """Return the settings of a class, and refuse those that only the other class has."""
    for name, setting in params(other).items():
        if name not in params(own) and hasattr(arguments, name):
            raise InputError(f"{setting.flag} is for {whose}, got it with --dataset {arguments.dataset}.")
    told = given(arguments, own)
    if ("given" in told) != (told.get("target") == "given"):
        raise InputError(f"--given must come with --target given, got --target {told.get('target')}.")
    return own(**told)


def _ratings(arguments: argparse.Namespace) -> Ratings:
    if arguments.dataset == "demo_ratings":
        return demo_ratings()
    local = data_folder_of(arguments)
    if local is None:
        raise DataUnavailableError(
            "The Google Play ratings cannot be downloaded; name their folder with --data or FAIRLEAK_DATA, or use "
            "--dataset demo_ratings."
        )
    return read_ratings(local)


def _told(
    study: Study, points: list[Point], budgets: tuple[float, ...], work: _Work, arguments: argparse.Namespace
) -> Iterator[str]:
    """Yield the curves as a table, attackers in rows, and what belongs beside them."""
    yield f"{study.truth.size:,} people of {study.title}; private: {study.attribute}, {len(study.values)} values"
    yield f"Noise: {_settings_words(work.settings)}"
    yield _found_words(study)
    yield "Accuracy in %, expected over the draws of the noise, with 95% margins over people"
    yield f"Budgets: most {study.unit} changed per person, on average over the draws"
    yield ""
    rows = []
    for name in study.attackers:
        own = {point.budget: point for point in points if point.attacker == name}
        clean = next(point for point in points if point.attacker == name)
        cells = [_cell(clean.accuracy), *(_cell(own[budget].accuracy) for budget in budgets if budget in own)]
        rows.append([work.titles[name], *cells])
    if arguments.dataset == "ratings":
        told = {budget: f"{100 * rate:.0f}" for budget, rate in PUBLISHED_CURVE.items()}
        rows.append([_PAPER, "", *(told.get(budget, "") for budget in budgets)])
    yield aligned(["attacker", "no noise", *(f"{budget:g}" for budget in budgets)], rows)
    yield ""
    majority = estimate_words(study.majority)
    yield f"Majority guess: {majority}; an attacker below it does better to name the most frequent value."
    trained = ", ".join(f"{budget:g}" for budget in work.trained_at)
    yield f"Attackers who train against the noise do so at {trained} {study.unit}; each budget shows the nearest one."
    if arguments.dataset == "ratings" and budgets and {"adversarial", "network"} <= set(study.attackers):
        yield _against_the_paper(points)


def _against_the_paper(points: list[Point]) -> str:
    """Return what the attacker who trains against the noise gains at the largest budget, beside the paper's claim."""
    largest = max(point.budget for point in points)
    there = {point.attacker: point.accuracy for point in points if point.budget == largest}
    return (
        'The paper finds that an attacker who trains against the noise "has almost the same inference accuracy" as one '
        f"who knows nothing of it; here, at a budget of {largest:g}, her accuracy is "
        f"{estimate_words(there['adversarial'])} %, that of the other {estimate_words(there['network'])} %."
    )


def _found_words(study: Study) -> str:
    """Return how much noise it takes, and whether there always is some."""
    others = study.predicted[:, None] != range(len(study.values))
    there = others & study.found
    mean = f"{study.size[there].mean():.2f}" if there.any() else "no"
    missing = int(others.sum() - there.sum())
    lack = f"none found for {missing:,} of {int(others.sum()):,}" if missing else "always found"
    return f"To be read as another value takes {mean} {study.unit} on average; {lack}"


def _settings_words(settings: GuardSettings | TableSettings) -> str:
    """Return the settings that are one word or number each."""
    told = {name: value for name, value in plain(settings).items() if isinstance(value, (str, int, float))}
    words = {name: ("on" if value else "off") if isinstance(value, bool) else value for name, value in told.items()}
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in words.items())


def _cell(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.1f} ±{50 * (estimate.high - estimate.low):.1f}"


def _record(point: Point, work: _Work, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return a row of the file of numbers."""
    row: dict[str, Any] = {
        "dataset": arguments.dataset,
        "attacker": point.attacker,
        "title": work.titles[point.attacker],
        "budget": point.budget,
        "trained at": point.trained_at,
        "seed": work.settings.seed,
    }
    for name in ("accuracy", "balanced", "reported"):
        row |= interval_cells(name, getattr(point, name))
    return row | {"people": point.accuracy.n}


def _everything(
    study: Study, points: list[Point], budgets: tuple[float, ...], work: _Work, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Return the content of the JSON file."""
    return {
        "dataset": arguments.dataset,
        "title": study.title,
        "attribute": study.attribute,
        "unit": study.unit,
        "people": int(study.truth.size),
        "settings": plain(work.settings),
        "values": plain(study.to_frame().to_dict("records")),
        "majority": plain(study.majority),
        "spent": {f"{budget:g}": plain(study.spent(budget)) for budget in budgets},
        "points": [plain(point) for point in points],
    }
