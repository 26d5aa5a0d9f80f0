"""Correction: what the attacker gains from a disclosed fairness tolerance, and further analyses of it.

Models that further analyses need are measured in the background, and kept.
"""

from pages.shell import shell

shell.guard()

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core.auditing.subprocess_jobs import ReportProgress
from core.base.fingerprint import fingerprint
from core.base.settings import params
from core.models import GIVEN_PREDICTIONS, METHOD_TITLES, METHODS, TOLERANCE_METHODS
from core.stats.estimates import epsilon_text
from core.stats.fairness import METRICS
from core.stats.quantities import Row, share
from core.studies.config import AuditConfig
from core.studies.correction import (
    KINDS,
    PROTOCOLS,
    STUDY,
    CorrectionSettings,
    LeakPoint,
    attribute_over_seeds,
    leak_configs,
    measure_leak,
)
from pages._report.report_plan import plan_of
from pages.shell import cached, controls, panels, state
from pages.shell.background import Background, Job, pace

with shell.head():
    published = controls.bound(
        params(CorrectionSettings)["as_published"],
        "as_published",
        help=(
            "The published code chooses the confidence exponent on the model owner's test set, which an attacker does "
            "not have. It lets them learn from all the records they know, and raises the tolerance in steps of 0.001 "
            "until the model meets it. Switched off, they keep 30% of their records apart to tune on, and the "
            "tolerance is disclosed as it is."
        ),
    )
config, table = cached.audited()
result = cached.audit(config, table)

from core.adversaries import STRONG
from core.adversaries.adversary import PINNED
from core.experiments import tolerance_map
from core.experiments.engine import measured_points
from core.experiments.environment import point_key
from core.experiments.experiment import PlanMeasure, PlanMeasurements, rows_of
from core.experiments.sweep import (
    PAPER_TOLERANCES,
    TOLERANCES,
    SweepPoint,
    SweepSettings,
    grid,
    measure,
    summarise,
    table_three,
)
from core.experiments.sweep import charts as sweep_charts
from core.experiments.sweep.findings import method_rows, trained_tolerances
from core.experiments.tolerance_map import draw_map, map_finding, map_points
from core.studies.correction import charts as charts
from core.studies.correction import findings
from core.studies.correction.findings import disclosure_row, step_rows, tables

_MOST_TOLERANCE = 0.2
_HEAD_START = 0.03  # seconds in which the browser paints the curve before the rest of the page comes along
_HOW_TO_READ = (
    "**Setting.** The attacker knows everybody's features, label and prediction, and the {name} of other people. They "
    "guess, then learn the disclosed constraint, then change the guesses they are least sure of until it holds.\n\n"
    "**Read.** The tolerance adds the distance between *before* and *after*. Below imputation it shows no leak of the "
    "model: anybody does better without it. At the right, each row adds one thing the attacker knows.\n\n"
    "**Slider.** What the owner publishes: every group's rate is within this distance of the overall rate.\n\n"
    "**What it does not show.** CIs are over people, for one model and seed. The forest, with {forest} parameters, "
    "over-predicts the smaller group; part of the gain repairs that.\n\n"
    "**Source.** Ferry et al., *Exploiting Fairness to Enhance Sensitive Attributes Reconstruction*, SaTML 2023."
)

dataset, attribute_name = result.subject.dataset, result.subject.attribute
attribute = shell.escape(attribute_name)


