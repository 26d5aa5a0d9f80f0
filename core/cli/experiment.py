"""Commands that measure many models: ``fairleak experiment`` and ``fairleak choose``.

An experiment is plans that differ in some keys, each measured by an audit's studies; over seeds it has means. A choice
is the most accurate model within all limits of a policy, judged on fresh people.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..auditing import (
    AuditPlan,
    checked_dataset,
    load_model,
    load_table,
    plan_text,
    read_plan,
)
from ..auditing.plan import plan_setting
from ..auditing.policy import Policy, Status
from ..base.errors import InputError
from ..base.files import content_of, csv_of_frame, write_file
from ..base.serialize import content_fingerprint, dumps, plain
from ..base.settings import Setting, value_excerpt
from ..base.settings_text import add_arguments as add_settings
from ..base.settings_text import from_arguments
from ..datasets import build_dataset
from ..experiments.choose import (
    CandidatePoint,
    CandidateSet,
    Choice,
    ChoiceOutcome,
    ChooseSettings,
    candidate_configs,
    choose,
    measure_all,
)
from ..experiments.choose.findings import (
    choice_reason,
    finding,
    numbers,
    order_texts,
    report_section,
    rows,
)
from ..experiments.experiment import (
    SEED,
    ExperimentRow,
    SeedSummary,
    grid_of,
    in_grid_order,
    measurable,
    measuring_studies,
    rows_frame,
    run_experiment,
    summarise,
)
from ..stats.estimates import Estimate, number_text
from ..studies.subject import AuditConfig
from .arguments import (
    Action,
    add_dataset_arguments,
    add_file_arguments,
    add_path,
    add_planned_table_arguments,
    add_policy_argument,
    add_running_arguments,
    add_seeds_argument,
    catalogue_table,
    collected,
    data_folder_of,
    parts_of,
    plan_of_dataset,
    planned_table,
    seeds_in,
)
from .audit import applied_policy
from .console import Console, interval_text, present, table, write_csv


def _add_experiment(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_planned_table_arguments(parser)
    help_text = "Key of a plan and its values, such as model.tolerance=0.01,0.05,0.1; repeatable, every combination."
    parser.add_argument("--vary", action="append", default=[], metavar="KEY=VALUES", help=help_text)
    help_text = (
        f"Studies whose checks are measured: {', '.join(measuring_studies())} (default: all)."
    )
    parser.add_argument("--studies", default="", metavar="LIST", help=help_text)
    help_text = "Checks, and numbers beside them, that are measured instead, such as attack_before,attack_gain."
    parser.add_argument("--measures", default="", metavar="LIST", help=help_text)
    add_seeds_argument(parser)
    add_running_arguments(parser)
    add_file_arguments(parser, "csv")


def _experiment(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and print; what is stored already is not measured again."""
    plan, people, model_file, guesses = planned_table(arguments, console)
    varied = dict(map(_varied, arguments.vary))
    if arguments.seeds is not None:
        if SEED in varied:
            raise InputError(
                f"--seeds must be left out where --vary names {SEED}, got {arguments.seeds!r}."
            )
        varied[SEED] = seeds_in(arguments.seeds)
    if "data.attribute" in varied and plan.data.dataset:
        plan = plan.without_roles
    grid = grid_of(plan, varied)
    measured = partial(
        run_experiment,
        grid,
        people,
        studies=_listed(arguments.studies, "--studies"),
        measures=_listed(arguments.measures, "--measures"),
        model_file=model_file,
        guesses=guesses,
    )
    uploaded = bool(plan.data.file)
    rows = in_grid_order(collected(measured, arguments, console, uploaded=uploaded), grid)
    summaries = summarise(rows)
    if any(len(summary.seeds) > 1 for summary in summaries):
        console.results(_printed_summary(summaries))
    else:
        console.results(_printed(rows))
    write_csv(csv_of_frame(rows_frame(rows)), arguments, console)


