"""``fairleak attack NAME``: any study on any table; every flag of it may be given as ``--set key=value`` too."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..auditing import AuditPlan
from ..auditing.run import audited_of
from ..base.errors import InputError
from ..base.serialize import plain
from ..base.settings import params
from ..base.settings_text import add_arguments as add_settings
from ..base.settings_text import flag_values, toml_value
from ..models import GIVEN_PREDICTIONS
from ..stats.estimates import Quantity, Row
from ..studies.people import PEOPLE
from ..studies.people.people_study import LEGEND
from ..studies.registry import STUDIES
from ..studies.study import Basis, Measurement, Study
from ..studies.study import Outcome as CheckOutcome
from ..studies.subject import TRAINED_TOLERANCE, AuditConfig
from .arguments import (
    TABLE_OPTIONS,
    Action,
    Parser,
    add_file_arguments,
    add_planned_table_arguments,
    check_epsilon,
    data_folder_of,
    flag_of,
    planned_table,
)
from .console import Console, present

_MODEL = ("method", "metric", "tolerance", "epsilon", "depth", "train_share", "forest", "seed")

_MOST_ROWS = 40
"""Rows of the longest table that is printed."""

_INTERNAL = "Internal only: these rows are about single people."


class StudyParser(Parser):
    """A parser whose arguments may be given as ``--set key=value``."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.add_argument(
            "--set",
            action="append",
            metavar="KEY=VALUE",
            help="Any argument by its name, such as seed=1; repeatable.",
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, with the words that ``--set key=value`` stands for in its place."""
        return super().parse_known_args([*self._expanded(args or ())], namespace)

    def _expanded(self, arguments: Iterable[str]) -> Iterator[str]:
        tokens = iter(arguments)
        for word in tokens:
            if word == "--set":
                yield from self._setting(next(tokens, ""))
            elif word.startswith("--set="):
                yield from self._setting(word.removeprefix("--set="))
            else:
                yield word

    def _setting(self, text: str) -> Iterator[str]:
        keys = {
            _key(action): action for action in self._actions if action.dest not in ("help", "set")
        }
        key, sign, value = text.partition("=")
        if not sign or key not in keys:
            self.error(f"--set must be KEY=VALUE with a key among {', '.join(keys)}, got {text!r}")
        flags = keys[key].option_strings
        if not flags:
            yield value
        elif keys[key].nargs != 0:
            yield f"{_long(flags)}={value}"
        elif value == "true" or (
            value == "false" and len(flags) > 1 and flags[1].startswith("--no-")
        ):
            yield flags[value == "false"]
        elif value != "false":
            self.error(f"--set {key} must be true or false, got {value!r}")


def _key(action: argparse.Action) -> str:
    if action.option_strings:
        return _long(action.option_strings).strip("-").replace("-", "_")
    return action.dest


def _long(flags: Iterable[str]) -> str:
    return next(flag for flag in flags if flag.startswith("--"))


def attack_studies() -> Mapping[str, Study[Any, Any]]:
    """Return name -> study of every study that a command runs, the one about single people too."""
    return {**STUDIES, PEOPLE.name: PEOPLE}


def add_study_arguments(parser: argparse.ArgumentParser, study: Study[Any, Any]) -> None:
    """Add the options of the table, of the model, of the study, and of the files."""
    add_planned_table_arguments(parser, other_data=study.other_data)
    flags = {setting.flag for setting in params(study.settings).values()}
    names = [name for name in _MODEL if params(AuditConfig)[name].flag not in flags]
    model = parser.add_argument_group("the model, in place of the plan's")
    add_settings(model, AuditConfig, *names, defaults={"tolerance": TRAINED_TOLERANCE})
    if flags:
        group = parser.add_argument_group("the study, in place of the plan's")
        add_settings(group, study.settings, defaults=study.command_defaults)
    add_file_arguments(parser)


def run_study(study: Study[Any, Any], arguments: argparse.Namespace, console: Console) -> None:
    """Run a study on the planned table, or on other data of its own; print and write what it found.

    Raises `InputError` if the table cannot serve it, with the study's reason.
    """
    chosen = flag_values(arguments, study.settings)
    about: tuple[str, ...] = ()
    subject: Any
    if arguments.dataset in study.other_data:
        subject = _other_subject(study, arguments)
        settings = replace(study.settings(), **{**study.command_defaults, **chosen})
        described = {"dataset": arguments.dataset, "seed": subject.config.seed}
    else:
        plan, table, model_file, guesses = planned_table(arguments, console)
        config = plan.config
        if config.method != GIVEN_PREDICTIONS:
            check_epsilon(config.epsilon, (config.method,))
        settings = _settings_of(study, plan, arguments)
        begun = _begun(study, settings, chosen)
        settings = replace(settings, **begun, **chosen)
        if arguments.plan is not None:
            about = _begun_text(study, begun)
        subject = audited_of(plan, table, model_file=model_file, guesses=guesses)
        described = {"model": plain(subject.config)}
    if reason := study.unavailable(subject, settings):
        raise InputError(reason)
    every = max(1, study.steps(subject, settings) // 10)
    *_, result = study.run(subject, settings, console.counting("steps", every=every))
    checks = study.checks(result, settings)
    attacked = [
        check
        for check in checks.values()
        if check.basis not in (Basis.DECLARED, Basis.NOT_RELEASED)
    ]
    if attacked and all(check.outcome == CheckOutcome.NOT_RUN for check in attacked):
        raise InputError(attacked[0].reason)
    tables: dict[str, Sequence[Row]] = {"Checks": list(map(_check_row, checks.values()))}
    tables |= study.tables(result, settings)
    notes = () if study.name in STUDIES else (f"{LEGEND}.", _INTERNAL)
    present(
        arguments,
        console,
        about=(*_about(study, subject), *about),
        findings=study.findings(result, settings),
        tables=tables,
        details=[title for title, rows in tables.items() if len(rows) > _MOST_ROWS],
        notes=notes,
        settings={"study": study.name, **described, "settings": plain(settings)},
    )


def _other_subject(study: Study[Any, Any], arguments: argparse.Namespace) -> Any:
    """Return data of a study that are no table; whatever is about a table or its model is refused."""
    model = flag_values(arguments, AuditConfig)
    flags = {flag_of(name): getattr(arguments, name) for name in ("plan", *TABLE_OPTIONS)}
    flags |= {
        params(AuditConfig)[name].flag: value for name, value in model.items() if name != "seed"
    }
    for flag, value in flags.items():
        if value is not None:
            raise InputError(f"{flag} is for tables, got it with --dataset {arguments.dataset}.")
    seed = model.get("seed", AuditConfig().seed)
    return study.other_data[arguments.dataset](data_folder_of(arguments), seed)


def _settings_of(study: Study[Any, Any], plan: AuditPlan, arguments: argparse.Namespace) -> Any:
    """Return the plan's settings of a study, or its defaults where no plan is given."""
    if arguments.plan is None and study.name in STUDIES:
        return study.settings()
    return plan.settings_of(study.name, study.settings)