@st.fragment
def draw_at_tolerance() -> None:
    """Draw everything that follows the slider."""
    first = findings.first_tolerance(result)
    most = max(_MOST_TOLERANCE, first)
    tolerance = round(state.slider_position("told", first, most=most), 6)
    now = result.disclose(tolerance, **attacker)
    curve = result.curve(tolerance, *_farther(most), most, **attacker)
    strong = adversary in STRONG
    attacker_title, beside = ("Imputation", None) if strong else ("Published attack", result.strong)
    left, right = st.columns([3, 2], gap="large")
    with left:
        panels.titled(
            findings.by_tolerance(curve),
            f"Accuracy at inferring {attribute} before and after the correction, 95% CI band, by disclosed tolerance",
            charts.draw_disclosure(curve, now, beside, attribute=attribute_name, attacker=attacker_title),
            key="told_chart",
        )
        st.slider(
            "Disclosed tolerance",
            0.0,
            most,
            first,
            0.001,
            format="%.3f",
            key="told",
            persist_state="session",
            **state.bind("told"),
            help="What the model owner publishes: every group's rate is within this distance of the overall rate.",
        )
    time.sleep(_HEAD_START)
    settings = CorrectionSettings(**attacker, tolerance=now.disclosed_tolerance)
    headline, effect, truth, proof, control, held_out, *noise = STUDY.findings(result, settings)
    leak = result.explained(adversary, now.used)
    so_what = headline.so_what.replace(findings.ONLY_THE_DIFFERENCE, effect.point)
    with opening:
        panels.finding(replace(headline, so_what=so_what), "report")
    with right:
        waterfall = charts.draw_waterfall(leak, result.strong, label=_IMPUTATION, attribute=attribute_name, now=now)
        drawn = "Change in accuracy (points), 95% CI; hollow: published correction"
        panels.titled("What each piece of knowledge adds", drawn, waterfall, key="leak_chart")
        rest = effect.text.removeprefix(effect.point)
        panels.notes(f"+ fairness constraint:{rest}" if headline.so_what else effect.text)
    if not now.is_true:
        raising = "The published experiments raise the tolerance until it holds: see the switch “Paper's protocol”."
        panels.problem(f"{truth.text} {raising}")
    by_group = charts.draw_recognition(now, curve, names=result.group_names)
    imputation = {"imputation, without the model": share(result.strong)}
    row_tables: dict[str, list[Row]] = {
        "Accuracy by disclosed tolerance": list(map(disclosure_row, curve)),
        "What each piece of knowledge adds": list(step_rows(leak)),
        "Beside it": [imputation | {"model's difference between groups": result.model.difference_train}],
    }
    certificate = panels.worded([findings.certificate_row(now)])
    by_hand = {"Accuracy before and after, by group": by_group.table, "Certificate": certificate}
    panels.foot(_guide(), panels.frames(row_tables) | by_hand, key="correction")
    left, right = st.columns([3, 2], gap="large")
    groups = "Share inferred correctly before (○) and after (●), 95% intervals"
    panels.titled("Accuracy by group", groups, by_group, key="recognised_chart", container=left)
    statements = (proof, *noise, control, held_out, *([truth] if now.is_true else []))
    panels.notes(*(finding.text for finding in statements), container=right)


def _guide() -> str:
    forest = "the published" if config.forest is None else "your search's"
    return _HOW_TO_READ.format(name=attribute, forest=forest)


def _farther(most: float) -> list[float]:
    """Return tolerances beyond those that every curve has."""
    return [0.05 * step for step in range(5, int(20 * most) + 1)]


_IMPUTATION = "Imputation, without the model"

# More analyses --------------------------------------------------------------------------------------------------------


def _current(work: Any, running: bool) -> Any:
    """Return a work; the page is drawn again if it has begun or ended since."""
    if running != work.busy:
        st.rerun()
    return work


class Sweep(Background):
    """Models measured one after the other, begun with what is kept from earlier ones."""

    def __init__(self, name: str, configs: Sequence[Any], measure: Any, kind: Any) -> None:
        self.configs, self.measure, self.kind = configs, measure, kind
        self.points: Any = None
        self.left: list[Any] = []
        store, key = cached.store_of(config.dataset), fingerprint(name, dataset.fingerprint, list(configs))
        super().__init__("sweep", store, key, self._sweep, lane="sweep", total=len(configs), widget=name)

    @property
    def tolerances(self) -> list[float]:
        """Of all these models."""
        return sorted({config.tolerance for config in self.configs})

    def initial_partial(self) -> list[Any]:
        """Return what is kept of these models."""
        self.points = cached.point_store(config.dataset)  # the job may not call Streamlit
        parts = getattr(self.measure, "parts", ())
        keys = [point_key(config, dataset, self.kind, *parts) for config in self.configs]
        stored = [self.points.load(key, self.kind) for key in keys]
        self.left = [config for config, point in zip(self.configs, stored, strict=True) if point is None]
        return [point for point in stored if point is not None]

    def _sweep(self, job: Job) -> list[Any]:
        more: dict[str, Any] = {"store": self.points, "measure": self.measure, "result": self.kind}
        return job.collect(measured_points(self.left, dataset, n_jobs=2, **more))

    def offer(self, start: str = "Train and attack", done: str = "attacked", go_on: str = "Go on") -> list[Any]:
        """Show how far it is and offer to stop or start it; returns the models that are there."""
        points = self.partial
        label = f"{start} {self.total} models"
        if self.job:
            label = f"Stopped after {len(points)} of {self.total} models. {go_on}"
        self.show(lambda job: f"Models {done}: {len(points)} of {job.total}, {pace(job)}", label)
        return points


