"""``python -m core sweep``: measure a grid of configurations and print it as tables."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from core.audit import PROTOCOLS
from core.cli.arguments import (
    add_dataset_arguments,
    add_running_arguments,
    add_seeds_argument,
    check_epsilon,
    finished,
    parts_of,
    seeds_in,
    write_csv,
)
from core.cli.console import Console, aligned, spread_words
from core.config import AuditConfig
from core.correction import COSTS
from core.fairness import METRICS
from core.files import check_place
from core.models import METHODS
from core.settings import Settings, from_arguments
from core.settings import add_arguments as add_settings
from core.study import Param
from core.sweep import (
    PAPER_TOLERANCES,
    TOLERANCES,
    Spread,
    SweepPoint,
    SweepRow,
    SweepSummary,
    grid,
    measure,
    summarise,
)
from core.validation import unit_interval

NAME = "sweep"
HELP = "measure many configurations and print what attackers recover from each"

_NAMED_TOLERANCES = {"18": TOLERANCES, "49": PAPER_TOLERANCES}


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSettings(Settings):
    """Which configurations are measured, and which of their numbers are printed."""

    methods: Annotated[
        tuple[str, ...],
        Param("Fair learning", "How models are trained, or all: {options}.", options=METHODS, some=True),
    ] = METHODS[:1]
    metrics: Annotated[
        tuple[str, ...], Param("Fairness metrics", "Fairness metrics, or all: {options}.", options=METRICS, some=True)
    ] = METRICS[:1]
    tolerances: Annotated[
        str, Param("Tolerances", "Trained for and told: 49, 18, or numbers in [0, 1] such as 0,0.01,0.1.")
    ] = "18"
    protocol: Annotated[
        str, Param("Protocol", "How the exponent of the printed tables is chosen: {options}.", options=PROTOCOLS)
    ] = PROTOCOLS[0]
    cost: Annotated[str, Param("Cost", "Cost of the printed tables: {options}.", options=COSTS)] = COSTS[0]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser)
    add_settings(parser, SweepSettings)
    add_settings(parser, AuditConfig, "epsilon", "train_share", "forest")
    add_seeds_argument(parser)
    add_running_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Measure and print; what is stored already is not measured again."""
    settings = from_arguments(arguments, SweepSettings)
    config = from_arguments(arguments, AuditConfig, dataset=arguments.dataset)
    check_epsilon(config.epsilon, settings.methods)
    check_place(arguments.csv, what="--csv")
    configs = grid(
        config,
        tolerances=_tolerances(settings.tolerances),
        methods=settings.methods,
        metrics=settings.metrics,
        seeds=seeds_in(arguments.seeds),
    )
    summary = summarise(finished(configs, arguments, console, measure=measure, result=SweepPoint))
    console.results(_printed(summary, settings, config))
    write_csv(summary.to_frame(), arguments.csv, console)
    return 0


def _tolerances(text: str) -> tuple[float, ...]:
    if (named := _NAMED_TOLERANCES.get(text.strip())) is not None:
        return named
    parts = parts_of(text, name="--tolerances")
    return tuple(dict.fromkeys(unit_interval(part, name="--tolerances") for part in parts))  # type: ignore[arg-type]


def _printed(summary: SweepSummary, settings: SweepSettings, config: AuditConfig) -> Iterator[str]:
    """Yield the tables: recovered people, then the audited models; each number with its interval."""
    rows = [row for row in summary.rows if (row.protocol, row.cost) == (settings.protocol, settings.cost)]
    several = len({seed for row in rows for seed in row.seeds}) > 1
    over = "over seeds (t)" if several else "over people; one seed says nothing of another"
    where = f"{config.dataset}, exponent chosen {settings.protocol}, cost {settings.cost}"
    yield f"People whose attribute is recovered, % of those trained on ({where})"
    yield f"In brackets: 95% intervals {over}. Majority: naming the larger group for everybody."
    yield ""
    header = ["method", "metric", "attacker", "tolerance", "seeds", "true", "majority", "before", "after", "gain"]
    yield aligned(
        header,
        [
            [
                row.method,
                row.metric,
                row.adversary,
                f"{row.tolerance:g}",
                str(len(row.seeds)),
                str(row.n_true),
                spread_words(row.majority),
                spread_words(row.before),
                _with_missing(row.after, len(row.seeds)),
                spread_words(row.gain, signed=True),
            ]
            for row in rows
        ],
        left=3,
    )
    if any(row.method == "dp_id3" for row in rows):
        yield f"dp_id3: a private tree trained with epsilon {config.epsilon:g}."
    yield "true: seeds in which the model kept the tolerance told. none: no guess agrees with it; with --protocol"
    yield "as_published the tolerance is raised until the model keeps it."
    yield ""
    yield from _models(rows)


def _with_missing(after: Spread | None, seeds: int) -> str:
    words = spread_words(after)
    return words if after is None or after.n == seeds else f"{words} ({after.n} of {seeds})"


def _models(rows: list[SweepRow]) -> Iterator[str]:
    yield "Audited models: accuracy in %. unfair: largest deviation of a group from the overall rate. differ:"
    yield "difference between groups, which is Fairlearn's (demographic parity difference and kin)."
    yield ""
    one = {(row.method, row.metric, row.tolerance): row for row in rows}
    header = ["method", "metric", "tolerance", "train", "test", "majority, test", "unfair, train", "unfair, test"]
    header += ["differ, train", "differ, test"]
    yield aligned(
        header,
        [
            [
                row.method,
                row.metric,
                f"{row.tolerance:g}",
                *(spread_words(spread) for spread in (row.model_train, row.model_test, row.model_majority)),
                *(spread_words(spread, percent=False) for spread in (row.unfairness_train, row.unfairness_test)),
                *(spread_words(spread, percent=False) for spread in (row.difference_train, row.difference_test)),
            ]
            for row in one.values()
        ],
        left=2,
    )
