"""Whether a table has enough people for an audit, said before the work, with the change of the plan that works.

What is tried: seeds 0 to 50, other training shares, and one group against all others. Each is divided into its sets as
the audit divides it, so that what is named works for this table and no other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import InputError
from ..base.serialize import Result
from ..base.settings_text import toml_value
from ..datasets.build import select
from ..datasets.dataset import AuditDataset
from ..datasets.splits import split, split_everybody
from ..models import GIVEN_PREDICTIONS
from ..stats.estimates import count
from ..studies.membership.roc import LOW_FPR, RESOLUTION
from ..studies.membership.tpr_gaps import least_outsiders
from ..studies.subject import check_cells, check_labels
from .inputs import plan_key

if TYPE_CHECKING:
    import pandas

    from ..datasets.roles import Roles
    from ..datasets.splits import Splits
    from ..studies.subject import AuditConfig
    from .policy import Policy

SETS = ("train", "attack", "validation", "test")

NON_MEMBERS = math.ceil(RESOLUTION / LOW_FPR)
"""Test records that a TPR at 1% FPR takes."""

GROUP_NON_MEMBERS = 500
"""Test records of each group with which nine in ten models that leak nothing keep the limit (`disparity`)."""

FEWEST_GROUP_NON_MEMBERS = least_outsiders(LOW_FPR)
"""Test records of each group without which nothing is known of its difference from the others."""

_SEEDS = range(51)
_SHARES = (0.3, 0.4, 0.25, 0.5, 0.2, 0.6, 0.15, 0.1)
"""Training shares that are tried, those nearest to the default first."""

_IMPLIED = ("data.each", "data.cuts")
"""Keys that only make room for others."""

Change = tuple[str, object]
"""A key of a plan and its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeProblem(Result):
    """Why an audit cannot be made or cannot pass with so many people, and what works.

    Attributes
    ----------
    reason : str
        What is too small, in one or two sentences with the figures.
    changes : mapping of str to value
        Keys of the plan with the values that work; empty where nothing that is tried does.
    more : str
        What to do where no change works.
    """

    reason: str
    changes: Mapping[str, object] = field(default_factory=dict)
    more: str = ""

    @property
    def remedy(self) -> str:
        """What works, as a sentence."""
        if not self.changes:
            return self.more
        phrases = [
            _phrase(key, value) for key, value in self.changes.items() if key not in _IMPLIED
        ]
        return f"It works with {', '.join(phrases)}."

    @property
    def text(self) -> str:
        """The reason, and what works, with the keys of the plan that say so."""
        keys = ", ".join(f"{key} = {toml_value(value)}" for key, value in self.changes.items())
        in_plan = f" In the plan: {keys}." if keys else ""
        return f"{self.reason} {self.remedy}{in_plan}"


def _phrase(key: str, value: Any) -> str:
    """Return a change of the plan in words."""
    if key == "model.seed":
        return f"seed {value}"
    if key == "model.train_share":
        return f"{100 * value:g}% of the people for training"
    if key == plan_key("at_most"):
        return f"2 groups (up to {value:g}, and above)"
    return f"2 groups (“{value[0]}” and all others)"


def cell_sizes(dataset: AuditDataset, splits: Splits) -> list[dict[str, str | int]]:
    """Return a row for each set, group and label with the number of its people."""
    cells: list[dict[str, str | int]] = []
    for name in SETS:
        rows = getattr(splits, name)
        code = 2 * dataset.sensitive[rows].astype(np.intp) + dataset.labels[rows]
        sizes = np.bincount(code, minlength=2 * dataset.n_groups).reshape(-1, 2)
        for group, pair in zip(dataset.group_names, sizes.tolist(), strict=True):
            for label, size in zip(dataset.label_names, pair, strict=True):
                cells.append({"set": name, "group": group, "label": label, "count": size})
    return cells


def counted(frame: pandas.DataFrame, roles: Roles) -> AuditDataset:
    """Return a table's people without their features: enough to count them, in a moment; raises as `build_dataset`.

    Where it is open which outcome is good for the person, what the score predicts stands for it: the sizes are the
    same.
    """
    roles = replace(roles, favourable=roles.favourable or roles.positive)
    _, _, people = select(frame, roles)
    return people