def _listed(text: str, name: str) -> tuple[str, ...]:
    """Return the names of a list; none of an empty one."""
    if text:
        return tuple(parts_of(text, name=name))
    return ()


def _varied(text: str) -> tuple[str, tuple[Any, ...]]:
    key, sign, values = text.partition("=")
    if not sign:
        raise InputError(
            f"--vary must be KEY=VALUES, such as model.tolerance=0.01,0.05, got {value_excerpt(text)}."
        )
    setting = plan_setting(key.strip())
    return key.strip(), tuple(
        _value(setting, part) for part in parts_of(values, name=f"--vary {key.strip()}")
    )


def _value(setting: Setting, text: str) -> Any:
    """Return a value as a plan has it; what cannot be read stays text, which breaks the setting's rule."""
    if text == "none":
        return None
    if setting.base is bool:
        return {"true": True, "false": False}.get(text, text)
    try:
        return setting.base(text)
    except ValueError:
        return text


def _printed(rows: Sequence[ExperimentRow]) -> Iterator[str]:
    """Yield the table: varied keys, check, value with interval, baseline."""
    yield "In brackets: 95% intervals over people. A row is a measurement under that plan."
    yield ""
    keys = list(rows[0].values) if rows else []
    yield table([_cells(row) for row in rows], left=len(keys) + 2)


def _cells(row: ExperimentRow) -> dict[str, str]:
    measurement = row.measurement
    return {
        **_keys(row.values),
        "study": row.study,
        "check": measurement.check,
        "value": _number(measurement.estimate),
        "baseline": _number(measurement.control),
        "note": measurement.reason,
    }


def _keys(values: Mapping[str, Any]) -> dict[str, str]:
    texts = {}
    for key, value in values.items():
        texts[key] = "none" if value is None else f"{value}"
    return texts


def _printed_summary(summaries: Sequence[SeedSummary]) -> Iterator[str]:
    """Yield the table over seeds: varied keys, check, mean with interval, standard deviation, baseline."""
    yield "Means over seeds; in brackets: 95% intervals over seeds (Student's t), of one seed over people."
    yield "Seeds share the people of the table: the intervals say nothing about another table."
    yield ""
    lines = [line for summary in summaries for line in _summary_cells(summary)]
    yield table(lines, left=len(summaries[0].values) + 2)


def _summary_cells(summary: SeedSummary) -> Iterator[dict[str, str]]:
    for name in dict.fromkeys((*summary.numbers, *summary.reasons)):
        spread = summary.numbers.get(name)
        seeds = 0
        deviation = ""
        if spread is not None:
            seeds = spread.seeds
            deviation = number_text(spread.sd, ".4f")
        yield {
            **_keys(summary.values),
            "study": measurable()[name][0],
            "check": name,
            "seeds": f"{seeds} of {len(summary.seeds)}",
            "mean": _number(spread),
            "sd": deviation,
            "baseline": _number(summary.baselines.get(name)),
            "note": summary.reasons.get(name, ""),
        }


