"""``python -m core release``: what the numbers of a model card give away, and about whom."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.cli.arguments import add_data_argument, add_file_arguments, data_folder_of, write_csv, write_json
from core.cli.console import Console, aligned, estimate_words
from core.datasets.catalog import default_cache_folder
from core.estimates import Estimate
from core.files import content_of
from core.model_card import (
    DISTANCE_MEDIAN,
    DISTANCE_WORST,
    DRAWS,
    STATISTIC_TITLES,
    Advice,
    ReleasedPeople,
    ReleaseSettings,
    advise,
    dispute,
    settled_as_most,
    unpredicted,
)
from core.model_card.study import ReleaseStudy
from core.release_audit import load_model, load_table
from core.release_audit.card_plan import ReleasePlan, named, people_of, read_release, study_of
from core.serialize import plain
from core.settings import add_arguments as add_settings
from core.settings import given, params

_SHOWN = 5
"""Typed numbers that are told to be untrue, one by one."""

_SETS = {"test": "test records", "train": "training records"}


def told(plan: ReleasePlan, people: ReleasedPeople, study: ReleaseStudy, advice: Advice | None) -> Iterator[str]:
    """Yield the lines, tables included."""
    yield from _disputes(plan, study)
    yield from _head(plan, people, study)
    yield ""
    yield _bits_table(study)
    if sentence := unpredicted(study):
        yield sentence
    yield ""
    yield _named_table(study)
    yield ""
    yield from _pinned_lines(people, study)
    if advice is not None:
        yield ""
        yield _advice_table(advice)
        yield _advice_line(advice)


def _head(plan: ReleasePlan, people: ReleasedPeople, study: ReleaseStudy) -> Iterator[str]:
    settings = study.settings
    names = _published(plan, settings)
    models = "1 model" if study.n_models == 1 else f"{study.n_models} models"
    numbers = "1 number" if study.n_numbers == 1 else f"{study.n_numbers:,} numbers"
    yield f"{study.n:,} people of {study.title} ({_SETS[plan.on]}); {study.attribute}: {study.group}, {study.other}"
    if people.left_out:
        yield f"Of {people.rows_read:,} records of the table not everybody is looked at: {' '.join(people.left_out)}"
    yield f"{models} ({plan.models}), {numbers}, {_precision(settings, plan)}: {', '.join(names)}"
    if any("gap" in name for name in names):
        yield f"A gap is the rate of {study.group} minus that of {study.other}"
    if plan.numbers:
        yield "Typed numbers stand in place of those that publish.statistics and publish.sizes name; no others are read"
    yield (
        f"Posterior: information projection, {100 * DISTANCE_MEDIAN:.0f} points from the exact one in the median "
        f"release about 6 to 12 people, {100 * DISTANCE_WORST:.0f} in the worst"
    )
    if settings.epsilon is not None and not plan.numbers:
        yield f"Noise drawn with seed {settings.seed}, and anybody can draw it again: not numbers to publish"
    if study.status != "converged":
        yield f"Not to be relied on: {study.reason}"


def _disputes(plan: ReleasePlan, study: ReleaseStudy) -> Iterator[str]:
    """Say first of all what was typed and is not so."""
    if not study.disputed:
        return
    place = {key: i for i, key in enumerate(plan.numbers, start=1)}
    for found in study.disputed[:_SHOWN]:
        model, statistic = found.number.model, found.number.statistic
        what = f"{statistic} of {model}" if model else statistic
        yield f"Not what this table gives: number {place[model, statistic]}, {what}, {dispute(found, study)}."
    if (more := len(study.disputed) - _SHOWN) > 0:
        yield f"Not what this table gives either: {more:,} more typed number{'' if more == 1 else 's'}."
    precise = "exact, for publish.decimals is left out" if study.settings.decimals is None else "so rounded"
    yield f"Everything below is as if the typed numbers were true and {precise}."
    yield ""


def _if_true(study: ReleaseStudy) -> str:
    return ", if what is typed were true" if study.disputed else ""


def _published(plan: ReleasePlan, settings: ReleaseSettings) -> list[str]:
    titles = STATISTIC_TITLES | {"size": "Group sizes"}
    if plan.numbers:
        known = {title.lower() for start, title in titles.items() for _, name in plan.numbers if name.startswith(start)}
        return [title.lower() for title in titles.values() if title.lower() in known]
    return [titles[name].lower() for name in (*settings.statistics, *["size"] * settings.sizes)]


def _precision(settings: ReleaseSettings, plan: ReleasePlan) -> str:
    typed = "typed, " if plan.numbers else ""
    if settings.epsilon is not None:
        return f"{typed}with noise of epsilon {settings.epsilon:g}"
    return f"{typed}exact" if settings.decimals is None else f"{typed}{settings.decimals} decimals"


def _bits_table(study: ReleaseStudy) -> str:
    meter, bits = study.meter, study.measured.bits
    rows = [
        ["gain of the attacker, measured", _span(bits)],
        [f"gain of the attacker, predicted {_how(study)}", _span(study.prediction.bits)],
        ["what the numbers hold at most, by the meter", f"{meter.joint_bits:.1f}"],
        ["of that, told person by person", f"{meter.person_bits:.1f}"],
        ["what there was to know", f"{meter.prior_bits:.1f}"],
        ["at most, as a share of it (from 1: as a rule all determined)", f"{meter.share:.3f}"],
    ]
    return aligned([f"Bits{_if_true(study)}", "value"], rows)


def _span(bits: Estimate) -> str:
    return f"{bits.value:.1f}" + ("" if math.isnan(bits.low) else f" [{bits.low:.1f}, {bits.high:.1f}]")


def _how(study: ReleaseStudy) -> str:
    draws = study.prediction.draws
    return f"from {draws} draws of the attribute" if draws else "by the meter's formula"


def _named_table(study: ReleaseStudy) -> str:
    found = study.measured
    both = (
        ("of all", found.accuracy_before, found.accuracy_after, found.accuracy_gain, found.majority),
        ("balanced", found.balanced_before, found.balanced_after, found.balanced_gain, found.majority_balanced),
    )
    rows = [
        [
            name,
            estimate_words(before),
            estimate_words(after),
            estimate_words(gain, signed=True),
            estimate_words(majority),
        ]
        for name, before, after, gain, majority in both
    ]
    return aligned([f"Named rightly, %{_if_true(study)}", "before", "after", "gain", "majority guess"], rows)


def _pinned_lines(people: ReleasedPeople, study: ReleaseStudy) -> Iterator[str]:
    found = study.pinned
    if study.status == "infeasible":
        yield "Pinned down: not known, because no posterior agrees with the numbers"
        return
    rule = "unsure before (5 to 95%), settled after (beyond 99.5%)"
    whom = f"of {found.n_unsure:,} people the attacker was unsure about"
    here = f"nobody {whom}"
    if found.count:
        right = "" if found.right is None else f", {round(found.right.value * found.count):,} of them rightly"
        here = f"{found.count:,} {whom}{right}{_as_most(study, people)}"
    may_differ = study.draws is not None and (study.most_pinned or not study.draws.known)
    draw = "in this draw of the noise " if may_differ else ""
    yield f"Pinned down{_if_true(study)}: {draw}{here}{_at_worst(study)}; {rule}"
    if not found.count:
        return
    cells = study.in_common
    rest = "" if math.isnan(cells.median_cell_rest) else f", anybody else with {cells.median_cell_rest - 1:,.0f}"
    yield (
        f"In common: the median pinned person shares label and all predictions with {cells.median_cell - 1:,.0f} "
        f"others{rest}"
    )
    if cells.values:
        rows = [
            [f"{value.column}: {value.value}", estimate_words(value.among_pinned), estimate_words(value.among_rest)]
            for value in cells.values
        ]
        yield aligned(["In common, %", "pinned", "the rest"], rows)


def _at_worst(study: ReleaseStudy) -> str:
    """Say what the worst of several draws of the noise pins down."""
    draws = study.draws
    if draws is None:
        return ""
    if not draws.known and not study.most_pinned:
        return f", in {draws.count} draws not known, because in some no posterior agrees with the numbers"
    if not study.most_pinned:
        return f", in any of {draws.count} draws of the noise"
    return f", in the worst of {draws.count} draws {study.most_pinned:,}"


def _as_most(study: ReleaseStudy, people: ReleasedPeople) -> str:
    """Say where everybody pinned is settled as what most people are."""
    share = settled_as_most(study, people)
    return "" if share is None else f", all as {share[0]}, as {100 * share[1]:.0f}% of people are"


def _advice_table(advice: Advice) -> str:
    rows = []
    for row in advice.tried:
        pinned, draws = f"{row.pinned:,}" if row.known else "not known", "" if row.epsilon is None else f"{row.draws}"
        rows.append([_tried(row.decimals, row.epsilon), pinned, draws, f"{row.df_bits:.1f}"])
    return aligned(["Precision", "pinned", "worst of draws", "bits predicted"], rows)


def _tried(decimals: int | None, epsilon: float | None) -> str:
    if epsilon is not None:
        return f"epsilon {epsilon:g}"
    return "exact" if decimals is None else f"{decimals} decimal{'' if decimals == 1 else 's'}"


def _advice_line(advice: Advice) -> str:
    if advice.exact:
        misled = "; noise does in some draws, because it misleads" if advice.misled else ""
        return f"Advice: even exact numbers pin nobody down here{misled}"
    ways = [] if advice.decimals is None else [f"at most {_tried(advice.decimals, None)}"]
    if advice.epsilon is not None:
        ways.append(f"noise of epsilon {advice.epsilon:g} or less (nobody in {DRAWS} draws)")
    if not ways:
        return "Advice: no precision tried pins nobody down; publish fewer models"
    return f"Advice: {', or '.join(ways)}, pins nobody down, for these people and these models"


def everything(plan: ReleasePlan, people: ReleasedPeople, study: ReleaseStudy, advice: Advice | None) -> dict[str, Any]:
    """Return the content of the JSON file; people are told by their row numbers in the table's used records."""
    found = study.pinned
    return {
        "title": plan.title or study.title,
        "attribute": study.attribute,
        "groups": [study.group, study.other],
        "people": study.n,
        "on": plan.on,
        "family": plan.models,
        "models": list(people.names[: study.n_models]),
        "settings": plain(study.settings),
        "status": study.status,
        "reason": study.reason,
        "meter": plain(study.meter) | {"share": study.meter.share},
        "prediction": plain(study.prediction),
        "measured": plain(study.measured),
        "pinned": {
            "count": found.count,
            "most in any draw": study.most_pinned,
            "unsure before": found.n_unsure,
            "right": plain(found.right),
            "rows": people.rows[found.people].tolist(),
            "before": found.before.tolist(),
            "after": found.after.tolist(),
            "said": found.said.tolist(),
        },
        "in common": plain(study.in_common),
        "draws": plain(study.draws),
        "disputed": plain(study.disputed),
        "left out": list(people.left_out),
        "advice": None if advice is None else plain(advice),
        "published": [plain(number) for number in study.published.numbers],
        "distance of the projection": {"median": DISTANCE_MEDIAN, "worst": DISTANCE_WORST},
    }


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
    add_data_argument(parser)
    own = parser.add_argument_group("in place of what the file says")
    add_settings(own, ReleaseSettings, defaults=dict.fromkeys(params(ReleaseSettings)))
    parser.add_argument(
        "--no-advice",
        action="store_true",
        help="do not try which precision pins nobody down; nor is it tried for typed numbers",
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
    console.results(told(plan, people, study, advice))
    write_csv(study.to_frame(), arguments, console)
    write_json(everything(plan, people, study, advice), arguments, console)
    return _exit_code(study)


def _exit_code(study: ReleaseStudy) -> int:
    if study.status != "converged" or study.disputed:
        return _UNDECIDED
    if study.most_pinned:
        return 1
    return 0 if study.draws is None or study.draws.known else _UNDECIDED
