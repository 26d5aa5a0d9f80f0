"""``python -m core attriguard``: how far noise misleads who infers an attribute."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.attriguard import (
    ATTACKER_TITLES,
    DEFENDERS,
    POLICIES,
    PUBLISHED_CURVE,
    TABLE_ATTACKER_TITLES,
    TARGETS,
    GuardSettings,
    Point,
    Study,
    TableSettings,
    ratings_study,
    table_study,
)
from core.cli.arguments import (
    add_file_arguments,
    check_files,
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
from core.serialize import Result, plain
from core.validation import choice, seed_value

NAME = "attriguard"
HELP = "print how far noise on people's records misleads who infers their private attribute"

_RATINGS = ("ratings", "demo_ratings")
_BUDGETS = {True: "0.3,0.5,1,2,3,4,5", False: "0.1,0.25,0.5,0.75,1"}  # on ratings, on tables
_PAPER = "Jia and Gong (2018): network, noise of a network"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    names = ", ".join([*_RATINGS, *CATALOG])
    parser.add_argument("--dataset", default="demo", metavar="NAME", help=f"one of {names} (default demo)")
    parser.add_argument("--attribute", metavar="NAME", help="of a table, such as sex; its first one when left out")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="of data files; $FAIRLEAK_DATA when left out")
    parser.add_argument("--policy", help=f"what may change in ratings: {', '.join(POLICIES)} (default modify_add)")
    parser.add_argument("--defender", help=f"of ratings: {', '.join(DEFENDERS)}; of a table: logistic, ranges")
    parser.add_argument("--target", help=f"{', '.join(TARGETS)} (default train_shares on ratings, uniform on tables)")
    parser.add_argument("--given", metavar="LIST", help="the shares of --target given, such as 0.5,0.5")
    parser.add_argument("--margin", type=float, default=0.0, metavar="M", help="lead of the wanted value (default 0)")
    parser.add_argument("--budgets", metavar="LIST", help="entries changed per person on average, such as 0.5,1,2")
    parser.add_argument("--seed", type=int, default=42, metavar="S", help="default 42")
    add_file_arguments(parser)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What to study, checked, before any of the work."""

    studies: Iterator[Study]
    settings: Result
    titles: dict[str, str]
    trained_at: tuple[float, ...]


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Measure and print."""
    import pandas as pd

    check_files(arguments)
    choice(arguments.dataset, [*_RATINGS, *CATALOG], name="--dataset")
    seed_value(arguments.seed, name="--seed")
    budgets = _budgets(arguments)
    work = (_on_ratings if arguments.dataset in _RATINGS else _on_table)(arguments, console)
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
    records = [_record(point, work.titles, arguments) for point in points]
    write_csv(pd.DataFrame(records), arguments.csv, console)
    write_json(_everything(study, points, budgets, work, arguments), arguments.json, console)
    return 0


def _budgets(arguments: argparse.Namespace) -> tuple[float, ...]:
    """Return the budgets asked for, each once; without any noise, which is budget 0, is always among the results."""
    asked = _BUDGETS[arguments.dataset in _RATINGS] if arguments.budgets is None else arguments.budgets
    return tuple(budget for budget in dict.fromkeys(_numbers(asked, name="--budgets")) if budget > 0)


def _on_ratings(arguments: argparse.Namespace, console: Console) -> _Work:
    if arguments.attribute is not None:
        raise InputError(f"--attribute is for tables, got it with --dataset {arguments.dataset}.")
    settings = GuardSettings(seed=arguments.seed, margin=arguments.margin, **_chosen(arguments))
    ratings = _ratings(arguments)
    studies = ratings_study(ratings, settings, console.counting("steps"))
    return _Work(studies=studies, settings=settings, titles=ATTACKER_TITLES, trained_at=settings.trained_at)


def _on_table(arguments: argparse.Namespace, console: Console) -> _Work:
    if arguments.policy is not None:
        raise InputError(f"--policy is for ratings, got it with --dataset {arguments.dataset}.")
    settings = TableSettings(seed=arguments.seed, margin=arguments.margin, **_chosen(arguments))
    dataset = dataset_of(arguments)
    config = AuditConfig(dataset=arguments.dataset, roles=dataset.roles, seed=arguments.seed)
    studies = table_study(dataset, config, settings, report=console.counting("steps"))
    return _Work(studies=studies, settings=settings, titles=TABLE_ATTACKER_TITLES, trained_at=settings.trained_budgets)


def _chosen(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were given; the others keep their defaults."""
    if (arguments.given is not None) != (arguments.target == "given"):
        raise InputError(f"--given must come with --target given, got --target {arguments.target}.")
    told = {name: getattr(arguments, name) for name in ("policy", "defender", "target")}
    if arguments.given is not None:
        told["given"] = _numbers(arguments.given, name="--given")
    return {name: value for name, value in told.items() if value is not None}


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
    if arguments.dataset == "ratings" and budgets:
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


def _settings_words(settings: Result) -> str:
    """Return the settings that are one word or number each."""
    told = {name: value for name, value in plain(settings).items() if isinstance(value, (str, int, float))}
    words = {name: ("on" if value else "off") if isinstance(value, bool) else value for name, value in told.items()}
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in words.items())


def _cell(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.1f} ±{50 * (estimate.high - estimate.low):.1f}"


def _record(point: Point, titles: dict[str, str], arguments: argparse.Namespace) -> dict[str, Any]:
    """Return a row of the file of numbers."""
    row: dict[str, Any] = {
        "dataset": arguments.dataset,
        "attacker": point.attacker,
        "title": titles[point.attacker],
        "budget": point.budget,
        "trained at": point.trained_at,
        "seed": arguments.seed,
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


def _numbers(text: str, *, name: str) -> tuple[float, ...]:
    """Return the numbers of at least 0 in a list such as "0.5,1"."""
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{name} must be numbers with a comma between them, got {text!r}.") from None
    wrong = [number for number in numbers if not (math.isfinite(number) and number >= 0)]
    if wrong:
        raise InputError(f"{name} must be numbers of at least 0, got {wrong[0]:g}.")
    return numbers
