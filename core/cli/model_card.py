"""``fairleak card``: what the published fairness numbers of a model card reveal."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

from ..auditing import load_model, load_table
from ..auditing.card_plan import ReleasePlan, error_context, people_of, read_release, study_of
from ..base.files import content_of
from ..base.serialize import plain
from ..base.settings import add_arguments as add_settings
from ..base.settings import flag_values, params
from ..datasets.catalog import default_cache_folder
from ..studies.model_card import STATISTIC_TITLES, Advice, ModelCardResult, ModelCardSettings, advise
from ..studies.model_card.findings import DETAILS, tables
from ..studies.model_card.findings import advice as advised
from ..studies.model_card.study import STUDY
from .arguments import add_data_argument, add_file_arguments, add_path, data_folder_of
from .console import CommandOutcome, Console, present


def outcome(plan: ReleasePlan, study: ModelCardResult, advice: Advice | None) -> CommandOutcome:
    """Return what the card reveals, and which precision to publish."""
    first, *later_findings = STUDY.findings(study, study.settings)
    precision = [] if advice is None else [advised(advice, study)]
    return CommandOutcome(
        about=list(_head(plan, study)),
        findings=[replace(first, evidence=""), *later_findings, *precision],  # its evidence is that of the others
        tables=tables(study, advice),
        details=DETAILS,
        settings={"settings": plain(study.settings)},
        content=study.to_dict() | {"title": plan.title or study.people.title, "advice": plain(advice)},
    )


def _head(plan: ReleasePlan, study: ModelCardResult) -> Iterator[str]:
    """Say which numbers of which models these are."""
    settings, people = study.settings, study.people
    titles = {name: title.lower() for name, title in STATISTIC_TITLES.items()} | {"size": "group sizes"}
    names = [*settings.statistics, *["size"] * settings.sizes]
    if plan.numbers:
        names = [start for start in titles if any(name.startswith(start) for _, name in plan.numbers)]
    precision = f"{'typed, ' if plan.numbers else ''}{settings.precision}"
    where = {"test": "test records", "train": "training records"}[settings.on]
    yield f"{study.n:,} people of {people.title} ({where}); {people.attribute}: {people.group}, {people.other_group}"
    yield f"Models ({settings.family}): {study.n_models:,}; numbers ({precision}): {study.n_numbers:,}"
    yield f"Statistics: {', '.join(titles[name] for name in names)}"
    if any("gap" in name for name in names):
        yield f"A gap is the rate of {people.group} minus that of {people.other_group}"
    if plan.numbers:
        yield "Typed numbers replace those that publish.statistics and publish.sizes name; no others are read"


HELP = "Estimate what the fairness numbers of a model card reveal."

_EPILOG = (
    "exit codes: 0 pass, no near-certain inference of anybody's attribute; 1 fail, at least one; 2 inconclusive: the "
    "posterior did not converge, or a typed number is not the table's; 3 input that cannot be used. With answer noise "
    "every random repetition counts. Every gap is the rate of the first group minus that of the others; of more than "
    "two groups people.group is the first."
)

_STEPS_PER_NOTE = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = _EPILOG
    add_path(parser, "plan", help="TOML file of the card; the files in it lie in the same folder.")
    add_data_argument(parser)
    group = parser.add_argument_group("in place of the file's own")
    add_settings(group, ModelCardSettings, defaults=dict.fromkeys(params(ModelCardSettings)))
    help_text = "No search for a safe precision; there is none for typed numbers either."
    parser.add_argument("--no-advice", action="store_true", help=help_text)
    add_file_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> str:
    """Estimate, measure and print."""
    name = arguments.plan.name
    plan = read_release(
        content_of(arguments.plan, what="FILE"), name=name, instead=flag_values(arguments, ModelCardSettings)
    )
    folder, local = arguments.plan.absolute().parent, data_folder_of(arguments)
    with error_context(name, "data.file" if plan.source.data.file else "[data]"):
        table = load_table(plan.source, folder=folder, data_folder=local, cache_folder=default_cache_folder())
    with error_context(name, "model.file"):
        model_file = load_model(plan.source, folder=folder)
    report = console.counting("steps of training", every=_STEPS_PER_NOTE, first=1)
    people = people_of(plan, table, model_file=model_file, name=name, report=report)
    study = study_of(plan, people, name=name)
    advice = None
    if not (arguments.no_advice or plan.numbers):
        steps = console.counting("precisions tried", every=_STEPS_PER_NOTE, first=1)
        release, seed = study.published.release, plan.settings.seed
        advice = advise(people.posterior, release, sensitive=people.sensitive, seed=seed, report=steps)
    present(outcome(plan, study, advice), arguments, console)
    return _verdict(study)


def _verdict(study: ModelCardResult) -> str:
    if study.status != "converged" or study.disputed:
        return "inconclusive"
    if study.most_pinned:
        return "fail"
    return "pass" if study.draws is None or study.draws.known else "inconclusive"
