"""Further analyses of Correction, below the curve: tolerances, methods, privacy budgets, seeds, a better forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from core.adversaries.adversary import PINNED
from core.auditing import AuditPlan
from core.auditing.subprocess_jobs import ReportProgress
from core.base.serialize import fingerprint
from core.datasets.dataset import AuditDataset, Table
from core.experiments.attacked_models import (
    MAP_MEASURES,
    MEASURES,
    PAPER_TOLERANCES,
    TOLERANCES,
    attacked_by,
    attacked_by_all,
    draw_map,
    draw_methods,
    draw_models_accuracy,
    draw_models_unfairness,
    draw_trained,
    map_finding,
    map_points,
    method_points,
    method_rows,
    tolerance_points,
    trained_tolerances_finding,
)
from core.experiments.experiment import (
    ExperimentRow,
    Grid,
    SeedSummary,
    rows_frame,
    summarise,
    summary_frame,
)
from core.experiments.leak_over_seeds import (
    MEASURED,
    attribution_of,
    control_findings,
    leak_points,
    leak_summaries,
    leak_tables,
    mitigation_rows,
    tolerance_holds_finding,
)
from core.models import METHOD_TITLES
from core.stats.estimates import Row, epsilon_text
from core.stats.fairness import METRICS
from core.studies.correction import KINDS, CorrectionResult, CorrectionSettings, charts, findings
from core.studies.correction.findings import constraint_effect
from core.studies.subject import AuditConfig
from pages._report import report_plan
from pages.shell import cached, panels, shell, state
from pages.shell.background import Background, Job, pace
from pages.shell.study_jobs import ModelsJob

IMPUTATION = "Imputation, without the model"


@dataclass(frozen=True, slots=True)
class CorrectionAudit:
    """What the sections of the page start from."""

    config: AuditConfig
    table: Table
    result: CorrectionResult
    settings: CorrectionSettings

    @property
    def dataset(self) -> AuditDataset:
        """The people."""
        return self.result.subject.dataset

    @property
    def attribute(self) -> str:
        """What the sensitive attribute is called, fit for Markdown."""
        return shell.escape(self.result.subject.attribute)

    @property
    def attacker(self) -> dict[str, Any]:
        """Adversary, cost and protocol."""
        settings = self.settings
        return {
            "adversary": settings.adversary,
            "cost": settings.cost,
            "as_published": settings.as_published,
        }

    @property
    def plan(self) -> AuditPlan:
        """The plan of data and model alone: what experiments of the page vary."""
        requested_plan = report_plan.plan_of(self.config, self.table)
        plan = report_plan.subject(self.config, self.table, requested_plan).plan
        return AuditPlan(data=plan.data, model=plan.model, config=plan.config)

    def seeds(self, key: str, default: int = 1) -> tuple[int, ...]:
        """Return the seeds a section's own control asks for, the audit's first."""
        n_seeds = int(st.session_state.get(key) or default)
        return tuple(range(self.config.seed, self.config.seed + n_seeds))


def current(work: Any, running: bool) -> Any:
    """Return a work; the page is drawn again if it has begun or ended since."""
    if running != work.busy:
        st.rerun()
    return work


# Tolerance sweep ------------------------------------------------------------------------------------------------------


def tolerance_models(audit: CorrectionAudit) -> ModelsJob:
    """Return models trained for each tolerance; begun by itself with what the controls say at first."""
    plan = audit.plan
    parts = (_tolerances(), audit.seeds("sweep_seeds"))

    def grid() -> Grid:
        return attacked_by_all(tolerance_points(plan, *parts))

    work = ModelsJob("sweep", plan, audit.dataset, MEASURES, grid, *parts)
    work.begin("sweeps", audit.dataset.fingerprint, audit.config)
    return work


def _tolerances() -> tuple[float, ...]:
    if st.session_state.get("sweep_tolerances") == 49:
        return PAPER_TOLERANCES
    return TOLERANCES


def draw_tolerance_section(audit: CorrectionAudit, running: bool) -> None:
    """Draw the curves over trained tolerances, with their controls."""
    left, right, _ = st.columns([2, 2, 3])
    panels.pick(
        "Tolerances",
        [18, 49],
        key="sweep_tolerances",
        default=18,
        help="49 values from 0 to 0.2, denser near 0, as many as in the published experiments.",
        container=left,
    )
    several = "Several: lines are means, bands 95% intervals over seeds. One: bars are intervals over people."
    panels.pick("Seeds", [1, 3, 5], key="sweep_seeds", default=1, help=several, container=right)
    work = current(tolerance_models(audit), running)
    is_begun = work.offer("Train", "trained", "Train the rest")
    mine = tolerance_points(audit.plan, _tolerances(), audit.seeds("sweep_seeds"))
    summaries = summarise(work.rows(attacked_by(mine, audit.settings)))
    finding = trained_tolerances_finding(
        summaries, audit.config, as_published=audit.settings.as_published
    )
    without = audit.result.disclose(
        0.0, **audit.attacker
    )  # for the majority guess and what the attacker has before
    left, right = st.columns([3, 2], gap="large")
    recovered = draw_trained(
        summaries,
        (without.majority, without.before, audit.result.strong),
        attribute=audit.result.subject.attribute,
        tolerances=_tolerances(),
    )
    panels.titled(
        finding.point,
        shell.escape(finding.evidence),
        recovered,
        key="trained_chart",
        container=left,
    )
    if summaries:
        with right:
            _draw_models(summaries)
    if is_begun and not running:
        panels.numbers({"Models by trained tolerance": recovered.table}, key="trained")


def _draw_models(summaries: tuple[SeedSummary, ...]) -> None:
    """Draw what the tolerance costs the models, and what they reach."""
    last = max(summaries, key=lambda summary: summary.values["model.tolerance"]).numbers
    reached = (
        "Unfairness (largest deviation of a group), by the tolerance trained for. At the loosest, the difference "
        f"between groups (Fairlearn's) is {last['difference_train'].value:.3f} on training and "
        f"{last['difference_test'].value:.3f} on unseen people"
    )
    accuracy = draw_models_accuracy(summaries, _tolerances())
    panels.titled(
        "What it costs the model",
        "Accuracy, by the tolerance trained for",
        accuracy,
        key="trained_accuracy",
    )
    unfairness = draw_models_unfairness(summaries, _tolerances())
    panels.titled("What was reached", reached, unfairness, key="trained_unfairness")


# Compare methods ------------------------------------------------------------------------------------------------------


_THIS_METRIC = "this metric"
_ALL_METRICS = "all four metrics"


def method_models(audit: CorrectionAudit) -> ModelsJob:
    """Return models trained by every method."""
    plan = audit.plan
    seeds = audit.seeds("methods_seeds")
    epsilon = state.epsilon()
    metrics = _metrics(audit)

    def grid() -> Grid:
        return attacked_by_all(_method_points(audit))

    return ModelsJob("methods", plan, audit.dataset, MEASURES, grid, metrics, seeds, epsilon)


def _metrics(audit: CorrectionAudit) -> tuple[str, ...]:
    if st.session_state.get("methods_metrics") == _ALL_METRICS:
        return METRICS
    return (audit.config.metric,)


def _method_points(audit: CorrectionAudit) -> Grid:
    seeds = audit.seeds("methods_seeds")
    return method_points(audit.plan, metrics=_metrics(audit), seeds=seeds, epsilon=state.epsilon())


def draw_method_section(audit: CorrectionAudit, running: bool) -> None:
    """Draw the comparison of methods, with its controls."""
    left, right, _ = st.columns([2, 2, 3])
    panels.pick(
        "Metrics",
        [_THIS_METRIC, _ALL_METRICS],
        key="methods_metrics",
        default=_THIS_METRIC,
        container=left,
    )
    panels.pick("Seeds", [1, 3, 5], key="methods_seeds", default=1, container=right)
    work = current(method_models(audit), running)
    if not work.offer():
        st.caption(
            "Exponentiated gradient (in-processing), threshold optimizer (post-processing), correlation remover "
            "(pre-processing), no constraint, and a tree with DP training noise "
            f"(ε = {epsilon_text(state.epsilon())}; to change it choose the private tree on the Model page). All have "
            "the same people and seeds."
        )
        return
    summaries = summarise(work.rows(attacked_by(_method_points(audit), audit.settings)))
    every = panels.frame(method_rows(summaries))
    drawing = panels.titled(
        "Before and after, by method",
        f"Accuracy at inferring {audit.attribute}: before disclosure ○, after ●",
        draw_methods(
            [
                summary
                for summary in summaries
                if summary.values["model.metric"] == audit.config.metric
            ]
        ),
        key="methods_chart",
    )
    shell.whisper(
        "The models and what they reveal",
        "Accuracy in %, on unseen people for the model. On the training people: unfairness (largest deviation of a "
        "group from the overall rate) and difference between groups (Fairlearn's)",
    )
    table = every
    if every["Metric"].nunique() == 1:
        table = every.drop(columns="Metric")
    st.dataframe(table, hide_index=True, height="content")
    number_tables = {
        "Methods": drawing.table,
        "All methods and metrics": every,
        "Numbers": summary_frame(summaries),
    }
    panels.numbers(number_tables, key="methods")


# Tolerance and ε ------------------------------------------------------------------------------------------------------


def map_models(audit: CorrectionAudit) -> ModelsJob:
    """Return private fair trees over tolerance and privacy budget."""
    plan = audit.plan
    seeds = audit.seeds("map_seeds")
    grid = partial(map_points, plan, seeds)
    return ModelsJob("map", plan, audit.dataset, MAP_MEASURES, grid, seeds)


def draw_map_section(audit: CorrectionAudit, running: bool) -> None:
    """Draw the map of tolerance and privacy budget, with its control."""
    panels.pick("Seeds", [1, 3, 5], key="map_seeds", default=1)
    work = current(map_models(audit), running)
    if not work.offer():
        st.caption(
            "Private fair trees: DP-ID3 with noisy counts, changed at random within each group until the rates meet "
            "the tolerance. Each is audited: what its disclosed tolerance adds, and whether training records show."
        )
        return
    rows = work.rows()
    finding = map_finding(rows)
    drawing = panels.titled(
        finding.point.rstrip("."),
        f"Gain by correction in inferring {audit.attribute}, in points, against the best attacker before disclosure; "
        "bold: the 95% CI excludes 0",
        draw_map(rows),
        key="map_chart",
    )
    panels.notes(" ".join((finding.evidence, *finding.caveats)))
    panels.numbers({"Tolerance and ε": drawing.table}, key="map")


# Seeds and controls ---------------------------------------------------------------------------------------------------


_SEEDS = (3, 5, 10)


def seed_models(audit: CorrectionAudit) -> ModelsJob:
    """Return the model and its twin without mitigation for every seed."""
    plan = audit.plan
    seeds = audit.seeds("leak_seeds", _SEEDS[0])
    grid = partial(leak_points, plan, seeds)
    return ModelsJob("seeds", plan, audit.dataset, MEASURED, grid, seeds)


def draw_seed_section(audit: CorrectionAudit, running: bool) -> None:
    """Draw the attribution over seeds, with its control."""
    panels.pick("Seeds", _SEEDS, key="leak_seeds", default=_SEEDS[0])
    work = current(seed_models(audit), running)
    work.offer()
    rows = work.rows()
    summaries = leak_summaries(rows)
    method = audit.config.method
    if (method, "features") not in summaries:
        st.caption(
            "Splits, model and attackers are drawn again for every seed, with the chosen method and without "
            "mitigation. Intervals are then over seeds."
        )
        return
    attributions = [
        attribution_of(summaries[method, adversary], kind, audit.config)
        for kind, (adversary, _) in KINDS.items()
    ]
    n_seeds = attributions[0].n_seeds
    if n_seeds > 1:
        over = f"Means and 95% intervals over {n_seeds} seeds"
    else:
        over = "One seed: 95% intervals over people"
    imputation = summaries[method, "strong"].numbers["accuracy_features"]
    for container, attribution in zip(st.columns(2, gap="large"), attributions, strict=True):
        kind = attribution.attacker
        panels.titled(
            f"What each piece of knowledge adds, {kind} attacker",
            f"Accuracy at inferring {audit.attribute}; each row adds one thing. {over}",
            charts.draw_waterfall(
                attribution, imputation, label=IMPUTATION, attribute=audit.result.subject.attribute
            ),
            key=f"seeds_{kind[:5]}_chart",
            container=container,
        )
        panels.notes(constraint_effect(attribution).text, container=container)
    left, right = st.columns(2, gap="large")
    with left:
        _draw_mitigation(rows, audit.config)
    with right:
        shell.whisper("The controls", "What does not come from what the model says about somebody")
        for finding in control_findings(summaries, audit.config):
            panels.statement(finding)
    number_tables = panels.frames(leak_tables(rows, method, attributions)) | {
        "Every number over seeds": summary_frame(tuple(summaries.values())),
        "Every number of every seed": rows_frame(rows),
    }
    panels.numbers(number_tables, key="seeds")


def _draw_mitigation(measured: Sequence[ExperimentRow], config: AuditConfig) -> None:
    """Draw what mitigation changes, paired by seed."""
    if config.method == "unmitigated":
        mitigation = "mitigation"
    else:
        mitigation = METHOD_TITLES[config.method].lower()
    shell.whisper(
        f"With and without {mitigation}", "The same people and seeds; differences paired by seed"
    )
    rows = mitigation_rows(measured, config.method)
    if not rows:
        st.caption("The chosen model is the one without mitigation.")
        return
    st.dataframe(panels.worded(rows), hide_index=True, height="content")
    panels.notes(tolerance_holds_finding(measured, config).text)


# Tune the attack ------------------------------------------------------------------------------------------------------


def forest_search(audit: CorrectionAudit) -> Background:
    """Return the search for better parameters of the attacker's forest."""
    config = audit.config
    dataset = audit.dataset
    evaluations = int(st.session_state.get("evaluations") or 30)
    if audit.settings.adversary == "predictions":
        kind = "predictions"
    else:
        kind = "features"

    def tuned(report: ReportProgress) -> Any:
        from core.adversaries import tune_forest
        from core.datasets.splits import split
        from core.studies.subject import train_model

        splits = split(dataset, train_share=config.train_share, seed=config.seed)
        rows = splits.attacker_rows
        if kind == "predictions":
            drawn = train_model(config, dataset, splits).predictions[rows]
        else:
            drawn = None
        people = (dataset.features[rows], dataset.labels[rows], dataset.sensitive[rows], drawn)
        return tune_forest(kind, *people, evaluations=evaluations, seed=config.seed, report=report)

    def work(job: Job) -> Any:
        return job.in_subprocess(tuned, about=dataset)

    key = fingerprint(
        "tuning", dataset.fingerprint, replace(config, forest=None), kind, evaluations
    )
    store = cached.store_of(config.dataset)
    return Background("sweep", store, key, work, lane="sweep", total=evaluations, widget="tuning")


