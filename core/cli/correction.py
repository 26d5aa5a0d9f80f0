"""``fairleak attack correction``: reconstruction correction on one model, or its parts over seeds."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from core.cli.arguments import (
    add_file_arguments,
    add_running_arguments,
    add_seeds_argument,
    finished,
    seeds_in,
)
from core.cli.attack import add_study_arguments, config_of, run_study
from core.cli.console import Console, Outcome, present
from core.config import AuditConfig
from core.correction import (
    KINDS,
    MEASURES,
    Attribution,
    LeakPoint,
    attribute_over_seeds,
    leak_configs,
    measure_leak,
)
from core.correction.findings import DETAILS, MEANING, constraint_effect, control_findings, mitigation_truth, tables
from core.correction.study import STUDY
from core.errors import InputError
from core.serialize import plain

HELP = "Measure attribute reconstruction from a disclosed fairness constraint."

_OVER_SEEDS = {"seeds": "42", "jobs": 1, "scheduler": None, "store": None}
"""Arguments of --decompose alone -> their defaults."""

_ONE_MODEL = ("--seed", "--adversary", "--cost", "--as-published", "--disclosed-tolerance")
"""Settings that --decompose does not have: it takes every seed, both attackers and the trained tolerance."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_study_arguments(parser, STUDY)
    told = "What each piece of the attackers' knowledge adds, over seeds."
    parser.add_argument("--decompose", action="store_true", help=told)
    add_file_arguments(parser)
    own = parser.add_argument_group("with --decompose")
    add_seeds_argument(own)
    add_running_arguments(own)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Attack one model, or measure what each piece of knowledge adds over seeds."""
    _check(arguments)
    if arguments.decompose:
        _decompose(arguments, console)
    else:
        run_study(STUDY, arguments, console)


def _check(arguments: argparse.Namespace) -> None:
    """Refuse arguments of the other kind of run."""
    if arguments.decompose:
        flags = {flag: flag.strip("-").replace("-", "_") for flag in _ONE_MODEL}
        wrong = [flag for flag, name in flags.items() if hasattr(arguments, name)]
    else:
        wrong = [f"--{name}" for name, default in _OVER_SEEDS.items() if getattr(arguments, name) != default]
    if wrong:
        raise InputError(f"{wrong[0]} must come {'without' if arguments.decompose else 'with'} --decompose.")


def _decompose(arguments: argparse.Namespace, console: Console) -> None:
    """Measure the model and its unmitigated twin for every seed, and print the parts of both attackers' accuracy."""
    config = config_of(arguments)
    configs = leak_configs(config, seeds_in(arguments.seeds))
    points = sorted(
        finished(configs, arguments, console, measure=measure_leak, result=LeakPoint), key=lambda p: p.config.seed
    )
    own = [point for point in points if point.config.method == config.method]
    leaks = [attribute_over_seeds([point.attributions[name] for point in own]) for name in KINDS]
    effects = [constraint_effect(leak, measure) for leak in leaks for measure in MEASURES]
    mitigated = [] if config.method == "unmitigated" else [mitigation_truth(points, config)]
    found = Outcome(
        about=list(_about(config, leaks[0])),
        findings=[*effects, *mitigated, *control_findings(points, own, config)],
        tables=tables(points, leaks, config),
        details=DETAILS,
        notes=MEANING,
        settings={"settings": plain(config) | {"seed": [point.config.seed for point in own]}},
    )
    present(found, arguments, console)


def _about(config: AuditConfig, first: Attribution) -> Iterator[str]:
    over = "over seeds (t)" if first.n_seeds > 1 else "over people; one seed is no evidence for another"
    what = f"{config.dataset}, {config.method}, {config.metric}"
    noise = f", trained with epsilon {config.epsilon:g}" if config.method == "dp_id3" else ""
    yield f"Where the leak comes from: {what}, tolerance {config.tolerance:g}{noise}"
    yield f"{first.n_seeds} seeds; the model kept the tolerance in {first.n_true}. In brackets: 95% intervals {over}."
