"""Membership on its page: the study of a subject in the background, curves over other subjects, more analyses.

Attack comes after attack and point after point; everything is kept in the store of the table it comes from. A moved
slider cancels the attacks on the model before it.

The analyses: where a gap comes from, FairPick, other groups, and the private tree over ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.auditing.subprocess_jobs import ReportProgress
from core.base.errors import InputError
from core.base.serialize import fingerprint
from core.datasets.dataset import AuditDataset, Table
from core.models import GIVEN_PREDICTIONS
from core.stats.estimates import epsilon_text, interval, percent
from core.studies.correction import audit_key
from core.studies.membership import MembershipResult, MembershipSettings, charts
from core.studies.membership import curves as runs
from core.studies.membership.disparity import COMPLEMENT, RangeTable
from core.studies.membership.findings import (
    EPSILONS,
    MEASURES,
    REPEATS,
    THETAS,
    CurveBand,
    CurvePoint,
    curve_rows,
    deletions,
    epsilon_heading,
    gap_rows,
    groups_heading,
    picking_heading,
    steady,
    summarise_curve,
)
from core.studies.membership.result import (
    column_grouping,
    grouping_columns,
    table_grouping,
)
from core.studies.membership.study import STUDY
from core.studies.subject import AuditConfig, subject_of
from pages.shell import panels, shell, state
from pages.shell.background import Background, Job, ResultStore, pace, require_result, want_instead

FIRST_EPSILON = 1.0

SLIDER_EPSILONS = (
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.5,
    1.0,
    2.0,
    5.0,
    10.0,
    20.0,
    50.0,
    100.0,
    math.inf,
)
"""Positions of the slider."""

SHADOWS = (0, 4, 8, 16, 32, 64, 128)
"""Numbers of shadow models that the page offers."""

FEW_REPEATS = 5
"""Repeats of a model that takes longer to train."""


class MembershipRun(Background):
    """The study of one model, whose result grows attack by attack; `name` is its place on the page."""

    def __init__(
        self,
        name: str,
        config: AuditConfig,
        dataset: AuditDataset,
        settings: MembershipSettings,
        store: ResultStore,
    ) -> None:
        self.config = config
        self.dataset = dataset
        self.settings = settings
        key = fingerprint("membership", audit_key(config, dataset), settings)
        if config.method == GIVEN_PREDICTIONS:
            total = 0
        else:
            total = settings.shadows
        super().__init__(name, store, key, self._run, lane="questions", total=total)

    def _run(self, job: Job) -> MembershipResult:
        grow = partial(_attacked, self.config, self.dataset, self.settings)
        for result in job.each_in_subprocess(grow, about=self.dataset):
            job.partial[:] = [result]
        return job.partial[-1]  # type: ignore[no-any-return]

    def show_progress(self) -> None:
        """Show how far the attacks are, with a button that stops them, or that starts them again."""
        result: MembershipResult | None = self.latest
        finished = 0
        if result is not None:
            finished = len(result.guesses)
        self.show(self._doing, f"Stopped after attacks: {finished}. Start again", again="Try again")

    def _doing(self, job: Job) -> str:
        if not job.partial:
            return "Training the model"
        return f"{job.done} of {job.total} shadow models, {pace(job)}"


def _attacked(
    config: AuditConfig, dataset: AuditDataset, settings: MembershipSettings, report: ReportProgress
) -> Iterator[MembershipResult]:
    """Yield the result of the study of the subject of these settings as it grows."""
    yield from STUDY.run(subject_of(config, dataset), settings, report)


Draw = Callable[[list[CurvePoint], bool], None]
"""Draws the points of a curve, which may be growing."""


class CurveJob(Background):
    """Points over a setting, one after the other; stopped and gone on with without losing any.

    `make` goes from the points that are there to an iterator of the others; `parts` are what the curve depends on.
    """

    def __init__(
        self,
        run: MembershipRun,
        name: str,
        total: int,
        make: Callable[..., Iterator[CurvePoint]],
        *parts: Any,
    ) -> None:
        def points(job: Job) -> list[CurvePoint]:
            finished = list(job.partial)
            return job.collect(
                job.each_in_subprocess(lambda _: make(finished=finished), about=run.dataset)
            )

        self._waiting = run.busy
        key = fingerprint("membership curve", name, run.dataset.fingerprint, *parts)
        super().__init__(
            f"member_curve_{name}", run.store, key, points, lane="sweep", total=total, widget=name
        )

    def grow(self, draw: Draw) -> None:
        """Draw the points as they come, with progress and buttons; start them once the attacks are done."""
        if not self._waiting:
            want_instead(self)
            self.begin()
        every = 2.0 if self.busy else None
        st.fragment(self._grow, run_every=every)(draw, self.busy)

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


# More analyses --------------------------------------------------------------------------------------------------------

_LEAST_DRAWN = 0.0005
"""Difference of shares from which on a step of VD is drawn: it reads 0.1 points."""


def draw_ranges(result: MembershipResult) -> None:
    """Draw where VD comes from."""
    grey = ""
    if result.muted:
        grey = "Greyed out, as VD is: "
    if not result.ranges:
        st.info("Scores are needed, and two groups that are large enough.")
    for number, ranges in enumerate(result.ranges):
        if not any(abs(difference) >= _LEAST_DRAWN for difference in ranges.differences):
            _say_nothing_to_draw(ranges)
            continue
        panels.titled(
            "VD by predicted probability",
            f"{grey}{shell.escape(ranges.group)} − {shell.escape(ranges.reference)} in points, by the probability the "
            "model gave to the true label; the ten steps add up to VD",
            charts.draw_ranges(ranges, muted=result.muted),
            key=f"member_ranges_chart_{number}",
        )


def _say_nothing_to_draw(ranges: RangeTable) -> None:
    """Say why VD has no steps that could be drawn."""
    groups = f"{shell.escape(ranges.group)} and {shell.escape(ranges.reference)}"
    reason = f"In no range do {groups} differ by 0.1 points or more"
    if not any(ranges.group_shares + ranges.reference_shares):
        reason = f"The attack flags no member among {groups}, so there are no steps to VD"
    shell.whisper("VD by predicted probability", reason)


def _sides(dataset: AuditDataset) -> tuple[str, str]:
    """Return the group that curves set against all others, and what these are called."""
    names = dataset.group_names
    if len(names) == 2:
        return names[1], names[0]
    return names[_group(dataset)], COMPLEMENT


def _group(dataset: AuditDataset) -> int:
    """Return the code of the group that curves set against all others, of two the first."""
    if dataset.n_groups == 2:
        return 1
    return int(st.session_state.get(_group_key(dataset), 0))


def _group_key(dataset: AuditDataset) -> str:
    return f"member_group_{dataset.roles.attribute}_{dataset.n_groups}"


def _choose_group(dataset: AuditDataset) -> None:
    if dataset.n_groups > 2:
        titles = dict(enumerate(dataset.group_names))
        panels.choose("Group, against all others", titles, key=_group_key(dataset))


def _epsilon_curve(private: MembershipRun) -> CurveJob:
    """Return the curve of the private tree over ε, on the records of the audit and other splits of them."""
    config = private.config
    dataset = private.dataset
    _choose_group(dataset)
    group = _group(dataset)
    repeats = REPEATS
    epsilons = list(EPSILONS)
    make = partial(
        runs.epsilon_curve, config, dataset, group=group, epsilons=epsilons, repeats=repeats
    )
    parts = (config.depth, config.train_share, config.seed, group, repeats, epsilons)
    return CurveJob(private, "epsilon", repeats * len(epsilons), make, *parts)


def draw_over_epsilon(private: MembershipRun) -> None:
    """Draw the gaps and the attack's quality over ε as they come."""
    _epsilon_curve(private).grow(partial(_over_epsilon, private))