def size_problems(
    dataset: AuditDataset, config: AuditConfig, policy: Policy
) -> tuple[SizeProblem, ...]:
    """Return why an audit with these settings cannot be made, or cannot pass a policy, by the number of people.

    Parameters
    ----------
    config : AuditConfig
        Its method says whether a model is trained here.
    policy : Policy
        Only its required checks count, and of these not those that are allowed not to be run.
    """
    reason = split_problem(dataset, config)
    if not reason:
        return tuple(_unanswered(dataset, config, policy))
    problem, possible = _impossible(dataset, config, reason)
    if possible is None:
        return (problem,)
    return (problem, *_unanswered(*possible, policy))


def split_problem(dataset: AuditDataset, config: AuditConfig) -> str:
    """Return why the people cannot be divided into the sets of an audit; "" if they can."""
    try:
        splits = split(dataset, train_share=config.train_share, seed=config.seed)
        check_cells(config.metric, dataset, splits)
        if config.method == "threshold_optimizer":
            check_labels(dataset, splits)
    except InputError as error:
        return str(error)
    return ""


def with_remedy(error: InputError, dataset: AuditDataset, config: AuditConfig) -> InputError:
    """Return an error of the division into sets with the change of the plan that works."""
    if str(error) != split_problem(dataset, config):
        return error
    problem, _ = _impossible(dataset, config, str(error))
    return InputError(problem.text)


def merged(dataset: AuditDataset) -> tuple[AuditDataset, Change] | None:
    """Return the dataset with its largest group against all others, and the change of the plan; None of two groups.

    Of ranges it is the cut between two of them that divides the people most evenly.
    """
    if dataset.n_groups == 2:
        return None
    sizes = np.bincount(dataset.sensitive, minlength=dataset.n_groups)
    cuts = dataset.roles.cuts
    if cuts:
        below = np.cumsum(sizes)[: len(cuts)]
        cut_index = int(np.abs(below - dataset.n / 2).argmin())
        first = dataset.sensitive <= cut_index
        change: Change = ("at_most", cuts[cut_index])
    else:
        largest = int(sizes.argmax())
        first = dataset.sensitive == largest
        change = ("group", (dataset.group_names[largest],))
    groups = first.astype(np.uint8)
    return replace(dataset, sensitive=groups, group_names=("the others", "the first")), change


def _impossible(
    dataset: AuditDataset, config: AuditConfig, reason: str
) -> tuple[SizeProblem, tuple[AuditDataset, AuditConfig] | None]:
    """Return the problem with the smallest change that solves it, and the dataset and settings with that change."""
    for candidate, changed_config, changes in _candidates(dataset, config):
        if not split_problem(candidate, changed_config):
            return SizeProblem(reason=reason, changes=changes), (
                candidate,
                changed_config,
            )
    more = "Other seeds, training shares and two groups instead of several do not help: more people are needed."
    return SizeProblem(reason=reason, more=more), None


def _candidates(
    dataset: AuditDataset, config: AuditConfig
) -> Iterator[tuple[AuditDataset, AuditConfig, dict[str, object]]]:
    """Yield other settings and the changes of the plan that make them, the smallest change first."""
    variants: list[tuple[AuditDataset, float, dict[str, object]]] = [
        (dataset, config.train_share, {})
    ]
    if dataset.sets is None:
        variants += [(dataset, share, {"model.train_share": share}) for share in _SHARES]
    variants += [
        (candidate, config.train_share, changes) for candidate, changes in _groupings(dataset)[1:]
    ]
    for candidate, share, variant in variants:
        for seed in dict.fromkeys((config.seed, *_SEEDS)):
            changes = {**variant}
            if seed != config.seed:
                changes["model.seed"] = seed
            yield candidate, replace(config, train_share=share, seed=seed), changes


def _groupings(dataset: AuditDataset) -> list[tuple[AuditDataset, dict[str, object]]]:
    """Return the dataset as it is and, where it has several groups, in two, each with its changes of the plan."""
    groupings: list[tuple[AuditDataset, dict[str, object]]] = [(dataset, {})]
    if (fewer := merged(dataset)) is not None:
        coarser, (name, value) = fewer
        changes: dict[str, object] = {plan_key(name): value}
        if dataset.roles.each:
            changes["data.each"] = False
        if dataset.roles.cuts:
            changes["data.cuts"] = ()
        groupings.append((coarser, changes))
    return groupings