def _models(name: str, configs: Sequence[AuditConfig]) -> Sweep:
    return Sweep(name, configs, measure, SweepPoint)


def _seeds(key: str, default: int = 1) -> list[int]:
    """Return the seeds a section's own control asks for, the audit's first."""
    return list(range(config.seed, config.seed + int(st.session_state.get(key) or default)))


def _rows(points: list[Any]) -> tuple[Any, list[Any]]:
    """Return finished models over their seeds, and of these the rows of the chosen attacker."""
    every = summarise(list({point.config: point for point in points}.values())) if points else []
    attacker_key = (adversary, PROTOCOLS[published], attacker["cost"])
    return every, [row for row in every if (row.adversary, row.protocol, row.cost) == attacker_key]


def _trained_models() -> Sweep:
    """Return models trained for each tolerance; begun by itself with what the controls say at first."""
    tolerances = PAPER_TOLERANCES if st.session_state.get("sweep_tolerances") == 49 else TOLERANCES
    method = config.method if config.method in TOLERANCE_METHODS else TOLERANCE_METHODS[0]
    sweep_config = replace(config, method=method)
    work = _models("sweep", grid(sweep_config, tolerances=tolerances, seeds=_seeds("sweep_seeds")))
    work.begin("sweeps", dataset.fingerprint, config)
    return work


def _trained(running: bool) -> None:
    """Draw the curves over trained tolerances, with their controls."""
    left, right, _ = st.columns([2, 2, 3])
    panels.pick(
        params(SweepSettings)["tolerances"].param.title,
        [18, 49],
        key="sweep_tolerances",
        default=18,
        help="49 values from 0 to 0.2, denser near 0, as many as in the published experiments.",
        container=left,
    )
    several = "Several: lines are means, bands 95% intervals over seeds. One: bars are intervals over people."
    panels.pick("Seeds", [1, 3, 5], key="sweep_seeds", default=1, help=several, container=right)
    work = _current(_trained_models(), running)
    points = work.offer("Train", "trained", "Train the rest")
    tolerances = work.tolerances
    _, rows = _rows(points)
    curve_finding = trained_tolerances(rows, config, as_published=published)
    without = result.disclose(0.0, **attacker)  # for the majority guess and what the attacker has before
    baseline = (without.majority, without.before, result.strong)
    left, right = st.columns([3, 2], gap="large")
    recovered = sweep_charts.draw_trained(rows, baseline, attribute=attribute_name, tolerances=tolerances)
    panels.titled(
        curve_finding.point, shell.escape(curve_finding.evidence), recovered, key="trained_chart", container=left
    )
    if rows:
        last = max(rows, key=lambda row: row.tolerance)
        reached = (
            "Unfairness (largest deviation of a group), by the tolerance trained for. At the loosest, the difference "
            f"between groups (Fairlearn's) is {last.difference_train.value:.3f} on training and "
            f"{last.difference_test.value:.3f} on unseen people"
        )
        with right:
            accuracy, by = sweep_charts.draw_models_accuracy(rows, tolerances), "Accuracy, by the tolerance trained for"
            panels.titled("What it costs the model", by, accuracy, key="trained_accuracy")
            unfairness = sweep_charts.draw_models_unfairness(rows, tolerances)
            panels.titled("What was reached", reached, unfairness, key="trained_unfairness")
    if points and not running:
        panels.numbers({"Models by trained tolerance": recovered.table}, key="trained")


def _compared_models() -> Sweep:
    """Return models trained by every method."""
    metrics = METRICS if st.session_state.get("methods_metrics") == "all four metrics" else (config.metric,)
    methods_config = replace(config, epsilon=state.epsilon())  # the private tree's; grid keeps it from the others
    grid_options: dict[str, Any] = {"methods": METHODS, "metrics": metrics, "seeds": _seeds("methods_seeds")}
    return _models("methods", grid(methods_config, tolerances=[config.tolerance], **grid_options))


