"""``fairleak defend attriguard``: attribute inference accuracy under AttriGuard noise."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TypeVar

from ..base.errors import DataUnavailableError, InputError
from ..base.serialize import plain
from ..base.settings import add_arguments as add_settings
from ..base.settings import flag_values, from_arguments, params
from ..datasets import CATALOG, demo_ratings, read_ratings
from ..studies.attriguard import (
    ATTACKER_TITLES,
    CurveSettings,
    Defense,
    Exposure,
    GuardSettings,
    RatingsDefense,
    TableSettings,
    table_defense,
)
from ..studies.attriguard.findings import MEANING, findings, tables
from ..studies.config import AuditConfig
from .arguments import (
    add_dataset_arguments,
    add_file_arguments,
    data_folder_of,
    dataset_of,
)
from .console import CommandOutcome, Console, present

HELP = "Measure attribute inference accuracy under AttriGuard noise."

_RATINGS = ("ratings", "demo_ratings")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser, [*_RATINGS, *CATALOG])
    add_settings(parser, CurveSettings)
    add_settings(parser, {"On ratings": GuardSettings, "On a table": TableSettings})
    add_file_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and print."""
    guard = (_on_ratings if arguments.dataset in _RATINGS else _on_table)(arguments)
    chosen_budgets = from_arguments(arguments, CurveSettings).budgets
    # Without any noise, which is budget 0, is always among the results.
    budget_values = _BUDGETS[guard.unit] if chosen_budgets is None else dict.fromkeys(chosen_budgets)
    budgets = [budget for budget in budget_values if budget > 0]
    for exposure in guard.expose(console.counting("steps")):
        if exposure.guesses:
            newest = exposure.guesses[-1]
            against = "" if newest.trained_at is None else f", at {newest.trained_at:g} {exposure.unit}"
            console.note(f"Done: {ATTACKER_TITLES[newest.attacker]}{against}")
    if not exposure.guesses:
        raise InputError("A study needs at least one attacker, got none.")
    points = [*exposure.undefended(), *(point for budget in budgets for point in exposure.at(budget))]
    points.sort(key=lambda point: exposure.attackers.index(point.attacker))
    outcome = CommandOutcome(
        about=list(_about(exposure, guard)),
        findings=findings(exposure, max(budgets, default=0.0), defender=guard.settings.defender),
        tables=tables(exposure, points),
        notes=MEANING,
        settings={"dataset": arguments.dataset, "settings": plain(guard.settings)},
    )
    present(outcome, arguments, console)


_BUDGETS = {"ratings": (0.3, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0), "columns": (0.1, 0.25, 0.5, 0.75, 1.0)}
"""Budgets of the curves, where none are given."""


def _on_ratings(arguments: argparse.Namespace) -> Defense:
    if arguments.attribute is not None:
        raise InputError(f"--attribute is for tables, got it with --dataset {arguments.dataset}.")
    settings = _chosen(arguments, GuardSettings, TableSettings, "tables")
    if arguments.dataset == "demo_ratings":
        return RatingsDefense(demo_ratings(), settings)
    local = data_folder_of(arguments)
    if local is None:
        raise DataUnavailableError(
            "The Google Play ratings cannot be downloaded; name their folder with --data or FAIRLEAK_DATA, or use "
            "--dataset demo_ratings."
        )
    return RatingsDefense(read_ratings(local), settings)


def _on_table(arguments: argparse.Namespace) -> Defense:
    settings = _chosen(arguments, TableSettings, GuardSettings, "ratings")
    dataset = dataset_of(arguments)
    config = AuditConfig(dataset=arguments.dataset, roles=dataset.roles, seed=settings.seed)
    return table_defense(dataset, config, settings)


_G = TypeVar("_G", GuardSettings, TableSettings)


def _chosen(arguments: argparse.Namespace, settings_class: type[_G], other_class: type, data_kind: str) -> _G:
    """Return the settings of a class, and refuse those that only the other class has."""
    for name, setting in params(other_class).items():
        if name not in params(settings_class) and hasattr(arguments, setting.argument):
            raise InputError(f"{setting.flag} is for {data_kind}, got it with --dataset {arguments.dataset}.")
    values = flag_values(arguments, settings_class)
    if ("given" in values) != (values.get("target") == "given"):
        raise InputError(f"--given must come with --target given, got --target {values.get('target')}.")
    return settings_class(**values)


def _about(exposure: Exposure, guard: Defense) -> Iterator[str]:
    private = f"private: {exposure.attribute}, {len(exposure.values)} values"
    yield f"{exposure.truth.size:,} people of {exposure.title}; {private}"
    short = {name: value for name, value in plain(guard.settings).items() if isinstance(value, (str, int, float))}
    texts = {name: ("on" if value else "off") if isinstance(value, bool) else value for name, value in short.items()}
    yield "Noise: " + ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in texts.items())
    if not any(guess.trained_at is not None for guess in exposure.guesses):
        return
    trained = ", ".join(f"{budget:g}" for budget in guard.trained_at)
    yield f"Adversarial attackers are trained at {trained} {exposure.unit}; each budget shows the nearest one."
