"""``python -m core sweep``: measure a grid of configurations and print it as tables."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from core.audit import PROTOCOLS
from core.cli.arguments import (
    add_dataset_arguments,
    add_epsilon_argument,
    add_running_arguments,
    add_seeds_argument,
    epsilon_of,
    finished,
    names_in,
    numbers_in,
    seeds_in,
    write_csv,
)
from core.cli.console import Console, aligned, spread_words
from core.config import AuditConfig
from core.correction import COSTS
from core.fairness import METRICS
from core.files import check_place
from core.models import METHODS
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
from core.validation import choice

NAME = "sweep"
HELP = "measure many configurations and print what attackers recover from each"

_NAMED_TOLERANCES = {"18": TOLERANCES, "49": PAPER_TOLERANCES}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser)
    parser.add_argument(
        "--methods", default=METHODS[0], metavar="LIST", help=f"of {', '.join(METHODS)}, or all (default {METHODS[0]})"
    )
    parser.add_argument(
        "--metrics", default=METRICS[0], metavar="LIST", help=f"of {', '.join(METRICS)}, or all (default {METRICS[0]})"
    )
    parser.add_argument(
        "--tolerances", default="18", metavar="LIST", help="49, 18 (default), or numbers in [0, 1] such as 0,0.01,0.1"
    )
    add_epsilon_argument(parser)
    add_seeds_argument(parser)
    add_running_arguments(parser)
    parser.add_argument("--protocol", default=PROTOCOLS[0], help=f"of the printed tables: {', '.join(PROTOCOLS)}")
    parser.add_argument("--cost", default=COSTS[0], help=f"of the printed tables: {', '.join(COSTS)}")


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Measure and print; what is stored already is not measured again."""
    choice(arguments.protocol, PROTOCOLS, name="--protocol")
    choice(arguments.cost, COSTS, name="--cost")
    check_place(arguments.csv, what="--csv")
    points = finished(_configs(arguments), arguments, console, measure=measure, result=SweepPoint)
    summary = summarise(points)
    console.results(_printed(summary, arguments))
    write_csv(summary.to_frame(), arguments.csv, console)
    return 0


def _configs(arguments: argparse.Namespace) -> list[AuditConfig]:
    named = _NAMED_TOLERANCES.get(arguments.tolerances.strip())
    methods = names_in(arguments.methods, METHODS, name="--methods")
    return grid(
        AuditConfig(dataset=arguments.dataset, epsilon=epsilon_of(arguments, methods)),
        tolerances=numbers_in(arguments.tolerances, name="--tolerances") if named is None else named,
        methods=methods,
        metrics=names_in(arguments.metrics, METRICS, name="--metrics"),
        seeds=seeds_in(arguments.seeds),
    )


def _printed(summary: SweepSummary, arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the tables: recovered people, then the audited models; each number with its interval."""
    rows = [row for row in summary.rows if (row.protocol, row.cost) == (arguments.protocol, arguments.cost)]
    several = len({seed for row in rows for seed in row.seeds}) > 1
    over = "over seeds (t)" if several else "over people; one seed says nothing of another"
    where = f"{arguments.dataset}, exponent chosen {arguments.protocol}, cost {arguments.cost}"
    yield f"People whose attribute is recovered, % of those trained on ({where})"
    yield f"In brackets: {summary.level:.0%} intervals {over}. Majority: naming the larger group for everybody."
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
        yield f"dp_id3: a private tree trained with epsilon {arguments.tree_epsilon:g}."
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
