"""Membership on its page: whose, the controls, the attacks on one model, and curves over a setting.

Attack comes after attack and point after point, in the background; everything is kept in the store of the table it
comes from. A moved slider cancels the attacks on the model before it; what they had found stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from core.auditing.subprocess_jobs import ReportProgress
from core.base.fingerprint import fingerprint
from core.base.settings import params
from core.datasets.dataset import Table
from core.models import GIVEN_PREDICTIONS
from core.studies.config import AuditConfig
from core.studies.membership import (
    ATTACKS,
    REGISTRY,
    TARGET_TITLES,
    TARGETS,
    CurvePoint,
    MemberPeople,
    MembershipAudit,
    MembershipSettings,
    TrainedTarget,
    attack_steps,
    attacked_as,
    default_depth,
    iter_audits,
    member_people,
)
from pages.shell import cached
from pages.shell.background import Background, Job, ResultStore, pace, require_result, want_instead
from pages.shell.controls import bound, control

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, math.inf)
"""Positions of the slider."""

MOST_SHADOWS = 64
SHADOWS = {"audited": 16, "random_forest": 16}
"""Shadow models, and those of what takes long to train."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipInputs:
    """Whose membership is at stake, with the audit in the sidebar and the store of all that follows from them."""

    config: AuditConfig
    table: Table
    people: MemberPeople
    store: ResultStore


def people() -> MembershipInputs:
    """Return the people; waits while they are prepared."""
    config, table = cached.audited()
    roles, store = config.roles or table.roles[0], cached.store_of(config.dataset)
    key = fingerprint("member people", table.fingerprint, roles)
    who = require_result(store, key, "Preparing the people", lambda _: member_people(table, roles))
    return MembershipInputs(config=config, table=table, people=who, store=store)


_SETTINGS = params(MembershipSettings)


def chosen(who: MembershipInputs) -> MembershipSettings:
    """Choose the model under attack and the group, in one row.

    The settings hold what the controls show, also where it does not matter to the model; `attacked_with` leaves it out.
    """
    has_predictions, people = who.config.method == GIVEN_PREDICTIONS, who.people
    many = people.n_groups > 2
    row = st.columns([3, 4, 3, 3, 3] if many else [3, 4, 3, 3], gap="medium", vertical_alignment="bottom")
    targets = [GIVEN_PREDICTIONS if has_predictions and name == "audited" else name for name in TARGETS]
    target = bound(
        _SETTINGS["target"],
        "member_target",
        container=row[0],
        options={name: TARGET_TITLES[name] for name in targets},
        value=GIVEN_PREDICTIONS
        if has_predictions and who.config.roles is not None and who.config.roles.sets
        else TARGETS[0],
        help="The attacker sees the probabilities this model gives. Only the private tree has a privacy budget.",
    )
    target = target if target in targets else TARGETS[0]
    tree = _tree(row[1:], target, people)
    if target == "audited" and who.config.method == "dp_id3":
        tree["epsilon"] = who.config.epsilon
    elif target != "dp_id3":
        tree["epsilon"] = math.inf
    group = 1
    if many:
        key, names = f"member_group_{people.attribute}_{people.n_groups}", dict(enumerate(people.group_names))
        group = control(_SETTINGS["group"], key, "selectbox", container=row[4], help=None, options=names)
    return MembershipSettings(
        target=target,
        **tree,
        group=group,
        seed=who.config.seed,
        shadows=SHADOWS.get(target, MOST_SHADOWS),
    )


def _tree(row: Sequence[Any], target: str, people: MemberPeople) -> dict[str, Any]:
    """Choose budget, depth and θ, which other models have not; FairPick needs a training of its own."""
    first, fixed = default_depth(people), target in ("audited", GIVEN_PREDICTIONS)
    epsilon = bound(
        _SETTINGS["epsilon"],
        "member_epsilon",
        container=row[0],
        options=EPSILONS,
        disabled=target != "dp_id3",
        help="Smaller is more private: more noise on the counts the tree is grown from. ∞ is no noise.",
    )
    depth = bound(
        _SETTINGS["max_depth"],
        f"member_depth_{first}",
        "slider",
        container=row[1],
        max_value=20,
        value=first,
        disabled=fixed or target == "logistic",
        help="The private tree asks each column once on a path, so more levels than columns change nothing.",
    )
    theta = bound(
        _SETTINGS["theta"],
        "member_theta",
        "slider",
        container=row[2],
        min_value=0.1,
        format="%.1f",
        disabled=fixed,
        help=(
            "FairPick deletes training records until the group proportions of each cluster of similar people differ "
            "only θ times as much as before. 1 deletes nobody."
        ),
    )
    return {"epsilon": float(epsilon), "max_depth": depth, "theta": 1.0 if fixed else theta}