def _over_epsilon(private: MembershipRun, points: list[CurvePoint], growing: bool) -> None:
    """Draw the gaps and the attack's quality over ε."""
    bands = steady(summarise_curve(points))
    names = _sides(private.dataset)
    now = private.config.epsilon
    left, right = st.columns([3, 2], gap="large")
    panels.titled(
        shell.escape(epsilon_heading(bands, names, growing=growing)),
        shell.escape(f"Private tree (DP-ID3): {_repeats(bands, names)}"),
        charts.draw_epsilon_curve(bands, now=now),
        key="member_epsilon_chart",
        container=left,
    )
    panels.titled(
        "Precision and recall of the attack",
        "Private tree (DP-ID3), Zhang et al.'s attack: members among the flagged, and flagged among the members",
        charts.draw_attack_by_epsilon(bands, now=now),
        key="member_attack_chart",
        container=right,
    )
    panels.numbers({"Over ε": panels.frame(curve_rows(bands, "ε"))}, key="member-epsilon")


def _repeats(bands: Sequence[CurveBand], names: tuple[str, str]) -> str:
    fewest, most = (pick(band.repeats for band in bands) for pick in (min, max))
    sides = f"{names[0]} − {names[1]}"
    if most == 1:
        return f"{sides}; repeats so far: 1, with no interval"
    if fewest == most:
        repeats = f"{fewest}"
    else:
        repeats = f"{fewest} to {most}"
    drawn = any(not math.isnan(value.low) for band in bands for value in band.values.values())
    if drawn:
        averages = f"bands: 95% intervals of the mean over {repeats} repeats"
    else:
        averages = f"means of {repeats} repeats"
    return f"{sides}; {averages} with other splits and noise"