def _begun(study: Study[Any, Any], settings: Any, chosen: Collection[str]) -> dict[str, Any]:
    """Return what the command sets because the plan leaves the study out, but for the flags given."""
    default = study.settings()
    return {
        name: value
        for name, value in study.command_defaults.items()
        if name not in chosen and getattr(settings, name) == getattr(default, name)
    }


def _begun_text(study: Study[Any, Any], begun: Mapping[str, Any]) -> tuple[str, ...]:
    """Say what a plan leaves out and the command sets instead, in one sentence; empty where that is nothing."""
    default = study.settings()
    return tuple(
        f"The plan has {name} = {toml_value(getattr(default, name))}, which leaves this study out: it is run with "
        f"{name} = {toml_value(value)}."
        for name, value in begun.items()
    )


def _about(study: Study[Any, Any], subject: Any) -> tuple[str, ...]:
    """Return whose records these are, and which model is attacked, a line each."""
    dataset = subject.dataset
    config = subject.config
    groups = ", ".join(dataset.group_names)
    model = ""
    if config.dataset not in study.other_data:
        if config.method == GIVEN_PREDICTIONS:
            model = "the given model, "
        else:
            model = f"model {config.method}, "
    return (
        f"{dataset.title}: {dataset.n:,} records; {subject.attribute}: {groups}",
        f"{study.title}, {model}seed {config.seed}",
    )


def _check_row(measurement: Measurement) -> dict[str, Any]:
    control_name = "" if measurement.control is None else measurement.control_name
    return {
        "check": measurement.check,
        "value": Quantity(measurement.estimate),
        "control": Quantity(measurement.control),
        "control is": control_name,
        "note": measurement.reason,
    }


def study_command(study: Study[Any, Any]) -> Action:
    """Return the command of a study."""
    return Action(
        f"Run the study {study.title!r}.",
        partial(add_study_arguments, study=study),
        partial(run_study, study),
    )
