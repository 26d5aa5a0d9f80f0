"""``python -m core attriguard``: attribute inference accuracy under AttriGuard noise."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, TypeVar

from core.attriguard import (
    ATTACKER_TITLES,
    PUBLISHED_CURVE,
    CurveSettings,
    Exposure,
    Guard,
    Guarded,
    GuardSettings,
    Point,
    TableSettings,
    table_guard,
)
from core.attriguard.findings import beside_the_paper, headline, noise_needed
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
from core.study import Finding
from core.validation import choice

NAME = "attriguard"
HELP = "measure attribute inference accuracy under AttriGuard noise"

_RATINGS = ("ratings", "demo_ratings")
_PAPER = "Jia and Gong (2018): network, noise of a network"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser, [*_RATINGS, *CATALOG])
    add_settings(parser, CurveSettings)
    add_settings(parser, {"on ratings": GuardSettings, "on a table": TableSettings})
    add_file_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and print."""
    choice(arguments.dataset, [*_RATINGS, *CATALOG], name="--dataset")
    asked = from_arguments(arguments, CurveSettings).budgets
    guard, settings, budgets = (_on_ratings if arguments.dataset in _RATINGS else _on_table)(arguments)
    # Without any noise, which is budget 0, is always among the results.
    budgets = budgets if asked is None else tuple(budget for budget in dict.fromkeys(asked) if budget > 0)
    for exposure in guard.expose(console.counting("steps")):
        if exposure.guesses:
            newest = exposure.guesses[-1]
            against = "" if newest.trained_at is None else f", at {newest.trained_at:g} {exposure.unit}"
            console.note(f"Done: {ATTACKER_TITLES[newest.attacker]}{against}")
    if not exposure.guesses:
        raise InputError("A study needs at least one attacker, got none.")
    points = [*exposure.undefended(), *(point for budget in budgets for point in exposure.at(budget))]
    console.results(_lines(exposure, points, budgets, guard, settings, arguments))
    write_csv([_record(point, settings.seed, arguments) for point in points], arguments, console)
    write_json(_everything(exposure, points, budgets, settings, arguments), arguments, console)


_Work = tuple[Guard, GuardSettings | TableSettings, tuple[float, ...]]
"""The guard, its settings, and the budgets its curves are read off at where none are asked for."""


def _on_ratings(arguments: argparse.Namespace) -> _Work:
    if arguments.attribute is not None:
        raise InputError(f"--attribute is for tables, got it with --dataset {arguments.dataset}.")
    settings = _chosen(arguments, GuardSettings, TableSettings, "tables")
    return Guarded(_ratings(arguments), settings), settings, (0.3, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0)


def _on_table(arguments: argparse.Namespace) -> _Work:
    settings = _chosen(arguments, TableSettings, GuardSettings, "ratings")
    dataset = dataset_of(arguments)
    config = AuditConfig(dataset=arguments.dataset, roles=dataset.roles, seed=settings.seed)
    return table_guard(dataset, config, settings), settings, (0.1, 0.25, 0.5, 0.75, 1.0)


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


def _lines(
    exposure: Exposure,
    points: list[Point],
    budgets: tuple[float, ...],
    guard: Guard,
    settings: GuardSettings | TableSettings,
    arguments: argparse.Namespace,
) -> Iterator[str]:
    """Yield the curves as a table, attackers in rows, and what belongs beside them."""
    private = f"private: {exposure.attribute}, {len(exposure.values)} values"
    yield f"{exposure.truth.size:,} people of {exposure.title}; {private}"
    yield f"Noise: {_settings_words(settings)}"
    yield from _sentences(noise_needed(exposure))
    yield "Accuracy in %, expected over the draws of the noise, with 95% margins over people"
    yield f"Noise budget β: mean {exposure.unit} changed per person"
    yield ""
    rows = []
    for name in exposure.attackers:
        own = {point.budget: point for point in points if point.attacker == name}
        clean = next(point for point in points if point.attacker == name)
        cells = [_cell(clean.accuracy), *(_cell(own[budget].accuracy) for budget in budgets if budget in own)]
        rows.append([ATTACKER_TITLES[name], *cells])
    of_paper = arguments.dataset == "ratings"
    if of_paper:
        told = {budget: f"{100 * rate:.0f}" for budget, rate in PUBLISHED_CURVE.items()}
        rows.append([_PAPER, "", *(told.get(budget, "") for budget in budgets)])
    yield aligned(["attacker", "no noise", *(f"{budget:g}" for budget in budgets)], rows)
    yield ""
    majority = estimate_words(exposure.majority)
    yield f"Majority guess: {majority}; an attacker below it does better to name the most frequent value."
    trained = ", ".join(f"{budget:g}" for budget in guard.trained_at)
    yield f"Adversarial attackers are trained at {trained} {exposure.unit}; each budget shows the nearest one."
    largest = max(budgets, default=0.0)
    yield from _sentences(headline(exposure, exposure.at(largest), defender=settings.defender))
    if of_paper and budgets:
        yield from _sentences(beside_the_paper(exposure, largest))


def _sentences(finding: Finding) -> tuple[str, str]:
    return finding.point, " ".join(filter(None, (finding.evidence, *finding.caveats, finding.so_what, finding.to_do)))


def _settings_words(settings: GuardSettings | TableSettings) -> str:
    """Return the settings that are one word or number each."""
    told = {name: value for name, value in plain(settings).items() if isinstance(value, (str, int, float))}
    words = {name: ("on" if value else "off") if isinstance(value, bool) else value for name, value in told.items()}
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in words.items())


def _cell(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.1f} ±{50 * (estimate.high - estimate.low):.1f}"


def _record(point: Point, seed: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return a row of the file of numbers."""
    row: dict[str, Any] = {
        "dataset": arguments.dataset,
        "attacker": point.attacker,
        "title": ATTACKER_TITLES[point.attacker],
        "budget": point.budget,
        "trained at": point.trained_at,
        "seed": seed,
    }
    for name in ("accuracy", "balanced", "reported"):
        row |= interval_cells(name, getattr(point, name))
    return row | {"people": point.accuracy.n}


def _everything(
    exposure: Exposure,
    points: list[Point],
    budgets: tuple[float, ...],
    settings: GuardSettings | TableSettings,
    arguments: argparse.Namespace,
) -> dict[str, Any]:
    """Return the content of the JSON file."""
    return {
        "dataset": arguments.dataset,
        "title": exposure.title,
        "attribute": exposure.attribute,
        "unit": exposure.unit,
        "people": int(exposure.truth.size),
        "settings": plain(settings),
        "values": plain(exposure.to_frame().to_dict("records")),
        "majority": plain(exposure.majority),
        "spent": {f"{budget:g}": plain(exposure.spent(budget)) for budget in budgets},
        "points": [plain(point) for point in points],
    }