def _methods(running: bool) -> None:
    """Draw the comparison of methods, with its controls."""
    left, right, _ = st.columns([2, 2, 3])
    metrics, title = ["this metric", "all four metrics"], params(SweepSettings)["metrics"].param.title
    panels.pick(title, metrics, key="methods_metrics", default=metrics[0], container=left)
    panels.pick("Seeds", [1, 3, 5], key="methods_seeds", default=1, container=right)
    points = _current(_compared_models(), running).offer()
    if not points:
        st.caption(
            "Exponentiated gradient (in-processing), threshold optimizer (post-processing), correlation remover "
            "(pre-processing), no constraint, and a tree with DP training noise "
            f"(ε = {epsilon_text(state.epsilon())}; to change it choose the private tree on the Model page). All have "
            "the same people and seeds."
        )
        return
    summary, rows = _rows(points)
    every = panels.frame(method_rows(rows))
    drawing = panels.titled(
        "Before and after, by method",
        f"Accuracy at inferring {attribute}: before disclosure ○, after ●",
        sweep_charts.draw_methods([row for row in rows if row.metric == config.metric]),
        key="methods_chart",
    )
    shell.whisper(
        "The models and what they reveal",
        "Accuracy in %, on unseen people for the model. On the training people: unfairness (largest deviation of a "
        "group from the overall rate) and difference between groups (Fairlearn's)",
    )
    one_metric = every["Metric"].nunique() == 1
    st.dataframe(every.drop(columns="Metric") if one_metric else every, hide_index=True, height="content")
    number_tables = {"Methods": drawing.table, "All methods and metrics": every}
    if any(row.method == "threshold_optimizer" for row in rows):
        printed = table_three(summary, protocol=PROTOCOLS[published], cost=attacker["cost"])
        number_tables["Table III of Ferry et al. (threshold optimizer), here"] = printed
    panels.numbers(number_tables, key="methods")


def _map_models() -> Sweep:
    """Return private fair trees over tolerance and privacy budget."""
    plans = [point.plan for point in map_points(plan_of(config, table), _seeds("map_seeds"))]
    return Sweep("map", plans, PlanMeasure(tolerance_map.STUDIES), PlanMeasurements)


def _map(running: bool) -> None:
    """Draw the map of tolerance and privacy budget, with its control."""
    panels.pick("Seeds", [1, 3, 5], key="map_seeds", default=1)
    points = _current(_map_models(), running).offer()
    if not points:
        st.caption(
            "Private fair trees: DP-ID3 with noisy counts, changed at random within each group until the rates meet "
            "the tolerance. Each is audited: what its disclosed tolerance adds, and whether training records show."
        )
        return
    rows = rows_of(map_points(plan_of(config, table), _seeds("map_seeds")), points)
    finding = map_finding(rows)
    drawing = panels.titled(
        finding.point.rstrip("."),
        f"Gain by correction in inferring {attribute}, in points, against the best attacker before disclosure; bold: "
        "the 95% CI excludes 0",
        draw_map(rows),
        key="map_chart",
    )
    panels.notes(" ".join((finding.evidence, *finding.caveats)))
    panels.numbers({"Tolerance and ε": drawing.table}, key="map")


_LEAK_SEEDS = (3, 5, 10)


def _leaks() -> Sweep:
    """Return the attribution of the leak for every seed, with and without mitigation."""
    return Sweep("seeds", leak_configs(config, _seeds("leak_seeds", _LEAK_SEEDS[0])), measure_leak, LeakPoint)


def _over_seeds(running: bool) -> None:
    """Draw the attribution over seeds, with its control."""
    panels.pick("Seeds", _LEAK_SEEDS, key="leak_seeds", default=_LEAK_SEEDS[0])
    points = _current(_leaks(), running).offer()
    method_points = [point for point in points if point.config.method == config.method]
    if not method_points:
        st.caption(
            "Splits, model and attackers are drawn again for every seed, with the chosen method and without "
            "mitigation. Intervals are then over seeds."
        )
        return
    several = f"Means and 95% intervals over {len(method_points)} seeds"
    over = several if len(method_points) > 1 else "One seed: 95% intervals over people"
    leaks = [attribute_over_seeds([point.attributions[name] for point in method_points]) for name in KINDS]
    boosting = findings.over_seeds(method_points, "boosting", "features")
    for container, name, leak in zip(st.columns(2, gap="large"), KINDS, leaks, strict=True):
        panels.titled(
            f"What each piece of knowledge adds, {name} attacker",
            f"Accuracy at inferring {attribute}; each row adds one thing. {over}",
            charts.draw_waterfall(leak, boosting, label=_IMPUTATION, attribute=attribute_name),
            key=f"seeds_{name[:5]}_chart",
            container=container,
        )
        panels.notes(findings.constraint_effect(leak).text, container=container)
    left, right = st.columns(2, gap="large")
    with left:
        mitigation = "mitigation" if config.method == "unmitigated" else METHOD_TITLES[config.method].lower()
        shell.whisper(f"With and without {mitigation}", "The same people and seeds; differences paired by seed")
        if rows := findings.mitigation_rows(points, config):
            st.dataframe(panels.worded(rows), hide_index=True, height="content")
            panels.notes(findings.mitigation_truth(points, config).text)
        else:
            st.caption("The chosen model is the one without mitigation.")
    with right:
        shell.whisper("The controls", "What does not come from what the model says about somebody")
        for finding in findings.control_findings(points, method_points, config):
            panels.statement(finding)
    panels.numbers(panels.frames(tables(points, leaks, config)), key="seeds")