def attacked_with(chosen: MembershipSettings) -> MembershipSettings:
    """Return the settings of the audit; what does not matter to it is left at its default."""
    picks = chosen.theta < 1.0
    return replace(
        chosen,
        max_depth=chosen.max_depth if chosen.target in ("dp_id3", "decision_tree", "random_forest") else 1,
        group=chosen.group if picks else 1,
    )


class MembershipJob(Background):
    """The attacks on one model."""

    def __init__(self, who: MembershipInputs, chosen: MembershipSettings) -> None:
        self.who, self.chosen, self.settings = who, chosen, attacked_with(chosen)
        config, is_audited = who.config, chosen.target in ("audited", GIVEN_PREDICTIONS)
        self._dataset = cached.dataset_of(who.table, config.roles) if is_audited else None
        audit = [] if self._dataset is None else [self._dataset.fingerprint, config]
        self.subject_key = (who.people.fingerprint, *audit)
        key, total = (
            fingerprint("membership", *self.subject_key, self.settings),
            sum(attack_steps(self.settings).values()),
        )
        super().__init__("member", who.store, key, self._grow, lane="questions", total=total, widget="members")

    def _grow(self, job: Job) -> MembershipAudit:
        """Attack the model; what an earlier job has found is not sought again."""
        now: MembershipAudit | None = job.partial[-1] if job.partial else None
        who = self.who
        train = partial(attacked_as, who.people, self.settings, config=who.config, dataset=self._dataset)
        grow = partial(_grown, now, train)
        for now in job.each_in_subprocess(grow, about=self._dataset):
            job.partial.append(now)
        return job.partial[-1]

    def show_progress(self) -> None:
        """Show how far the attacks are, with a button that stops them, or that lets them go on."""
        grown: MembershipAudit | None = self.latest
        finished, runs = (0, 0) if grown is None else (len(grown.guesses), len(grown.findings.not_run))
        label = f"Stopped after {finished} of {len(ATTACKS) - runs} attacks. Go on"
        self.show(self._doing, label, again="Try again")

    def _doing(self, job: Job) -> str:
        if job.stopping:
            return "Stopping"
        finished = job.partial[-1].guesses if job.partial else ()
        coming = next((name for name in ATTACKS if name not in finished), ATTACKS[-1])
        return f"{REGISTRY[coming].title} comes next" if finished else "Training the model"


def _grown(
    now: MembershipAudit | None, train: Callable[[], TrainedTarget], report: ReportProgress
) -> Iterator[MembershipAudit]:
    """Yield an audit as it grows, from what is there of it on; without any, the model is trained first."""
    if now is None:
        target = train()
        now = MembershipAudit(findings=target.findings, target=target)
    yield from iter_audits(now, report=report)


REPEATS = 25
"""Repeats of the curves, as in the paper."""

Draw = Callable[[list[CurvePoint], bool], None]
"""Draws the points of a curve, which may be growing."""


class CurveJob(Background):
    """Points over a setting, one after the other; stopped and gone on with without losing any.

    `make` goes from the points that are there to an iterator of the others; `parts` are what the curve depends on.
    """

    def __init__(
        self, work: MembershipJob, name: str, total: int, make: Callable[..., Iterator[CurvePoint]], *parts: Any
    ) -> None:
        def points(job: Job) -> list[CurvePoint]:
            finished = list(job.partial)
            return job.collect(job.each_in_subprocess(lambda _: make(finished=finished)))

        self._waiting, people = work.busy, work.who.people
        key = fingerprint("membership curve", name, people.fingerprint, *parts)
        super().__init__("member_curve", work.store, key, points, lane="sweep", total=total, widget=name)

    def grow(self, draw: Draw) -> None:
        """Draw the points as they come, with progress and buttons; start them once the attacks are done."""
        if not self._waiting:
            want_instead(self)
            self.begin()
        st.fragment(self._grow, run_every=2.0 if self.busy else None)(draw, self.busy)

    def _grow(self, draw: Draw, running: bool) -> None:
        if running and not self.busy:
            st.rerun()
        points = self.partial
        if points:
            draw(points, len(points) < self.total)
        if not self.begun():
            st.caption("This begins when the attacks above are done.")
        else:
            done = f"{len(points)} of {self.total} models"
            self.show(lambda job: f"{done} attacked, {pace(job)}", f"Stopped after {done}. Go on")