def _number(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    return interval_text(estimate)


# Choose ---------------------------------------------------------------------------------------------------------------

_OF_PLAN = {"dataset": "demo", "attribute": None, "metric": None, "train_share": None}
_OF_PLANS = {
    **_OF_PLAN,
    "methods": None,
    "tolerances": None,
    "train_epsilons": None,
    "depths": None,
    "seeds": None,
}
"""Arguments that one plan, or each of several, says itself -> their defaults."""

_ALL_NUMBERS = "All numbers"

_NOTES = (
    "One half of the people chooses, the other judges the chosen model. Do not choose by the other half, too.",
    "Worst leak: the largest gain of an attack relative to its limit; 1 is the limit.",
)


def _add_choose(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = (
        "exit codes: 0 a model is recommended, 1 none is and the nearest fails, 2 none is and the nearest is "
        "inconclusive or not accurate enough, 3 input that cannot be used."
    )
    help_text = (
        "Plan of an audit. One to train by: models are made of its data and settings. "
        "Several: each is a model, "
    )
    help_text += "such as the predictions in one column, or a model file."
    add_path(parser, "plans", nargs="*", metavar="PLAN", help=help_text)
    add_dataset_arguments(parser)
    add_settings(parser, ChooseSettings)
    add_settings(parser, AuditConfig, "metric", "train_share")
    add_seeds_argument(parser)
    add_policy_argument(parser)
    add_path(parser, "-o", "--output", help="File for the plan of the chosen model.")
    add_running_arguments(parser)
    add_file_arguments(parser)


def _choose(arguments: argparse.Namespace, console: Console) -> str:
    """Measure the candidates and print the choice; what is stored already is not measured again."""
    settings = from_arguments(arguments, ChooseSettings)
    if arguments.plans:
        candidate_sets = _of_plans(arguments, settings)
        folder = arguments.plans[0].absolute().parent
    else:
        candidate_sets = [_of_dataset(arguments, settings)]
        folder = Path.cwd()
    policy = _policy(arguments, candidate_sets)
    measured = partial(measure_all, candidate_sets, seconds=60 * settings.minutes)
    uploaded = any(candidate_set.dataset.uploaded for candidate_set in candidate_sets)
    points: list[CandidatePoint] = collected(measured, arguments, console, uploaded=uploaded)
    attribute = candidate_sets[0].dataset.roles.attribute
    planned = sum(len(candidate_set.configs) for candidate_set in candidate_sets)
    choice = choose(points, policy, settings, attribute=attribute, planned=planned)
    plan = _plan(choice, candidate_sets)
    present(
        arguments,
        console,
        about=list(_about(choice, candidate_sets[0])),
        findings=[finding(choice)],
        tables={order_texts(choice)[0]: rows(choice), _ALL_NUMBERS: numbers(choice)},
        details=[_ALL_NUMBERS],
        notes=[f"Why: {choice_reason(choice)}", *_NOTES],
        settings={"settings": plain(settings)},
        content=_content(choice, plan, policy),
    )
    if arguments.output is not None:
        plan_path = arguments.output.absolute()
        write_file(arguments.output, plan_text(plan).encode(), what="--output")
        command = ["fairleak", "audit", plan_path.name]
        if arguments.policy:
            command += ["--policy", arguments.policy]
        audit = shlex.join(command)
        console.note(
            f"The plan of this model is in {arguments.output}; {audit} runs all attacks on it."
        )
        if (plan.data.file or plan.model.file) and plan_path.parent != folder:
            console.note("It names files beside the plan it was made of: move it there.")
    if choice.outcome == ChoiceOutcome.RECOMMENDED:
        return "pass"
    if Status.FAIL in (choice.chosen.choosing.status, choice.chosen.judging.status):
        return "fail"
    return "inconclusive"


def _policy(arguments: argparse.Namespace, candidate_sets: Sequence[CandidateSet]) -> Policy:
    """Return the policy that is named, or else the one that all plans name."""
    folders = [path.absolute().parent for path in arguments.plans] or [Path.cwd()]
    first, *later_policies = (
        applied_policy(arguments.policy, candidate_set.plan, folder)
        for candidate_set, folder in zip(candidate_sets, folders, strict=True)
    )
    if any(policy != first for policy in later_policies):
        raise InputError(
            "Models can be compared under one policy alone, got plans with several; name one (--policy)."
        )
    return first


def _of_dataset(arguments: argparse.Namespace, settings: ChooseSettings) -> CandidateSet:
    """Return models to train on a dataset of the catalogue."""
    plan = plan_of_dataset(arguments)
    table = catalogue_table(arguments.dataset, arguments)
    roles = table.roles_for(arguments.attribute or "")
    assert roles is not None  # what the entry of the catalogue offers
    base = from_arguments(arguments, AuditConfig, dataset=arguments.dataset, roles=roles)
    configs = candidate_configs(replace(plan, config=base), settings, _seeds(arguments, base))
    return CandidateSet(configs, build_dataset(table, roles), plan)


def _seeds(arguments: argparse.Namespace, base: AuditConfig) -> tuple[int, ...]:
    if arguments.seeds is None:
        return (base.seed,)
    return seeds_in(arguments.seeds)


def _of_plans(arguments: argparse.Namespace, settings: ChooseSettings) -> list[CandidateSet]:
    """Return the model of each plan; of one plan to train by, models made of its settings."""
    candidate_sets: list[CandidateSet] = []
    settled = _OF_PLANS if len(arguments.plans) > 1 else _OF_PLAN
    for name, default in settled.items():
        if (value := getattr(arguments, name, default)) != default:
            raise InputError(
                f"--{name.replace('_', '-')} must be left out where plans say it, got {value_excerpt(value)}."
            )
    for path in arguments.plans:
        plan = read_plan(content_of(path, what="PLAN"), name=path.name)
        folder = path.absolute().parent
        table = load_table(plan, folder=folder, data_folder=data_folder_of(arguments))
        dataset = checked_dataset(plan, table, model_file=load_model(plan, folder=folder))
        config = replace(plan.config, roles=dataset.roles)
        trained = plan.model.kind == "train"
        model_name = "" if trained else path.stem
        if len(arguments.plans) > 1:
            configs: Sequence[AuditConfig] = [config]
        elif trained:
            configs = candidate_configs(
                replace(plan, config=config), settings, _seeds(arguments, config)
            )
        else:
            raise InputError(
                f'One plan must say how to train (model.kind = "train"), got {plan.model.kind!r}; name several plans '
                "to compare their models."
            )
        candidate_sets.append(CandidateSet(configs, dataset, plan, model_name))
    names = [candidate_set.name for candidate_set in candidate_sets if candidate_set.name]
    if len(set(names)) < len(names):
        raise InputError(f"Plans must have different names, got {', '.join(names)}.")
    models = [
        candidate_set.configs[0] for candidate_set in candidate_sets if not candidate_set.name
    ]
    if len(candidate_sets) > 1 and len(set(models)) < len(models):
        raise InputError(
            "Plans must be of different models, got the same one to train in two of them."
        )
    return candidate_sets


def _plan(choice: Choice, candidate_sets: Sequence[CandidateSet]) -> AuditPlan:
    """Return the plan of the chosen model, with its first seed."""
    point = choice.chosen.points[0]
    chosen_set = next(
        candidate_set for candidate_set in candidate_sets if candidate_set.name == point.name
    )
    if point.name:
        return chosen_set.plan
    return replace(
        chosen_set.plan, title="", config=replace(point.config, roles=chosen_set.plan.config.roles)
    )


def _content(choice: Choice, plan: AuditPlan, policy: Policy) -> dict[str, Any]:
    """Return what `fairleak audit --choice` reads of a choice, and how it ended."""
    return {
        "outcome": choice.outcome,
        "model": choice.chosen.title,
        "plan": plan.fingerprint,
        "policy": content_fingerprint(policy),
        "record": dumps(report_section(choice)),
    }


def _about(choice: Choice, candidate_set: CandidateSet) -> Iterator[str]:
    dataset = candidate_set.dataset
    policy = choice.policy
    seeds = len({p.config.seed for candidate in choice.candidates for p in candidate.points})
    yield f"{dataset.title}: {dataset.n:,} records, {choice.attribute}."
    yield f"Policy: {policy.name}, version {policy.version}."
    yield f"Models measured: {choice.trained:,}. Kinds: {len(choice.candidates):,}. Seeds (replicates): {seeds}."


CHOOSE = Action("Choose the most accurate of many models within all limits.", _add_choose, _choose)
EXPERIMENT = Action(
    "Measure plans that differ in some keys: a row a measurement, over seeds a mean with its interval.",
    _add_experiment,
    _experiment,
)
