"""``python -m core attribution``: where one kind of model's leak comes from, over seeds."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

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
from core.correction import (
    KINDS,
    MEASURES,
    STEP_TITLES,
    Attribution,
    LeakPoint,
    LeakStep,
    attribute_over_seeds,
    leak_configs,
    measure_leak,
)
from core.correction.findings import constraint_effect, control_findings, mitigation_rows, mitigation_truth
from core.settings import add_arguments as add_settings
from core.settings import from_arguments

NAME = "attribution"
HELP = "print what each piece of knowledge adds to what attackers recover, over seeds"


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
    console.results(_steps(config, leaks))
    console.results(_compared(points, own, config))
    write_csv(pd.concat([leak.to_frame() for leak in leaks]), arguments, console)


def _steps(config: AuditConfig, leaks: Sequence[Attribution]) -> Iterator[str]:
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
            yield constraint_effect(leak, measure).text
        for step in leak.steps:
            for reason in step.reasons:
                yield f"{STEP_TITLES[step.step]}: {reason}"


def _cells(step: LeakStep) -> list[str]:
    cells = [STEP_TITLES[step.step]]
    for measure in MEASURES:
        percent = measure != "log_loss"
        cells.append(estimate_words(step.values[measure], percent=percent))
        changed = estimate_words(step.changes[measure], percent=percent, signed=True) if step.changes else ""
        cells.append(changed)
    return cells


def _compared(points: Sequence[LeakPoint], own: Sequence[LeakPoint], config: AuditConfig) -> Iterator[str]:
    """Yield the model beside the unmitigated one, paired by seed, and the controls."""
    if rows := mitigation_rows(points, config):
        yield ""
        yield f"With mitigation ({config.method}) and without, in %; differences in points, paired by seed"
        yield mitigation_truth(points, config).text
        yield ""
        yield table([{name: _cell(value) for name, value in row.items()} for row in rows])
    yield ""
    for finding in control_findings(points, own, config):
        yield finding.text
    yield ""
    yield "Accuracy of the published attack A in %, by seed: corrected with the model's predictions, with permuted"
    yield "ones, and with a constraint the attacker estimates; and of both attackers on their own validation sets"
    yield ""
    yield table(
        [
            {
                "seed": str(point.config.seed),
                "before": estimate_words(point.real.before),
                "corrected": estimate_words(point.real.after),
                "permuted": estimate_words(point.permuted.after),
                "measured": estimate_words(point.unknown.estimated.after),
                "measured as": point.unknown.estimate.metric,
                "tolerance": f"{point.unknown.estimate.tolerance:.4f}",
                "A held out": estimate_words(point.held_out["features"]),
                "strong": estimate_words(point.held_out["strong"]),
            }
            for point in own
        ]
    )
    yield "none: no guess agrees with the tolerance."


def _cell(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)
