"""``python -m core reveal``: what answers to bias queries give away; the paper's table.

The noiseless rows of table 1 of Hamman et al. (2023), recomputed and printed beside the paper's.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from core.cli.arguments import (
    add_dataset_arguments,
    add_epsilon_argument,
    dataset_of,
    epsilon_of,
    table_named,
    write_csv,
)
from core.cli.console import Console, aligned, estimate_words
from core.config import AuditConfig
from core.errors import InputError
from core.fairness import METRICS
from core.files import check_place
from core.models import METHODS
from core.queries import DESIGNS, Asking, Leak, Mechanism, Trials, repeats_for
from core.questions import QueryPool, query_pool
from core.validation import choice, seed_value

_TABLE = ((100, 25), (100, 40), (1000, 300), (1000, 400))
_COMPLETE = {100: (25, 30, 35, 40, 45, 50, 55, 60), 1000: (200, 300, 400)}
_ATTACKS = {"l1": "l1 (paper's)", "nonnegative": "s >= 0", "box": "box, sum", "box_with_prior": "box, sum, prior"}


def noiseless_table(arguments: argparse.Namespace, console: Console) -> Iterator[str]:
    """Yield the noiseless rows as printed lines, and the numbers of questions from which on everybody is known."""
    import pandas as pd

    from core.datasets import build_dataset
    from core.datasets.catalog import black_and_white
    from core.queries import NOISELESS_ATTACKS, TABLE_1, complete_from, noiseless_row
    from core.questions import query_pool

    table, roles = black_and_white(table_named("adult", arguments))
    config = AuditConfig(dataset="adult", roles=roles, method="unmitigated", seed=arguments.seed)
    pool = query_pool(config, build_dataset(table, roles))
    yield "Hamman et al. (2023), table 1 without noise: Adult, Black and White people, questions jittered by 0.1"
    yield f"Leakage in % with 95% intervals over draws of people and questions, seed {arguments.seed}; a coin toss: 50"
    yield ""
    rows, records = [], []
    for i, (n, m) in enumerate(_TABLE):
        repeats = arguments.repeats or (200 if n == 100 else 5)
        row = noiseless_row(pool, n, m, repeats=repeats, seed=arguments.seed)
        console.progress(i + 1, len(_TABLE), noun="rows")
        printed = next(r for r in TABLE_1 if (r.n, r.m) == (n, m) and r.epsilon == float("inf"))
        cells = [f"n = {n}, m = {m}", str(repeats), f"{100 * printed.leakage_cauchy:.0f}"]
        rows.append(cells + [estimate_words(row.leakages[attack]) for attack in NOISELESS_ATTACKS])
        packed = f"{row.bits_questions} questions" if row.bits_complete else "not everybody"
        rows[-1].append(packed)
        for attack in NOISELESS_ATTACKS:
            found = row.leakages[attack]
            records.append({"n": n, "m": m, "attack": attack, "published": printed.leakage_cauchy} | found.to_dict())
    yield aligned(["", "draws", "paper", *(_ATTACKS[a] for a in NOISELESS_ATTACKS), "bits: all in"], rows)
    for n, numbers in _COMPLETE.items():
        repeats = arguments.repeats or (60 if n == 100 else 3)
        console.note(f"From how many questions on everybody of {n} is known")
        shares = dict(complete_from(pool, n, numbers, repeats=repeats, seed=arguments.seed))
        yield ""
        yield f"Questions after which everybody is known in each of {repeats} draws, n = {n}:"
        for attack in NOISELESS_ATTACKS:
            known = next((m for m in numbers if all(shares[k][attack] == 1.0 for k in numbers if k >= m)), None)
            yield f"  {_ATTACKS[attack]}: " + (str(known) if known is not None else f"more than {numbers[-1]}")
    write_csv(pd.DataFrame(records), arguments.csv, console)


NAME = "reveal"
HELP = "print how much of an attribute answers to bias queries give away"

_NOISES = ("exact", "rounded", "laplace", "cauchy", "smooth_laplace", "noisy_sums")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser)
    parser.add_argument("--table", action="store_true", help="the noiseless rows of Hamman et al.'s table 1, on Adult")
    parser.add_argument("--people", type=int, default=100, metavar="N", help="people asked about (default 100)")
    parser.add_argument("--questions", metavar="LIST", help="numbers of questions, such as 10,25,40")
    parser.add_argument("--design", default=DESIGNS[0], help=f"{', '.join(DESIGNS)} (default {DESIGNS[0]})")
    parser.add_argument("--noise", default="exact", help=f"{', '.join(_NOISES)} (default exact)")
    parser.add_argument(
        "--epsilon", type=float, default=5.0, metavar="E", help="privacy budget of all answers together"
    )
    parser.add_argument("--delta", type=float, default=1e-5, metavar="D", help="of smooth_laplace (default 0.00001)")
    parser.add_argument("--decimals", type=int, default=3, metavar="D", help="of rounded answers (default 3)")
    parser.add_argument("--as-published", action="store_true", help="noise as the paper prints it")
    parser.add_argument("--method", default=METHODS[0], help=f"of the audited model: {', '.join(METHODS)}")
    add_epsilon_argument(parser, "--model-epsilon")
    parser.add_argument("--metric", default=METRICS[0], help=f"asked for: {', '.join(METRICS)}")
    parser.add_argument("--seed", type=int, default=42, metavar="S", help="default 42")
    parser.add_argument("--repeats", type=int, metavar="R", help="draws of people, questions and noise")
    parser.add_argument("--csv", metavar="FILE", help="write every number to this file")


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Measure and print."""
    from pathlib import Path

    arguments.csv = Path(arguments.csv) if arguments.csv else None
    check_place(arguments.csv, what="--csv")
    seed_value(arguments.seed, name="--seed")
    if arguments.repeats is not None and arguments.repeats < 1:
        raise InputError(f"--repeats must be at least 1, got {arguments.repeats}.")
    console.results(noiseless_table(arguments, console) if arguments.table else _asked(arguments, console))
    return 0


