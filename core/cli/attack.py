"""``fairleak attack NAME``: any study by its name; every flag of it may be given as ``--set key=value`` too."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from core.cli.arguments import Action, Parser, add_dataset_arguments, add_file_arguments, check_epsilon, dataset_of
from core.cli.console import Console, Outcome, present
from core.config import AuditConfig
from core.errors import InputError
from core.quantities import Quantity
from core.serialize import plain
from core.settings import add_arguments as add_settings
from core.settings import from_arguments, params
from core.study import Measurement, Study
from core.subject import subject_of

_MODEL = ("method", "metric", "tolerance", "epsilon", "depth", "train_share", "forest", "seed")


class StudyParser(Parser):
    """A parser whose arguments may be given as ``--set key=value``."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.add_argument(
            "--set", action="append", metavar="KEY=VALUE", help="Any argument by its name, such as seed=1; repeatable."
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, with the words that ``--set key=value`` stands for in its place."""
        return super().parse_known_args([*self._words(args or ())], namespace)

    def _words(self, given: Iterable[str]) -> Iterator[str]:
        words = iter(given)
        for word in words:
            if word == "--set":
                yield from self._setting(next(words, ""))
            elif word.startswith("--set="):
                yield from self._setting(word.removeprefix("--set="))
            else:
                yield word

    def _setting(self, text: str) -> Iterator[str]:
        keys = {_key(action): action for action in self._actions if action.dest not in ("help", "set")}
        key, sign, value = text.partition("=")
        if not sign or key not in keys:
            self.error(f"--set must be KEY=VALUE with a key among {', '.join(keys)}, got {text!r}")
        flags = keys[key].option_strings
        if not flags:
            yield value
        elif keys[key].nargs != 0:
            yield f"{_long(flags)}={value}"
        elif value == "true" or (value == "false" and len(flags) > 1 and flags[1].startswith("--no-")):
            yield flags[value == "false"]
        elif value != "false":
            self.error(f"--set {key} must be true or false, got {value!r}")


def _key(action: argparse.Action) -> str:
    return _long(action.option_strings).strip("-").replace("-", "_") if action.option_strings else action.dest


def _long(flags: Iterable[str]) -> str:
    return next(flag for flag in flags if flag.startswith("--"))


def add_study_arguments(parser: argparse.ArgumentParser, study: Study[Any, Any]) -> None:
    """Add the dataset's arguments, the model's and the study's own."""
    add_dataset_arguments(parser)
    own = {setting.flag for setting in params(study.settings).values()}
    add_settings(parser, AuditConfig, *(name for name in _MODEL if params(AuditConfig)[name].flag not in own))
    add_settings(parser, study.settings)


def config_of(own: argparse.Namespace) -> AuditConfig:
    """Return the model that the arguments describe."""
    config = from_arguments(own, AuditConfig, dataset=own.dataset)
    check_epsilon(config.epsilon, (config.method,))
    return config


def run_study(study: Study[Any, Any], own: argparse.Namespace, console: Console) -> None:
    """Run a study on a model that is trained as the arguments say; print and write what it found."""
    config, settings = config_of(own), from_arguments(own, study.settings)
    subject = subject_of(config, dataset_of(own))
    if reason := study.unavailable(subject, settings):
        raise InputError(reason)
    *_, result = study.run(subject, settings, console.counting("steps"))
    checks = list(map(_check_row, study.checks(result, settings).values()))
    found = Outcome(
        about=(f"{subject.dataset.title}: {study.title.lower()}, model {config.method}, seed {config.seed}",),
        findings=study.findings(result, settings),
        tables={"Checks": checks, **study.tables(result, settings)},
        settings={"study": study.name, "model": plain(config), "settings": plain(settings)},
    )
    present(found, own, console)


def _check_row(own: Measurement) -> dict[str, Any]:
    value, control = Quantity(own.estimate), Quantity(own.control)
    control_name = own.control_name if own.control is not None else ""
    return {"check": own.check, "value": value, "control": control, "control is": control_name, "note": own.reason}


def study_command(study: Study[Any, Any]) -> Action:
    """Return the command of a study that has no module of its own here."""

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        add_study_arguments(parser, study)
        add_file_arguments(parser)

    return Action(
        f"{study.title}: findings and tables about one trained model.", add_arguments, partial(run_study, study)
    )