def _search() -> Background:
    """Return the search for better parameters of the attacker's forest."""
    evaluations = int(st.session_state.get("evaluations") or 30)
    kind = "predictions" if adversary == "predictions" else "features"

    def tuned(report: ReportProgress) -> Any:
        from core.adversaries import tune_forest
        from core.datasets.splits import split
        from core.studies.subject import train_model

        splits = split(dataset, train_share=config.train_share, seed=config.seed)
        rows = splits.attacker_rows
        drawn = train_model(config, dataset, splits).predictions[rows] if kind == "predictions" else None
        people = (dataset.features[rows], dataset.labels[rows], dataset.sensitive[rows], drawn)
        return tune_forest(kind, *people, evaluations=evaluations, seed=config.seed, report=report)

    def work(job: Job) -> Any:
        return job.in_subprocess(tuned, about=dataset)

    key = fingerprint("tuning", dataset.fingerprint, replace(config, forest=None), kind, evaluations)
    store = cached.store_of(config.dataset)
    return Background("sweep", store, key, work, lane="sweep", total=evaluations, widget="tuning")


def _tuning(running: bool) -> None:
    """Draw the search, with its control."""
    left, _ = st.columns([2, 3], vertical_alignment="bottom")
    help_text = "The published experiments used up to 100 of a tree-structured Parzen estimator, as here."
    panels.pick("Evaluations", [10, 30, 100], key="evaluations", default=30, help=help_text, container=left)
    work = _current(_search(), running)
    search = work.result
    if search is None and not work.busy:
        st.caption(
            f"Tuned is the published attack, {'A′' if adversary == 'predictions' else 'A'}, whichever is "
            "chosen. The attacker tries forests on their own records, four fifths to choose and one fifth to judge; "
            "nobody under attack is looked at."
        )
    work.show(lambda job: f"{job.done} of {job.total} forests tried, {pace(job)}", "Search", icon=":material/tune:")
    if config.forest is not None and st.button("Attack with the published hyper-parameters again", key="use_pinned"):
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
        {"Parameter": name, "Found": str(search.parameters.get(key) or "all"), "Published": str(PINNED[key] or "all")}
        for key, name in names.items()
    ]


def _more() -> None:
    """Draw the corrections beside each other; ends the page while they are computed."""
    tolerance = findings.first_tolerance(result)
    disclosed = cached.more_disclosed(result, tolerance, attacker)
    finding = findings.stronger_disclosure(disclosed, tolerance)
    left, right = st.columns([3, 2], gap="large")
    by = f"Accuracy at inferring {attribute}, before ○ and after ●, by what is disclosed"
    drawing = panels.titled(finding.point, by, charts.draw_more(disclosed), key="more_chart", container=left)
    with right:
        for sentence in (finding.evidence, *finding.caveats):
            st.markdown(shell.escape(sentence))
        panels.numbers({"Stronger disclosure": drawing.table}, key="more")


_SECTIONS: dict[str, Any] = {
    "trained": ("Tolerance sweep", _trained, _trained_models),
    "methods": ("Compare methods", _methods, _compared_models),
    "map": ("Tolerance and ε", _map, _map_models),
    "seeds": ("Seeds and controls", _over_seeds, _leaks),
    "tuning": ("Tune the attack", _tuning, _search),
    "more": ("Stronger disclosure", _more, None),
}
"""Name -> title, what draws it, and the work it follows."""

top = st.container()
left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
with right:
    attacker: dict[str, Any] = {**controls.attacker_settings(), "as_published": published}
adversary = attacker["adversary"]
with left:
    shell.chips(*findings.attacker_knowledge(result, adversary))
cached.tell(result, attacker)  # ends the page while it is computed
opening = top.empty()
draw_at_tolerance()
if further := panels.further(_SECTIONS, key="further"):
    title, draw, work_of = further
    if work_of is None:
        draw()
    elif work_of is not _search and config.method == GIVEN_PREDICTIONS:
        panels.needs_training(title)
    else:  # drawn again while its work is under way
        busy = work_of().busy
        st.fragment(draw, run_every=2.0 if busy else None)(busy)