def _unanswered(
    dataset: AuditDataset, config: AuditConfig, policy: Policy
) -> Iterator[SizeProblem]:
    """Yield the required checks of membership that so many people cannot answer."""
    required = {
        limit.check for limit in policy.limits if limit.required and limit.if_not_run == "blocks"
    }
    if config.method == GIVEN_PREDICTIONS and (dataset.sets is None or dataset.scores is None):
        return  # which checks are not run then does not hang on the number of people
    needed = {"membership_caught": NON_MEMBERS, "membership_gap": GROUP_NON_MEMBERS}
    needed = {check: records for check, records in needed.items() if check in required}
    for check, records in needed.items():
        size, name = _fewest(dataset, config, by_group=check == "membership_gap")
        if size < records:
            reason = _size_reason(policy, config, records, size, name)
            if absent := _without_answer(dataset, config, name):
                reason += f" {count(absent)} more of them have no answer of the model, and count as not tested."
            yield SizeProblem(
                reason=reason,
                changes=_enough(dataset, config, needed),
                more=_people_needed(dataset, records, size, name),
            )
            return


def _size_reason(policy: Policy, config: AuditConfig, needed: int, size: int, name: str) -> str:
    """Say what takes how many test records, of the smallest group where its name is given, and what follows."""
    purpose = "looks for training records at 1% false positives"
    records = f"{count(needed)} test records, and there are {count(size)}"
    consequence = "no model of this table can pass"
    if config.method == GIVEN_PREDICTIONS:
        consequence = "this model cannot pass"
    if name:
        purpose = "compares groups by the training records identified"
        records = (
            f"about {count(needed)} test records of each group, and “{name}” has {count(size)}"
        )
        if size >= FEWEST_GROUP_NON_MEMBERS:
            consequence = "the comparison may stay inconclusive"
    return f"The policy “{policy.name}” {purpose}. That takes {records}: {consequence}."


def _fewest(dataset: AuditDataset, config: AuditConfig, *, by_group: bool) -> tuple[int, str]:
    """Return the number of test records, of the smallest group where groups are compared, and its name."""
    test = split(dataset, train_share=config.train_share, seed=config.seed).test
    if not by_group:
        return test.size, ""
    sizes = np.bincount(dataset.sensitive[test], minlength=dataset.n_groups)
    smallest = int(sizes.argmin())
    return int(sizes[smallest]), dataset.group_names[smallest]


def _without_answer(dataset: AuditDataset, config: AuditConfig, name: str) -> int:
    """Return how many test records, of one group where it is named, have no answer of the model."""
    if dataset.answered is None:
        return 0
    test = split_everybody(dataset, train_share=config.train_share, seed=config.seed).test
    absent = test[~dataset.answered[test]]
    if name:
        absent = absent[dataset.sensitive[absent] == dataset.group_names.index(name)]
    return int(absent.size)


def _enough(
    dataset: AuditDataset, config: AuditConfig, needed: Mapping[str, int]
) -> dict[str, object]:
    """Return the changes of the plan that leave enough test records for each check; none where none does."""
    shares: tuple[float, ...] = (config.train_share, *_SHARES)
    if dataset.sets is not None:
        shares = (config.train_share,)
    for candidate, groups in _groupings(dataset):
        smallest = np.bincount(candidate.sensitive, minlength=candidate.n_groups).min()
        people = {"membership_gap": smallest, "membership_caught": candidate.n}
        for share in shares:
            drawn = {check: people[check] * (1 - share) / 2 for check in needed}
            if dataset.sets is None and any(
                drawn[check] < records for check, records in needed.items()
            ):
                continue  # about so many test records are drawn: nothing to try
            changed_config = replace(config, train_share=share)
            if split_problem(candidate, changed_config):
                continue
            sizes = {
                check: _fewest(candidate, changed_config, by_group=check == "membership_gap")[0]
                for check in needed
            }
            if all(sizes[check] >= records for check, records in needed.items()):
                changes = {}
                if share != config.train_share:
                    changes = {"model.train_share": share}
                return {**groups, **changes}
    return {}


def _people_needed(dataset: AuditDataset, records: int, size: int, name: str) -> str:
    """Say how many people would do, of the smallest group where its name is given."""
    people = dataset.n
    of_group = ""
    if name:
        people = int((dataset.sensitive == dataset.group_names.index(name)).sum())
        of_group = f" of “{name}”"
    needed = math.ceil(people * records / max(1, size) / 100) * 100
    return f"It takes about {count(needed)} people{of_group}; the table has {count(people)}."
