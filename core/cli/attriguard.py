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
from core.datasets import CATALOG, demo_ratings, read_ratings
from core.errors import DataUnavailableError, InputError
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
    guard = (_on_ratings if arguments.dataset in _RATINGS else _on_table)(arguments)
    asked = from_arguments(arguments, CurveSettings).budgets
    # Without any noise, which is budget 0, is always among the results.
    wanted = _BUDGETS[guard.unit] if asked is None else dict.fromkeys(asked)
    budgets = [budget for budget in wanted if budget > 0]
    for exposure in guard.expose(console.counting("steps")):
        if exposure.guesses:
            newest = exposure.guesses[-1]
            against = "" if newest.trained_at is None else f", at {newest.trained_at:g} {exposure.unit}"
            console.note(f"Done: {ATTACKER_TITLES[newest.attacker]}{against}")
    if not exposure.guesses:
        raise InputError("A study needs at least one attacker, got none.")
    points = [*exposure.undefended(), *(point for budget in budgets for point in exposure.at(budget))]
    console.results(_lines(exposure, points, budgets, guard, of_paper=arguments.dataset == "ratings"))
    write_csv([_record(point, guard.settings.seed, arguments.dataset) for point in points], arguments, console)
    everything = {
        "dataset": arguments.dataset,
        "title": exposure.title,
        "attribute": exposure.attribute,
        "unit": exposure.unit,
        "people": int(exposure.truth.size),
        "settings": plain(guard.settings),
        "values": plain(exposure.by_value()),
        "majority": plain(exposure.majority),
        "spent": {f"{budget:g}": plain(exposure.spent(budget)) for budget in budgets},
        "points": [plain(point) for point in points],
    }
    write_json(everything, arguments, console)


_BUDGETS = {"ratings": (0.3, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0), "columns": (0.1, 0.25, 0.5, 0.75, 1.0)}
"""Where the curves are read off if nobody says."""


def _on_ratings(arguments: argparse.Namespace) -> Guard:
    if arguments.attribute is not None:
        raise InputError(f"--attribute is for tables, got it with --dataset {arguments.dataset}.")
    settings = _chosen(arguments, GuardSettings, TableSettings, "tables")
    if arguments.dataset == "demo_ratings":
        return Guarded(demo_ratings(), settings)
    local = data_folder_of(arguments)
    if local is None:
        raise DataUnavailableError(
            "The Google Play ratings cannot be downloaded; name their folder with --data or FAIRLEAK_DATA, or use "
            "--dataset demo_ratings."
        )
    return Guarded(read_ratings(local), settings)


def _on_table(arguments: argparse.Namespace) -> Guard:
    settings = _chosen(arguments, TableSettings, GuardSettings, "ratings")
    dataset = dataset_of(arguments)
    config = AuditConfig(dataset=arguments.dataset, roles=dataset.roles, seed=settings.seed)
    return table_guard(dataset, config, settings)


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


def _lines(
    exposure: Exposure, points: list[Point], budgets: list[float], guard: Guard, *, of_paper: bool
) -> Iterator[str]:
    """Yield the curves as a table, attackers in rows, and what belongs beside them."""
    private = f"private: {exposure.attribute}, {len(exposure.values)} values"
    yield f"{exposure.truth.size:,} people of {exposure.title}; {private}"
    told = {name: value for name, value in plain(guard.settings).items() if isinstance(value, (str, int, float))}
    words = {name: ("on" if value else "off") if isinstance(value, bool) else value for name, value in told.items()}
    yield "Noise: " + ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in words.items())
    yield from _sentences(noise_needed(exposure))
    yield "Accuracy in %, expected over the draws of the noise, with 95% margins over people"
    yield f"Noise budget β: mean {exposure.unit} changed per person"
    yield ""
    rows = []
    for name in exposure.attackers:
        own = [point.accuracy for point in points if point.attacker == name]  # at budget 0, then at each
        rows.append([ATTACKER_TITLES[name], *(f"{100 * e.value:.1f} ±{50 * (e.high - e.low):.1f}" for e in own)])
    if of_paper:
        printed = {budget: f"{100 * rate:.0f}" for budget, rate in PUBLISHED_CURVE.items()}
        rows.append([_PAPER, "", *(printed.get(budget, "") for budget in budgets)])
    yield aligned(["attacker", "no noise", *(f"{budget:g}" for budget in budgets)], rows)
    yield ""
    majority = estimate_words(exposure.majority)
    yield f"Majority guess: {majority}; an attacker below it does better to name the most frequent value."
    trained = ", ".join(f"{budget:g}" for budget in guard.trained_at)
    yield f"Adversarial attackers are trained at {trained} {exposure.unit}; each budget shows the nearest one."
    largest = max(budgets, default=0.0)
    yield from _sentences(headline(exposure, exposure.at(largest), defender=guard.settings.defender))
    if of_paper and budgets:
        yield from _sentences(beside_the_paper(exposure, largest))


def _sentences(finding: Finding) -> tuple[str, str]:
    return finding.point, " ".join(filter(None, (finding.evidence, *finding.caveats, finding.so_what, finding.to_do)))


def _record(point: Point, seed: int, dataset: str) -> dict[str, Any]:
    """Return a row of the file of numbers."""
    row: dict[str, Any] = {
        "dataset": dataset,
        "attacker": point.attacker,
        "title": ATTACKER_TITLES[point.attacker],
        "budget": point.budget,
        "trained at": point.trained_at,
        "seed": seed,
    }
    for name in ("accuracy", "balanced", "reported"):
        row |= interval_cells(name, getattr(point, name))
    return row | {"people": point.accuracy.n}