def draw_accuracy(private: MembershipRun, result: MembershipResult) -> None:
    """Draw both accuracies over ε as they come."""
    _epsilon_curve(private).grow(partial(_accuracy, result))


def _accuracy(result: MembershipResult, points: list[CurvePoint], growing: bool) -> None:
    """Draw both accuracies over ε."""
    bands = steady(summarise_curve(points))
    majority = result.subject.model.majority_test
    done = sorted((band for band in bands if band.variant == "epsilon"), key=lambda band: band.at)
    low, high = (percent(band.values["accuracy_test"]) for band in (done[0], done[-1]))
    panels.titled(
        f"Accuracy on unseen people: {high} at ε = {epsilon_text(done[-1].at)}, {low} at {epsilon_text(done[0].at)}",
        "Private tree (DP-ID3), bands over repeats. Attacks use the gap between training and unseen people. "
        f"Majority-class baseline: {percent(majority)} (95% CI {interval(majority)})",
        charts.draw_accuracy_by_epsilon(
            bands, now=result.subject.config.epsilon, majority=majority
        ),
        key="member_accuracy_chart",
    )
    panels.numbers({"Over ε": panels.frame(curve_rows(bands, "ε"))}, key="member-accuracy")


def draw_picking(run: MembershipRun) -> None:
    """Draw the rows FairPick deletes at the slider's θ, and the gaps over θ as they come."""
    config = run.config
    dataset = run.dataset
    if config.method == GIVEN_PREDICTIONS:
        panels.needs_training("FairPick's deletions")
        return
    theta = st.slider(
        "FairPick's θ",
        0.1,
        1.0,
        0.6,
        0.1,
        key="member_theta",
        help="FairPick deletes training records until the group proportions of each cluster of similar people differ "
        "only θ times as much as before. 1 deletes nobody.",
    )
    measure = panels.pick("Gap", MEASURES, key="member_measure", default="vd")
    _choose_group(dataset)
    try:
        picked = runs.picked_from(config, dataset, group=_group(dataset), theta=theta)
    except InputError as error:
        panels.problem(str(error))
        return
    panels.under(deletions(picked), charts.draw_deleted(picked), key="member_deleted_chart")
    _theta_curve(run).grow(partial(_gaps_by_theta, run, measure, theta))


def _theta_curve(run: MembershipRun) -> CurveJob:
    """Return the curve over θ of the audited model."""
    config = run.config
    dataset = run.dataset
    group = _group(dataset)
    repeats = FEW_REPEATS
    if config.method == "dp_id3":
        repeats = REPEATS
    thetas = list(THETAS)
    make = partial(
        runs.fairpick_curve, config, dataset, group=group, thetas=thetas, repeats=repeats
    )
    return CurveJob(
        run, "fairpick", 2 * len(thetas) * repeats, make, config, group, repeats, thetas
    )


def _gaps_by_theta(
    run: MembershipRun, measure: str, theta: float, points: list[CurvePoint], growing: bool
) -> None:
    """Draw a gap over θ, with the control."""
    bands = steady(summarise_curve(points))
    names = _sides(run.dataset)
    panels.titled(
        shell.escape(picking_heading(points, measure, growing=growing)),
        f"{MEASURES[measure]}, {shell.escape(names[0])} − {shell.escape(names[1])}, by Zhang et al.'s attack; 95% CIs "
        "of the mean over repeats; the top of the page is one seed. Control: as many rows deleted at random. "
        "Non-members are thinned like the members; “accuracy, test” counts all non-members",
        charts.draw_fairpick(bands, now=theta, measure=measure),
        key="member_fairpick_chart",
    )
    panels.numbers({"Over θ": panels.frame(curve_rows(bands, "θ"))}, key="member-fairpick")


def draw_other_groups(run: MembershipRun, table: Table, result: MembershipResult) -> None:
    """Choose attributes, and draw what leaks about each of their groups."""
    dataset = run.dataset
    name = run.config.dataset
    offered = {f"roles:{key}": title for key, title in state.attributes(name).items()}
    # the table's own groupings, then columns with few values
    offered |= {f"column:{column}": column for column in grouping_columns(dataset)}
    key = f"member_by_{name}_{len(offered)}"
    chosen = panels.choose("Group people by", offered, key=key, index=min(1, len(offered) - 1))
    try:
        kind, _, attribute = (chosen or next(iter(offered))).partition(":")
        if kind == "column":
            groups, names = column_grouping(dataset, attribute)
        else:
            by = state.roles_with_key(table, attribute)
            attribute = by.attribute
            groups, names = table_grouping(table, dataset.roles, by)
        _show_groups(result.grouped(groups, names), attribute)
    except InputError as error:
        panels.problem(str(error))


