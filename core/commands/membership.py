"""``python -m core membership``: who is recognised as trained on, group by group, at several privacy budgets."""

from __future__ import annotations

import argparse
import math
import warnings
from dataclasses import replace
from pathlib import Path

from core.commands.arguments import names_in, table_and_roles
from core.commands.console import Console
from core.commands.membership_files import everything, records
from core.commands.membership_words import told
from core.commands.membership_work import Work, measured
from core.commands.running import add_file_arguments, check_files, write_csv, write_json
from core.config import AuditConfig
from core.datasets import CATALOG, Roles, Table, build_dataset
from core.datasets.splits import split
from core.errors import InputError, PrivacyLeakWarning
from core.membership import (
    ATTACKS,
    TARGETS,
    MembershipSettings,
    MembershipSplit,
    Train,
    audited_target,
    default_depth,
    member_people,
    split_between,
)
from core.models.dp_id3 import ACCOUNTINGS
from core.validation import LEAST_EPSILON, choice, seed_value

NAME = "membership"
HELP = "print how well attackers tell who was in the training data, and which group more, at several privacy budgets"

_EPSILONS = "inf,10,1,0.1"
_MOST = 100.0
"""Largest finite privacy budget: beyond it the tree grows without end, and noise no longer matters."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--dataset", default="demo", metavar="NAME", help=f"one of {', '.join(CATALOG)} (default demo)")
    parser.add_argument("--attribute", metavar="NAME", help="such as sex or race/each; the first one when left out")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="of data files; $FAIRLEAK_DATA when left out")
    parser.add_argument("--target", default="dp_id3", help=f"one of {', '.join(TARGETS)} (default dp_id3)")
    parser.add_argument("--epsilon", metavar="LIST", help=f"privacy budgets of dp_id3 (default {_EPSILONS})")
    parser.add_argument(
        "--accounting", default="savings", help=f"of dp_id3: {', '.join(ACCOUNTINGS)} (default savings)"
    )
    parser.add_argument("--depth", type=int, metavar="D", help="of the trees; by the number of columns when left out")
    parser.add_argument("--attacks", default="all", metavar="LIST", help=f"some of {', '.join(ATTACKS)} (default all)")
    parser.add_argument("--shadows", type=int, default=64, metavar="N", help="shadow models of lira (default 64)")
    parser.add_argument("--theta", type=float, default=1.0, metavar="T", help="also delete rows by FairPick (1: none)")
    parser.add_argument(
        "--repeats",
        type=int,
        default=1,
        metavar="R",
        help="of the network attack and of FairPick (default 1)",
    )
    parser.add_argument("--seed", type=int, default=42, metavar="S", help="default 42")
    add_file_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Measure and print."""
    import pandas as pd

    check_files(arguments)
    work = _work(arguments)
    if work.settings[0].accounting == "naive":
        console.note("Warning: with the naive accounting every count gets the whole epsilon; the tree is not private.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)  # said above, once
        audit = measured(work, console)
    console.results(told(audit))
    write_csv(pd.DataFrame(records(audit, arguments.dataset)), arguments.csv, console)
    write_json(everything(audit, arguments.dataset), arguments.json, console)
    return 0


def _work(arguments: argparse.Namespace) -> Work:
    """Check the arguments, then read the data."""
    choice(arguments.target, TARGETS, name="--target")
    choice(arguments.accounting, ACCOUNTINGS, name="--accounting")
    seed_value(arguments.seed, name="--seed")
    epsilons, attacks = _epsilons(arguments), names_in(arguments.attacks, ATTACKS, name="--attacks")
    _check_numbers(arguments)
    table, roles = table_and_roles(arguments)
    people = member_people(table, roles)
    base = MembershipSettings(
        target=arguments.target,
        max_depth=arguments.depth or default_depth(people),
        accounting=arguments.accounting,
        shadows=arguments.shadows,
        seed=arguments.seed,
    )
    train, shared_out = _audited(table, roles, arguments) if arguments.target == "audited" else (None, None)
    return Work(
        people=people,
        settings=tuple(replace(base, epsilon=epsilon) for epsilon in epsilons),
        attacks=tuple(name for name in ATTACKS if name in attacks),
        train=train,
        split=shared_out,
        theta=arguments.theta,
        repeats=arguments.repeats,
    )


def _check_numbers(arguments: argparse.Namespace) -> None:
    for name, least in (("depth", 1), ("repeats", 1), ("shadows", 4)):
        value = getattr(arguments, name)
        if value is not None and value < least:
            raise InputError(f"--{name} must be a whole number of at least {least}, got {value}.")
    if arguments.shadows % 2:
        raise InputError(f"--shadows must be even, half of them with each person, got {arguments.shadows}.")
    if not 0.0 < arguments.theta <= 1.0:
        raise InputError(f"--theta must be in (0, 1], got {arguments.theta:g}.")
    if arguments.accounting != "savings" and arguments.target != "dp_id3":
        raise InputError(f"--accounting is for the target dp_id3, got it with --target {arguments.target}.")
    if arguments.target == "audited":
        for name, neutral in (("theta", 1.0), ("repeats", 1)):
            if getattr(arguments, name) != neutral:
                raise InputError(
                    f"--{name} is not for the target audited, whose members are the audit's training records, got it "
                    "with --target audited."
                )


def _epsilons(arguments: argparse.Namespace) -> tuple[float, ...]:
    """Return the privacy budgets, each once; the only one of a target that has none is infinite."""
    if arguments.target != "dp_id3":
        if arguments.epsilon is not None:
            raise InputError(f"--epsilon is for the target dp_id3, got it with --target {arguments.target}.")
        return (math.inf,)
    text = _EPSILONS if arguments.epsilon is None else arguments.epsilon
    try:
        numbers = tuple(dict.fromkeys(float(part) for part in text.split(",")))
    except ValueError:
        raise InputError(f"--epsilon must be numbers, or inf, with a comma between them, got {text!r}.") from None
    for number in numbers:
        if not (LEAST_EPSILON <= number <= _MOST or number == math.inf):
            raise InputError(f"--epsilon must be from {LEAST_EPSILON:g} to {_MOST:g}, or inf, got {number:g}.")
    return numbers


def _audited(table: Table, roles: Roles, arguments: argparse.Namespace) -> tuple[Train, MembershipSplit]:
    """Return the audited fair model as a target, with the audit's own training and test records."""
    dataset = build_dataset(table, roles)
    config = AuditConfig(dataset=arguments.dataset, roles=roles, seed=arguments.seed)
    rows = split(dataset, train_share=config.train_share, seed=config.seed)
    return audited_target(config, dataset), split_between(rows.train, rows.test, seed=config.seed)
