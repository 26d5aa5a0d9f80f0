"""``python -m core release``: what the numbers of a model card give away, and about whom."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from core.cli.arguments import add_data_argument, add_file_arguments, data_folder_of, write_csv, write_json
from core.cli.console import Console, aligned, estimate_words
from core.datasets.catalog import default_cache_folder
from core.files import content_of
from core.model_card import STATISTIC_TITLES, Advice, ReleaseSettings, ReleaseStudy, advise
from core.model_card.findings import advice as advised
from core.model_card.findings import bits_text
from core.model_card.settings import precision_text
from core.model_card.study import STUDY
from core.release_audit import load_model, load_table
from core.release_audit.card_plan import ReleasePlan, named, people_of, read_release, study_of
from core.serialize import plain
from core.settings import add_arguments as add_settings
from core.settings import given, params
from core.study import Finding


def told(plan: ReleasePlan, study: ReleaseStudy, advice: Advice | None) -> Iterator[str]:
    """Yield the lines, tables included."""
    yield from _head(plan, study)
    first, *others = STUDY.findings(study, study.settings)
    for finding in (replace(first, evidence=""), *others):  # its evidence is that of the others
        yield ""
        yield from _lines(finding)
    for table in _figures(study):
        yield ""
        yield table
    if study.in_common.values:
        yield ""
        yield aligned(
            ["In common, %", "disclosed", "the rest"],
            [
                [f"{value.column}: {value.value}", estimate_words(value.among_pinned), estimate_words(value.among_rest)]
                for value in study.in_common.values
            ],
        )
    if advice is not None:
        yield ""
        rows = []
        for row in advice.tried:
            disclosed, draws = f"{row.pinned:,}" if row.known else "not known", "" if row.epsilon is None else row.draws
            rows.append([precision_text(row.decimals, row.epsilon), disclosed, f"{draws}", f"{row.df_bits:.1f}"])
        yield aligned(["Precision", "disclosed", "worst of draws", "bits expected"], rows)
        yield from _lines(advised(advice, study))


def _head(plan: ReleasePlan, study: ReleaseStudy) -> Iterator[str]:
    """Say which numbers of which models these are."""
    settings, people = study.settings, study.people
    titles = {name: title.lower() for name, title in STATISTIC_TITLES.items()} | {"size": "group sizes"}
    names = [*settings.statistics, *["size"] * settings.sizes]
    if plan.numbers:
        names = [start for start in titles if any(name.startswith(start) for _, name in plan.numbers)]
    counted = ((study.n_models, "model"), (study.n_numbers, "number"))
    models, numbers = (f"{n:,} {word}{'' if n == 1 else 's'}" for n, word in counted)
    precision = f"{'typed, ' if plan.numbers else ''}{settings.precision}"
    where = {"test": "test records", "train": "training records"}[settings.on]
    yield f"{study.n:,} people of {people.title} ({where}); {people.attribute}: {people.group}, {people.other}"
    yield f"{models} ({settings.family}), {numbers}, {precision}: {', '.join(titles[name] for name in names)}"
    if any("gap" in name for name in names):
        yield f"A gap is the rate of {people.group} minus that of {people.other}"
    if plan.numbers:
        yield "Typed numbers replace those that publish.statistics and publish.sizes name; no others are read"


def _lines(finding: Finding) -> Iterator[str]:
    yield from filter(None, (finding.point, finding.evidence, finding.so_what, finding.to_do, *finding.caveats))


def _figures(study: ReleaseStudy) -> Iterator[str]:
    """Yield the tables of accuracies and bits."""
    found, meter, bits = study.measured, study.meter, study.prediction.bits
    rows = [
        ["accuracy before, %", estimate_words(found.accuracy_before), estimate_words(found.balanced_before)],
        ["accuracy after, %", estimate_words(found.accuracy_after), estimate_words(found.balanced_after)],
        ["gain, points", *(estimate_words(one, signed=True) for one in (found.accuracy_gain, found.balanced_gain))],
        ["majority-class baseline, %", estimate_words(found.majority), estimate_words(found.majority_balanced)],
    ]
    yield aligned(["Inference", "over all", "balanced"], rows)
    expected = "" if math.isnan(bits.low) else f" [{bits_text(bits.low)}, {bits_text(bits.high)}]"
    gains = [
        ["measured", f"{bits_text(found.bits.value)} [{bits_text(found.bits.low)}, {bits_text(found.bits.high)}]"],
        ["expected", f"{bits_text(bits.value)}{expected}"],
        ["all numbers together", bits_text(meter.joint_bits)],
        ["of that, person by person", bits_text(meter.person_bits)],
        ["uncertainty before publication", bits_text(meter.prior_bits)],
    ]
    yield aligned(["Bits", "value"], gains)


NAME = "release"
HELP = "print what the fairness numbers of a model card give away; exit code 0 nobody is disclosed, 1 somebody is"

_EPILOG = (
    "exit codes: 0 nobody's attribute is inferred with near certainty, with noise in none of the draws looked at; 1 "
    "somebody's is, be it in one of these draws; 2 the attacker's posterior could not be worked out, or a typed number "
    "is not what the table gives; 3 input that cannot be used. Every gap is the rate of the first group minus that of "
    "the others; of more than two groups the first is the one that people.group names."
)

_UNDECIDED = 2
_STEPS_PER_NOTE = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = _EPILOG
    parser.add_argument("plan", type=Path, metavar="FILE", help="a TOML file; its own files lie in the same folder")
    add_data_argument(parser)
    own = parser.add_argument_group("in place of what the file says")
    add_settings(own, ReleaseSettings, defaults=dict.fromkeys(params(ReleaseSettings)))
    parser.add_argument(
        "--no-advice",
        action="store_true",
        help="do not try which precision discloses nobody; nor is it tried for typed numbers",
    )
    add_file_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Meter, measure and print."""
    name = arguments.plan.name
    plan = read_release(content_of(arguments.plan, what="FILE"), name=name, instead=given(arguments, ReleaseSettings))
    folder, local = arguments.plan.absolute().parent, data_folder_of(arguments)
    with named(name, "data.file" if plan.source.data.file else "[data]"):
        table = load_table(plan.source, folder=folder, data_folder=local, cache_folder=default_cache_folder())
    with named(name, "model.file"):
        model_file = load_model(plan.source, folder=folder)
    report = console.counting("steps of training", every=_STEPS_PER_NOTE, first=1)
    people = people_of(plan, table, model_file=model_file, name=name, report=report)
    study = study_of(plan, people, name=name)
    advice = None
    if not (arguments.no_advice or plan.numbers):
        tell = console.counting("precisions tried", every=_STEPS_PER_NOTE, first=1)
        release, seed = study.published.release, plan.settings.seed
        advice = advise(people.posterior, release, sensitive=people.sensitive, seed=seed, report=tell)
    console.results(told(plan, study, advice))
    write_csv(study.to_frame(), arguments, console)
    content = study.to_dict() | {"title": plan.title or people.title, "advice": plain(advice)}
    write_json(content, arguments, console)
    return _exit_code(study)


def _exit_code(study: ReleaseStudy) -> int:
    if study.status != "converged" or study.disputed:
        return _UNDECIDED
    if study.most_pinned:
        return 1
    return 0 if study.draws is None or study.draws.known else _UNDECIDED
