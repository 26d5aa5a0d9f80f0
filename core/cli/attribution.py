"""``python -m core attribution``: where one kind of model's leak comes from, over seeds."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.cli.arguments import (
    add_dataset_arguments,
    add_running_arguments,
    add_seeds_argument,
    check_epsilon,
    finished,
    seeds_in,
    write_csv,
)
from core.cli.console import Console, aligned, estimate_words, table
from core.config import AuditConfig
from core.correction import MEASURES, LeakAttribution, RepeatedStep, attribute_over_seeds
from core.estimates import Estimate, over_repeats
from core.leak import KINDS, LeakPoint, leak_configs, measure_leak
from core.settings import add_arguments as add_settings
from core.settings import from_arguments

NAME = "attribution"
HELP = "print what each piece of knowledge adds to what attackers recover, over seeds"

_STEPS = {
    "majority": "majority guess",
    "features": "features and label (A)",
    "predictions": "and predictions (A')",
    "shares": "and known group shares",
    "constraint": "and fairness bound",
    "constraint_without_shares": "A' + fairness bound, no shares",
    "permuted_predictions": "control: permuted predictions",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser)
    add_settings(parser, AuditConfig, "method", "metric", "tolerance", "epsilon", "train_share", "forest")
    add_seeds_argument(parser)
    add_running_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure the model and its unmitigated twin for every seed, and print the attribution of both attackers."""
    import pandas as pd

    config = from_arguments(arguments, AuditConfig, dataset=arguments.dataset)
    check_epsilon(config.epsilon, (config.method,))
    configs = leak_configs(config, seeds_in(arguments.seeds))
    points = sorted(
        finished(configs, arguments, console, measure=measure_leak, result=LeakPoint), key=lambda p: p.config.seed
    )
    own = [point for point in points if point.config.method == config.method]
    leaks = [attribute_over_seeds([point.attributions[name] for point in own]) for name in KINDS]
    console.results(_printed(config, leaks))
    console.results(_delta(points, config))
    console.results(_controls(own))
    write_csv(pd.concat([leak.to_frame() for leak in leaks]), arguments, console)


def _printed(config: AuditConfig, leaks: Sequence[LeakAttribution]) -> Iterator[str]:
    first = leaks[0]
    over = "over seeds (t)" if first.n_seeds > 1 else "over people; one seed says nothing of another"
    what = f"{config.dataset}, {config.method}, {config.metric}"
    noise = f", trained with epsilon {config.epsilon:g}" if config.method == "dp_id3" else ""
    yield f"Where the leak comes from: {what}, tolerance {config.tolerance:g}{noise}"
    yield f"{first.n_seeds} seeds; the model kept the tolerance in {first.n_true}. In brackets: 95% intervals {over}."
    yield "Accuracies in %, log-loss in nats a person; each change is against the step the line builds on."
    for leak in leaks:
        yield ""
        yield f"The {leak.attacker} attacker"
        header = ["step", "accuracy", "change", "balanced", "change", "log-loss", "change"]
        yield aligned(header, [_cells(step) for step in leak.steps])
        for measure in MEASURES:
            yield leak.sentence(measure=measure)
        for step in leak.steps:
            for reason in step.reasons:
                yield f"{_STEPS[step.step]}: {reason}"


def _cells(step: RepeatedStep) -> list[str]:
    cells = [_STEPS[step.step]]
    for measure in MEASURES:
        percent = measure != "log_loss"
        cells.append(estimate_words(step.values[measure].estimate, percent=percent))
        changed = estimate_words(step.changes[measure].estimate, percent=percent, signed=True) if step.changes else ""
        cells.append(changed)
    return cells


def _delta(points: Sequence[LeakPoint], config: AuditConfig) -> Iterator[str]:
    """Yield the fairness delta: the same data and seeds without mitigation and with it, paired by seed."""
    if config.method == "unmitigated":
        return
    by_config = {point.config: point for point in points}
    pairs = [
        (by_config[replace(p.config, method="unmitigated")], p) for p in points if p.config.method == config.method
    ]
    yield ""
    yield f"With mitigation and without: the same data and seeds, change = {config.method} minus unmitigated, in points"
    yield f"Attackers are told {config.tolerance:g} of both models, whether or not they keep it."
    yield ""
    rows = [
        _delta_row("model accuracy, test", [[q.accuracy_test.value for q in pair] for pair in pairs]),
        _delta_row("unfairness, train", [[q.achieved for q in pair] for pair in pairs]),
        _delta_row("difference between groups, train", [[q.difference_train for q in pair] for pair in pairs]),
    ]
    for name in KINDS:
        for step in ("predictions", "constraint"):
            values = [
                [next(s.accuracy.value for s in q.attributions[name].steps if s.step == step) for q in pair]
                for pair in pairs
            ]
            rows.append(_delta_row(f"{name} attacker, {_STEPS[step]}", values))
    yield aligned(["", "unmitigated", "mitigated", "change"], rows)


def _controls(own: Sequence[LeakPoint]) -> Iterator[str]:
    """Yield the permuted correction and the measured constraint, seed by seed."""
    yield ""
    yield "The paper's attacker A, in %: corrected with the model's predictions, with permuted ones (control), and with"
    yield "a constraint measured on the records she knows, not told; and right guesses on her own held-out records"
    yield ""
    rows = [
        {
            "seed": str(point.config.seed),
            "before": estimate_words(point.permuted.real.before),
            "corrected": estimate_words(point.permuted.real.after),
            "permuted": estimate_words(point.permuted.permuted.after),
            "measured": estimate_words(point.unknown.estimated.after),
            "measured as": point.unknown.estimate.metric,
            "tolerance": f"{point.unknown.estimate.tolerance:.4f}",
            "A held out": estimate_words(point.held_out["features"]),
            "strong": estimate_words(point.held_out["strong"]),
        }
        for point in own
    ]
    yield table(rows)
    yield "none: no guess agrees with the tolerance."


def _delta_row(name: str, pairs: Sequence[Sequence[float]]) -> list[str]:
    """Return means in %, and the change with its interval over seeds where there are several."""
    without, with_ = ([pair[side] for pair in pairs] for side in (0, 1))
    changes = [after - before for before, after in pairs]
    n = len(changes)
    change = over_repeats(changes) if n > 1 else Estimate(value=changes[0], low=float("nan"), high=float("nan"), n=1)
    return [name, f"{100 * sum(without) / n:.2f}", f"{100 * sum(with_) / n:.2f}", estimate_words(change, signed=True)]