def _show_groups(result: MembershipResult, attribute: str) -> None:
    panels.titled(
        shell.escape(groups_heading(result, attribute)),
        "Membership-advantage gap with 95% CIs, each group against all others (of two, the first against the second); "
        "thin marks are VD. p-values are Holm's over the groups; coloured is what is significant",
        charts.draw_group_gaps(result),
        key="member_groups_chart",
    )
    least = [gaps.tests["advantage_gap"].smallest_detectable for gaps in result.disparities]
    if least:
        if len(least) == 1:
            span = f"{min(least):.3f}"
        else:
            span = f"{min(least):.3f} to {max(least):.3f}"
        st.caption(f"Smallest gap that a sample of this size finds in four of five cases: {span}.")
    if result.too_small:
        group_names = ", ".join(f"“{shell.escape(name)}”" for name, _ in result.too_small[:6])
        if len(result.too_small) > 6:
            more = f"; more groups: {len(result.too_small) - 6}"
        else:
            more = ""
        st.caption(
            f"Not measured, with fewer than 10 members or non-members judged: {group_names}{more}."
        )
    panels.numbers({"Groups": panels.frame(gap_rows(result))}, key="member-groups")


_NAMES = {"savings": "With savings", "literal": "As published", "naive": "Naive: ε for each count"}


def draw_accounting(private: MembershipRun) -> None:
    """Draw the ledger and the three accountings of the private tree."""
    tree = private.config
    dataset = private.dataset
    epsilon = private.config.epsilon
    if not math.isfinite(epsilon):
        shell.whisper(
            "Without a privacy budget there is nothing to account for", "Choose an ε below ∞ above"
        )
        return
    key = fingerprint("accountings", dataset.fingerprint, tree)
    results: Sequence[runs.Accounting] = require_result(
        private.store,
        key,
        "Training the tree three times",
        lambda job: job.in_subprocess(lambda _: runs.accountings(tree, dataset), about=dataset),
        lane="questions",
    )
    by_name = {result.ledger.accounting: result for result in results}
    naive = by_name["naive"]
    ours = by_name["savings"]
    shell.whisper(
        f"Accuracy on unseen people: naive tree {percent(naive.accuracy_test)}, ours {percent(ours.accuracy_test)}; "
        f"the naive one does not keep ε = {epsilon_text(epsilon)}",
        f"The ledger of a full path adds up to {_cost_text(ours.ledger.total)}: nodes side by side hold "
        f"different people, so only levels add up. Majority-class baseline: {percent(ours.majority)} "
        f"(95% CI {interval(ours.majority)})",
    )
    panels.problem(
        f"A tree that gives each count its own ε = {epsilon_text(epsilon)} has spent "
        f"{_cost_text(naive.ledger.counts_total)} on its counts alone. It stops where the true counts are pure, "
        "which no ε covers. It is shown as a warning, not for use.",
        point="The naive tree is not private.",
    )
    tables = {"Privacy accounting": _accounting_table(results), "Ledger": ours.ledger.to_frame()}
    titles = (
        "Privacy accounting of the same tree",
        "Ledger of a full path, from the root to a leaf",
    )
    heights: tuple[Any, Any] = ("content", 260)
    for column, title, frame, height in zip(
        st.columns(2, gap="large"), titles, tables.values(), heights, strict=True
    ):
        column.markdown(f"**{title}**")
        column.dataframe(frame, hide_index=True, height=height)
    panels.numbers(tables, key="member-accounting")


def _cost_text(epsilon: float) -> str:
    """Write what something costs."""
    if math.isinf(epsilon):
        return "∞"
    return f"{epsilon:,.4g}"


def _accounting_table(results: Sequence[runs.Accounting]) -> Any:
    return panels.frame(
        {
            "accounting": _NAMES[result.ledger.accounting],
            "ε asked for": result.ledger.requested_epsilon,
            "ε spent in truth": _cost_text(result.ledger.total),
            "on counts": _cost_text(result.ledger.counts_total),
            "accuracy, unseen": percent(result.accuracy_test),
            "accuracy, training": percent(result.accuracy_train),
            "private": "no" if result.ledger.accounting == "naive" else "yes",
        }
        for result in results
    )