def _asked(arguments: argparse.Namespace, console: Console) -> Iterator[str]:
    """Yield the leakage of one way of asking."""
    import pandas as pd

    choice(arguments.method, METHODS, name="--method")
    choice(arguments.metric, METRICS, name="--metric")
    choice(arguments.design, DESIGNS, name="--design")
    mechanism = _mechanism(arguments)
    dataset = dataset_of(arguments)
    config = AuditConfig(
        dataset=arguments.dataset,
        roles=dataset.roles,
        method=arguments.method,
        metric=arguments.metric,
        seed=arguments.seed,
        epsilon=epsilon_of(arguments, (arguments.method,), "--model-epsilon"),
    )
    pool = query_pool(config, dataset)
    asking = Asking(
        n=arguments.people,
        design=arguments.design,
        repeats=arguments.repeats or repeats_for(arguments.people),
        seed=arguments.seed,
    )
    trials = Trials(pool, asking)
    if arguments.as_published and not mechanism.holds(trials.n_advantaged, trials.n_disadvantaged):
        console.note(mechanism.why(True))
    numbers = _numbers(arguments.questions, trials)
    groups = f"{trials.n_advantaged} {pool.advantaged}, {trials.n_disadvantaged} {pool.disadvantaged}"
    yield f"{asking.n} people of {dataset.title}: {groups}"
    yield f"Questions: {asking.design}, about {pool.metric}, model {_model(arguments)}; answers: {_told(arguments)}"
    yield f"{asking.repeats} draws of people, questions and noise, seed {arguments.seed}; 95% intervals over them"
    yield "Leakage in % (balanced accuracy; a coin toss gives 50)"
    yield ""
    rows, records = [], []
    for i, m in enumerate(numbers):
        cells = [str(m)]
        for decoder in ("strongest", "without_prior", "published"):
            leak = trials.leak(m, mechanism, decoder)
            cells.append(estimate_words(leak.leakage))
            records.append(_record(leak, asking, pool, arguments))
        rows.append(cells)
        console.progress(i + 1, len(numbers), noun="numbers of questions")
    yield aligned(["answers", "strongest, with prior", "without prior", "paper's decoder"], rows)
    prior = trials.leak(0, mechanism, "strongest").leakage
    yield f"Without any answer, from features and label alone: {estimate_words(prior)}"
    limit = _limit(trials, mechanism)
    if limit is not None:
        yield f"What anybody with a calibrated prior and the group sizes can expect at most: {100 * limit:.1f}"
    write_csv(pd.DataFrame(records), arguments.csv, console)