def draw_tuning_section(audit: CorrectionAudit, running: bool) -> None:
    """Draw the search, with its control."""
    config = audit.config
    table = audit.table
    left, _ = st.columns([2, 3], vertical_alignment="bottom")
    help_text = (
        "The published experiments used up to 100 of a tree-structured Parzen estimator, as here."
    )
    panels.pick(
        "Evaluations", [10, 30, 100], key="evaluations", default=30, help=help_text, container=left
    )
    work = current(forest_search(audit), running)
    search = work.result
    if search is None and not work.busy:
        if audit.settings.adversary == "predictions":
            name = "A′"
        else:
            name = "A"
        st.caption(
            f"Tuned is the published attack, {name}, whichever is chosen. The attacker tries forests on their own "
            "records, four fifths to choose and one fifth to judge; nobody under attack is looked at."
        )
    work.show(
        lambda job: f"{job.done} of {job.total} forests tried, {pace(job)}",
        "Search",
        icon=":material/tune:",
    )
    if config.forest is not None and st.button(
        "Attack with the published hyper-parameters again", key="use_pinned"
    ):
        state.keep_forest(table, None)
        st.rerun()
    if search is None:
        return
    best = findings.tuning(search)
    shell.whisper(best.point, best.evidence)
    drawing = charts.draw_search(search)
    left, right = st.columns([3, 2], gap="large")
    with left:
        panels.chart(drawing, key="search_chart")
    with right:
        st.dataframe(panels.frame(_forest_rows(search)), hide_index=True, height="content")
        parameters = tuple(sorted(search.parameters.items()))
        if config.forest != parameters and st.button("Attack with this forest", key="use_tuned"):
            state.keep_forest(table, parameters)
            st.rerun()
    panels.numbers({"Forests tried": drawing.table}, key="search")


def _forest_rows(search: Any) -> list[Row]:
    """Return the parameters found beside the published ones."""
    names = {
        "n_estimators": "trees",
        "max_depth": "depth",
        "min_samples_split": "fewest to split",
        "min_samples_leaf": "fewest in a leaf",
        "max_features": "features a split sees",
        "criterion": "criterion",
    }
    return [
        {
            "Parameter": name,
            "Found": str(search.parameters.get(key) or "all"),
            "Published": str(PINNED[key] or "all"),
        }
        for key, name in names.items()
    ]
