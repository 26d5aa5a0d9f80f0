"""``python -m core release``: what the fairness numbers of a model card give away, and whom they pin down."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.commands.arguments import data_folder_of
from core.commands.console import Console
from core.commands.release_words import everything, told
from core.commands.running import add_file_arguments, check_files, write_csv, write_json
from core.datasets.catalog import default_cache_folder
from core.decision import load_model, load_table
from core.decision.release_plan import ReleasePlan, read_release
from core.decision.release_sources import named, people_of, study_of
from core.files import content_of
from core.release import Advice, ReleasedPeople, advise
from core.release.study import ReleaseStudy

NAME = "release"
HELP = "print what the fairness numbers of a model card give away; exit code 0 nobody is pinned down, 1 somebody is"

_EPILOG = (
    "exit codes: 0 nobody is pinned down, with noise in none of the draws looked at; 1 somebody is, be it in one of "
    "these draws; 2 the attacker's posterior could not be worked out, or a typed number is not what the table gives; 3 "
    "input that cannot be used. Every gap is the rate of the first group minus that of the others; of more than two "
    "groups the first is the one that people.group names."
)

_UNDECIDED = 2
_STEPS_PER_NOTE = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = _EPILOG
    parser.add_argument("plan", type=Path, metavar="FILE", help="a TOML file; its own files lie in the same folder")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="of the catalogue; $FAIRLEAK_DATA when left out")
    parser.add_argument(
        "--no-advice",
        action="store_true",
        help="do not try which precision pins nobody down; nor is it tried for typed numbers",
    )
    add_file_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Meter, measure and print."""
    check_files(arguments)
    name = arguments.plan.name
    plan = read_release(content_of(arguments.plan, what="FILE"), name=name)
    folder, local = arguments.plan.absolute().parent, data_folder_of(arguments)
    with named(name, "data.file" if plan.source.data.file else "[data]"):
        table = load_table(plan.source, folder=folder, data_folder=local, cache_folder=default_cache_folder())
    with named(name, "model.file"):
        model_file = load_model(plan.source, folder=folder)
    report = console.counting("steps of training", every=_STEPS_PER_NOTE, first=1)
    people = people_of(plan, table, model_file=model_file, name=name, report=report)
    study = study_of(plan, people, name=name)
    advice = None if arguments.no_advice or plan.numbers else _advice(plan, people, study, console)
    console.results(told(plan, people, study, advice))
    write_csv(study.to_frame(), arguments.csv, console)
    write_json(everything(plan, people, study, advice), arguments.json, console)
    return _exit_code(study)


def _exit_code(study: ReleaseStudy) -> int:
    if study.status != "converged" or study.disputed:
        return _UNDECIDED
    if study.most_pinned:
        return 1
    return 0 if study.draws is None or study.draws.known else _UNDECIDED


def _advice(plan: ReleasePlan, people: ReleasedPeople, study: ReleaseStudy, console: Console) -> Advice:
    report = console.counting("precisions tried", every=_STEPS_PER_NOTE, first=1)
    seed = plan.settings.seed
    return advise(people.posterior, study.published.release, sensitive=people.sensitive, seed=seed, report=report)