def _model(arguments: argparse.Namespace) -> str:
    """Return how the audited model is trained, in words."""
    trained = f", epsilon {arguments.tree_epsilon:g}" if arguments.method == "dp_id3" else ""
    return f"{arguments.method}{trained}"


def _told(arguments: argparse.Namespace) -> str:
    """Return how answers are made, in words."""
    if arguments.noise == "exact":
        return "exact"
    if arguments.noise == "rounded":
        return f"rounded to {arguments.decimals} decimals"
    delta = f", delta {arguments.delta:g}" if arguments.noise == "smooth_laplace" else ""
    return f"{arguments.noise}, epsilon {arguments.epsilon:g}{delta}" + (
        ", as published" if arguments.as_published else ""
    )


def _limit(trials: Trials, mechanism: Mechanism) -> float | None:
    """Return the limit for attackers with prior and sizes, where the noise keeps its epsilon."""
    from core.queries import accuracy_limit_with_prior, prior_given_sizes

    if not mechanism.holds(trials.n_advantaged, trials.n_disadvantaged):
        return None
    given = prior_given_sizes(trials.prior, trials.n_advantaged)
    return accuracy_limit_with_prior(given, 2 * mechanism.epsilon)  # type: ignore[attr-defined]


def _record(leak: Leak, asking: Asking, pool: QueryPool, arguments: argparse.Namespace) -> dict[str, object]:
    """Return a row of the file of numbers: the leak, and everything it was measured with."""
    found = leak.leakage
    return {
        "dataset": arguments.dataset,
        "metric": pool.metric,
        "model": _model(arguments),
        "people": asking.n,
        "design": asking.design,
        "answers": _told(arguments),
        "seed": arguments.seed,
        "draws": asking.repeats,
        "number of answers": leak.m,
        "decoder": leak.decoder,
        "leakage": found.value,
        "low": found.low,
        "high": found.high,
        "lowest draw": leak.lowest,
        "draws with everybody recovered": leak.complete,
    }


def _numbers(text: str | None, trials: Trials) -> tuple[int, ...]:
    if text is None:
        return trials.numbers[:: max(1, len(trials.numbers) // 8)]
    try:
        numbers = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise InputError(f"--questions must be whole numbers with a comma between them, got {text!r}.") from None
    outside = [m for m in numbers if not 0 <= m <= trials.numbers[-1]]
    if outside:
        raise InputError(f"--questions must be in 0 to {trials.numbers[-1]}, got {outside[0]}.")
    return numbers


def _mechanism(arguments: argparse.Namespace) -> Mechanism:
    from core import queries

    choice(arguments.noise, _NOISES, name="--noise")
    if arguments.as_published and arguments.noise in ("exact", "rounded", "noisy_sums"):
        raise InputError(f"--as-published needs noise that the paper has, got --noise {arguments.noise}.")
    told = {"as_published": arguments.as_published}
    if arguments.noise == "rounded":
        return queries.Rounded(arguments.decimals)
    if arguments.noise == "laplace":
        return queries.LaplaceGlobal(arguments.epsilon, **told)
    if arguments.noise == "cauchy":
        return queries.SmoothCauchy(arguments.epsilon, **told)
    if arguments.noise == "smooth_laplace":
        return queries.SmoothLaplace(arguments.epsilon, arguments.delta, **told)
    return queries.NoisySums(arguments.epsilon) if arguments.noise == "noisy_sums" else queries.Exact()
