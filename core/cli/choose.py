"""``fairleak choose``: the most accurate model within all limits of a policy, judged on fresh people."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..auditing import (
    AuditPlan,
    catalogue_plan,
    checked_dataset,
    load_model,
    load_table,
    plan_text,
    read_plan,
)
from ..auditing.policy import Policy, Status
from ..base.errors import InputError
from ..base.files import content_of, write_file
from ..base.fingerprint import content_fingerprint
from ..base.serialize import dumps, plain
from ..base.settings import add_arguments as add_settings
from ..base.settings import from_arguments, value_excerpt
from ..datasets import build_dataset
from ..datasets.catalog import default_cache_folder
from ..experiments.choose import (
    CandidatePoint,
    CandidateSet,
    Choice,
    ChooseSettings,
    Outcomes,
    candidates,
    choose,
    measure_all,
)
from ..experiments.choose.findings import (
    choice_reason,
    finding,
    numbers,
    order,
    report_section,
    rows,
)
from ..studies.subject import AuditConfig
from .arguments import (
    add_dataset_arguments,
    add_file_arguments,
    add_path,
    add_policy_argument,
    add_running_arguments,
    add_seeds_argument,
    collected,
    data_folder_of,
    seeds_in,
    table_and_roles,
)
from .audit import applied_policy
from .console import CommandOutcome, Console, present

HELP = "Choose the most accurate of many models within all limits."

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
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


def run(arguments: argparse.Namespace, console: Console) -> str:
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
    present(_outcome(choice, candidate_sets[0], plan, policy, settings), arguments, console)
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
    if choice.outcome == Outcomes.RECOMMENDED:
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
    table, roles = table_and_roles(arguments)
    base = from_arguments(arguments, AuditConfig, dataset=arguments.dataset, roles=roles)
    plan = catalogue_plan(arguments.dataset, arguments.attribute or "")
    configs = candidates(replace(plan, config=base), settings, _seeds(arguments, base))
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
        table = load_table(
            plan,
            folder=folder,
            data_folder=data_folder_of(arguments),
            cache_folder=default_cache_folder(),
        )
        dataset = checked_dataset(plan, table, model_file=load_model(plan, folder=folder))
        config = replace(plan.config, roles=dataset.roles)
        trained = plan.model.kind == "train"
        model_name = "" if trained else path.stem
        if len(arguments.plans) > 1:
            configs: Sequence[AuditConfig] = [config]
        elif trained:
            configs = candidates(replace(plan, config=config), settings, _seeds(arguments, config))
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


def _outcome(
    choice: Choice,
    candidate_set: CandidateSet,
    plan: AuditPlan,
    policy: Policy,
    settings: ChooseSettings,
) -> CommandOutcome:
    return CommandOutcome(
        about=list(_about(choice, candidate_set)),
        findings=[finding(choice)],
        tables={order(choice)[0]: rows(choice), "All numbers": numbers(choice)},
        details=["All numbers"],
        notes=[
            f"Why: {choice_reason(choice)}",
            "One half of the people chooses, the other judges the chosen model. Do not choose by the other half, too.",
            "Worst leak: the largest gain of an attack relative to its limit; 1 is the limit.",
        ],
        settings={"settings": plain(settings)},
        content={
            "outcome": choice.outcome,
            "model": choice.chosen.title,
            "plan": plan.fingerprint,
            "policy": content_fingerprint(policy),
            "record": dumps(report_section(choice)),
        },
    )


def _about(choice: Choice, candidate_set: CandidateSet) -> Iterator[str]:
    dataset = candidate_set.dataset
    policy = choice.policy
    seeds = len({p.config.seed for candidate in choice.candidates for p in candidate.points})
    yield f"{dataset.title}: {dataset.n:,} records, {choice.attribute}."
    yield f"Policy: {policy.name}, version {policy.version}."
    yield f"Models measured: {choice.trained:,}. Kinds: {len(choice.candidates):,}. Seeds (replicates): {seeds}."
