"""What the Correction page offers below its slider; models are measured in the background, and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core.apart import Report
from core.charts import correction as charts
from core.config import AuditConfig
from core.correction import KINDS, PROTOCOLS, CorrectionResult
from core.correction.findings import (
    constraint_effect,
    control_findings,
    first_tolerance,
    mitigation_rows,
    mitigation_truth,
    over_seeds,
    stronger_disclosure,
    tuning,
)
from core.correction.tables import tables
from core.estimates import epsilon_text
from core.fairness import METRICS
from core.fingerprint import fingerprint
from core.models import GIVEN, METHOD_TITLES
from core.settings import params
from core.sweep import SweepSettings
from core.sweep.findings import method_rows, trained_tolerances
from pages.common import cached, panels, shell, state, wording
from pages.common.background import Background, Job, pace

_SWEEP = params(SweepSettings)

Attacker = dict[str, Any]
"""Attacker, price and protocol, as the page's controls say."""


def draw(result: CorrectionResult, attacker: Attacker) -> None:
    """Offer the sections and draw one; with work of its own it is drawn again while that is under way."""
    chosen = panels.further({name: row[0] for name, row in _SECTIONS.items()}, key="further")
    if chosen is None:
        return
    title, section, work_of = _SECTIONS[chosen]
    if work_of is None:
        section(result, attacker)
    elif work_of is not _search and result.config.method == GIVEN:
        st.info(wording.needs_training(title))
    else:
        busy = work_of(result, attacker).busy
        st.fragment(section, run_every=2.0 if busy else None)(result, attacker, busy)


def _current(work: Any, running: bool) -> Any:
    """Return a work; the page is drawn again if it has begun or ended since."""
    if running != work.busy:
        st.rerun()
    return work


class Sweep(Background):
    """Models measured one after the other, begun with what is kept from earlier ones."""

    def __init__(
        self, name: str, result: CorrectionResult, configs: Sequence[AuditConfig], measure: Any, kind: Any
    ) -> None:
        self.configs, self.dataset, self.measure, self.kind = configs, result.subject.dataset, measure, kind
        self.points: Any = None
        self.left: list[AuditConfig] = []
        store, key = cached.store_of(configs[0].dataset), fingerprint(name, self.dataset.fingerprint, list(configs))
        super().__init__("sweep", store, key, self._sweep, lane="sweep", total=len(configs), widget=name)

    def there(self) -> list[Any]:
        """Return what is kept of these models."""
        from core.sweep import point_key

        self.points = cached.point_store(self.configs[0].dataset, self.dataset)  # the job may not call Streamlit
        keys = [point_key(config, self.dataset, self.kind) for config in self.configs]
        found = [self.points.load(key, self.kind) for key in keys]
        self.left = [config for config, point in zip(self.configs, found, strict=True) if point is None]
        return [point for point in found if point is not None]

    def _sweep(self, job: Job) -> list[Any]:
        from core import sweep as sweeps

        return job.collect(
            sweeps.sweep(self.left, self.dataset, n_jobs=2, store=self.points, measure=self.measure, result=self.kind)
        )

    def offer(self, start: str = "Train and attack", done: str = "attacked", go_on: str = "Go on") -> list[Any]:
        """Show how far it is and offer to stop or start it; returns the models that are there."""
        points = self.partial
        label = f"Stopped after {len(points)} models. {go_on}" if self.job else f"{start} {self.total} models"
        self.show(lambda job: f"{len(points)} of {job.total} models {done}, {pace(job)}", label)
        return points


def _models(name: str, result: CorrectionResult, configs: Sequence[AuditConfig]) -> Sweep:
    from core.sweep import SweepPoint, measure

    return Sweep(name, result, configs, measure, SweepPoint)


def _seeds(result: CorrectionResult, key: str, default: int = 1) -> list[int]:
    """Return the seeds a section's own control asks for, the audit's first."""
    first = result.config.seed
    return list(range(first, first + int(st.session_state.get(key) or default)))


def _summary(points: list[Any]) -> Any:
    """Return finished models over their seeds."""
    from core.sweep import summarise

    return summarise(list({point.config: point for point in points}.values()))


def _rows(points: list[Any], attacker: Attacker) -> list[Any]:
    """Return finished models over their seeds, for one attacker."""
    if not points:
        return []
    wanted = (attacker["adversary"], PROTOCOLS[attacker["as_published"]], attacker["cost"])
    return [row for row in _summary(points) if (row.adversary, row.protocol, row.cost) == wanted]


def _trained_models(result: CorrectionResult, attacker: Attacker) -> Sweep:
    """Return models trained for each tolerance; begun by itself with what the controls say at first."""
    from core.sweep import PAPER_TOLERANCES, TOLERANCES, grid

    tolerances = PAPER_TOLERANCES if st.session_state.get("sweep_tolerances") == 49 else TOLERANCES
    asked = replace(result.config, method="exponentiated_gradient")
    work = _models("sweep", result, grid(asked, tolerances=tolerances, seeds=_seeds(result, "sweep_seeds")))
    work.begin("sweeps", result.subject.dataset.fingerprint, result.config)
    return work


def _trained(result: CorrectionResult, attacker: Attacker, running: bool) -> None:
    """Draw the curves over trained tolerances, with their controls."""
    left, right, _ = st.columns([2, 2, 3])
    panels.pick(
        _SWEEP["tolerances"].param.title,
        [18, 49],
        key="sweep_tolerances",
        default=18,
        help="49 values from 0 to 0.2, denser near 0, as many as in the published experiments.",
        place=left,
    )
    panels.pick(
        "Seeds",
        [1, 3, 5],
        key="sweep_seeds",
        default=1,
        help="Several: lines are means, bands 95% intervals over seeds. One: bars are intervals over people.",
        place=right,
    )
    work = _current(_trained_models(result, attacker), running)
    points = work.offer("Train", "trained", "Train the rest")
    rows = _rows(points, attacker)
    found = trained_tolerances(rows, result.config, as_published=attacker["as_published"])
    without = result.disclose(0.0, **attacker)  # for the majority guess and what the attacker has before
    baseline = (without.majority, without.before, result.strong)
    left, right = st.columns([3, 2], gap="large")
    with left:
        recovered = panels.titled(
            found.point,
            shell.escape(found.evidence),
            charts.draw_trained(rows, baseline, attribute=wording.attribute(result.config)),
            key="trained_chart",
        )
    if rows:
        with right:
            panels.titled(
                "What it costs the model",
                "Accuracy, by the tolerance trained for",
                charts.draw_models_accuracy(rows),
                key="trained_accuracy",
            )
            last = max(rows, key=lambda row: row.tolerance)
            panels.titled(
                "What was reached",
                "Unfairness (largest deviation of a group), by the tolerance trained for. At the loosest, the "
                f"difference between groups (Fairlearn's) is {last.difference_train.value:.3f} on training and "
                f"{last.difference_test.value:.3f} on unseen people",
                charts.draw_models_unfairness(rows),
                key="trained_unfairness",
            )
    if points and not running:
        panels.numbers({"Models by trained tolerance": recovered.table}, key="trained")


def _compared_models(result: CorrectionResult, attacker: Attacker) -> Sweep:
    """Return models trained by every method."""
    from core.models import METHODS
    from core.sweep import grid

    config = result.config
    metrics = METRICS if st.session_state.get("methods_metrics") == "all four metrics" else (config.metric,)
    asked = replace(config, epsilon=state.epsilon())  # the private tree's; grid keeps it from the others
    seeds = _seeds(result, "methods_seeds")
    grown = grid(asked, tolerances=[config.tolerance], methods=METHODS, metrics=metrics, seeds=seeds)
    return _models("methods", result, grown)


def _methods(result: CorrectionResult, attacker: Attacker, running: bool) -> None:
    """Draw the comparison of methods, with its controls."""
    from core.sweep import table_three

    left, right, _ = st.columns([2, 2, 3])
    metrics = ["this metric", "all four metrics"]
    panels.pick(_SWEEP["metrics"].param.title, metrics, key="methods_metrics", default=metrics[0], place=left)
    panels.pick("Seeds", [1, 3, 5], key="methods_seeds", default=1, place=right)
    points = _current(_compared_models(result, attacker), running).offer()
    if not points:
        st.caption(
            "Exponentiated gradient (in-processing), threshold optimizer (post-processing), correlation remover "
            "(pre-processing), no constraint, and a tree with DP training noise "
            f"(ε = {epsilon_text(state.epsilon())}; to change it choose the private tree on the Model page). All have "
            "the same people and seeds."
        )
        return
    attribute = shell.escape(wording.attribute(result.config))
    rows = _rows(points, attacker)
    every = panels.frame(method_rows(rows))
    drawing = panels.titled(
        "Before and after, by method",
        f"Accuracy at inferring {attribute}: before disclosure ○, after ●",
        charts.draw_methods([row for row in rows if row.metric == result.config.metric]),
        key="methods_chart",
    )
    shell.whisper(
        "The models and what they reveal",
        "Accuracy in %, on unseen people for the model. On the training people: unfairness (largest deviation of a "
        "group from the overall rate) and difference between groups (Fairlearn's)",
    )
    one_metric = every["Metric"].nunique() == 1
    st.dataframe(every.drop(columns="Metric") if one_metric else every, hide_index=True, height="content")
    shown = {"Methods": drawing.table, "All methods and metrics": every}
    if any(row.method == "threshold_optimizer" for row in rows):
        shown["Table III of Ferry et al. (threshold optimizer), here"] = table_three(
            _summary(points), protocol=PROTOCOLS[attacker["as_published"]], cost=attacker["cost"]
        )
    panels.numbers(shown, key="methods")


_LEAK_SEEDS = (3, 5, 10)


def _leaks(result: CorrectionResult, attacker: Attacker) -> Sweep:
    """Return the attribution of the leak for every seed, with and without mitigation."""
    from core.correction import LeakPoint, leak_configs, measure_leak

    configs = leak_configs(result.config, _seeds(result, "leak_seeds", _LEAK_SEEDS[0]))
    return Sweep("seeds", result, configs, measure_leak, LeakPoint)


def _over_seeds(result: CorrectionResult, attacker: Attacker, running: bool) -> None:
    """Draw the attribution over seeds, with its control."""
    from core.correction import attribute_over_seeds

    panels.pick("Seeds", _LEAK_SEEDS, key="leak_seeds", default=_LEAK_SEEDS[0])
    points, config = _current(_leaks(result, attacker), running).offer(), result.config
    own = [point for point in points if point.config.method == config.method]
    if not own:
        st.caption(
            "Splits, model and attackers are drawn again for every seed, with the chosen method and without "
            "mitigation. Intervals are then over seeds."
        )
        return
    attribute = shell.escape(wording.attribute(config))
    several = f"Means and 95% intervals over {len(own)} seeds"
    over = several if len(own) > 1 else "One seed: 95% intervals over people"
    leaks = [attribute_over_seeds([point.attributions[name] for point in own]) for name in KINDS]
    for column, name, leak in zip(st.columns(2, gap="large"), KINDS, leaks, strict=True):
        with column:
            panels.titled(
                f"What each piece of knowledge adds, {name} attacker",
                f"Accuracy at inferring {attribute}; each row adds one thing. {over}",
                charts.draw_waterfall(
                    leak,
                    over_seeds(own, "boosting", "features"),
                    words="Imputation, without the model",
                    attribute=wording.attribute(config),
                ),
                key=f"seeds_{name[:5]}_chart",
            )
            st.caption(shell.escape(constraint_effect(leak).text))
    left, right = st.columns(2, gap="large")
    with left:
        mitigation = "mitigation" if config.method == "unmitigated" else METHOD_TITLES[config.method].lower()
        shell.whisper(f"With and without {mitigation}", "The same people and seeds; differences paired by seed")
        if rows := mitigation_rows(points, config):
            st.dataframe(panels.worded(rows), hide_index=True, height="content")
            st.caption(shell.escape(mitigation_truth(points, config).text))
        else:
            st.caption("The chosen model is the one without mitigation.")
    with right:
        shell.whisper("The controls", "What does not come from what the model says about somebody")
        for finding in control_findings(points, own, config):
            panels.statement(finding)
    panels.numbers(panels.frames(tables(points, leaks, config)), key="seeds")


def _search(result: CorrectionResult, attacker: Attacker) -> Background:
    """Return the search for better parameters of the attacker's forest."""
    evaluations = int(st.session_state.get("evaluations") or 30)
    kind = "predictions" if attacker["adversary"] == "predictions" else "features"
    config, dataset = result.config, result.subject.dataset

    def tuned(report: Report) -> Any:
        from core.adversaries import tune_forest
        from core.datasets.splits import split
        from core.subject import train_model

        splits = split(dataset, train_share=config.train_share, seed=config.seed)
        known = splits.known
        drawn = train_model(config, dataset, splits).predictions if kind == "predictions" else None
        return tune_forest(
            kind,
            dataset.features[known],
            dataset.labels[known],
            dataset.sensitive[known],
            None if drawn is None else drawn[known],
            evaluations=evaluations,
            seed=config.seed,
            report=report,
        )

    def work(job: Job) -> Any:
        return job.apart(tuned, about=dataset)

    key = fingerprint("tuning", dataset.fingerprint, replace(config, forest=None), kind, evaluations)
    store = cached.store_of(config.dataset)
    return Background("sweep", store, key, work, lane="sweep", total=evaluations, widget="tuning")


def _tuning(result: CorrectionResult, attacker: Attacker, running: bool) -> None:
    """Draw the search, with its control."""
    left, _ = st.columns([2, 3], vertical_alignment="bottom")
    panels.pick(
        "Evaluations",
        [10, 30, 100],
        key="evaluations",
        default=30,
        help="The published experiments used up to 100 of a tree-structured Parzen estimator, as here.",
        place=left,
    )
    work, config = _current(_search(result, attacker), running), result.config
    found = work.result
    if found is None and not work.busy:
        st.caption(
            f"Tuned is the published attack, {'A′' if attacker['adversary'] == 'predictions' else 'A'}, whichever is "
            "chosen. The attacker tries forests on their own records, four fifths to choose and one fifth to judge; "
            "nobody under attack is looked at."
        )
    work.show(lambda job: f"{job.done} of {job.total} forests tried, {pace(job)}", "Search", icon=":material/tune:")
    if config.forest is not None and st.button("Attack with the published hyper-parameters again", key="use_pinned"):
        state.keep_forest(None)
        st.rerun()
    if found is None:
        return
    told = tuning(found)
    shell.whisper(told.point, told.evidence)
    drawing = charts.draw_search(found)
    left, right = st.columns([3, 2], gap="large")
    with left:
        panels.chart(drawing, key="search_chart")
    with right:
        st.dataframe(_forest_table(found), hide_index=True, height="content")
        parameters = tuple(sorted(found.parameters.items()))
        if config.forest != parameters and st.button("Attack with this forest", key="use_tuned"):
            state.keep_forest(parameters)
            st.rerun()
    panels.numbers({"Forests tried": drawing.table}, key="search")


def _forest_table(found: Any) -> Any:
    """Return the parameters found beside the published ones."""
    from core.adversaries.adversary import PINNED

    names = {
        "n_estimators": "trees",
        "max_depth": "depth",
        "min_samples_split": "fewest to split",
        "min_samples_leaf": "fewest in a leaf",
        "max_features": "features a split sees",
        "criterion": "criterion",
    }
    return panels.frame(
        [
            {
                "Parameter": name,
                "Found": str(found.parameters.get(key) or "all"),
                "Published": str(PINNED[key] or "all"),
            }
            for key, name in names.items()
        ]
    )


def _more(result: CorrectionResult, attacker: Attacker) -> None:
    """Draw the corrections beside each other; ends the page while they are computed."""
    tolerance = first_tolerance(result)
    found = cached.more_disclosed(result, tolerance, attacker)
    told = stronger_disclosure(found, tolerance)
    left, right = st.columns([3, 2], gap="large")
    with left:
        drawing = panels.titled(
            told.point,
            f"Accuracy at inferring {shell.escape(wording.attribute(result.config))}, before ○ and after ●, by what is "
            "disclosed",
            charts.draw_more(found),
            key="more_chart",
        )
    with right:
        for sentence in (told.evidence, *told.caveats):
            st.markdown(shell.escape(sentence))
        panels.numbers({"Stronger disclosure": drawing.table}, key="more")


_SECTIONS: dict[str, Any] = {
    "trained": ("Tolerance sweep", _trained, _trained_models),
    "methods": ("Compare methods", _methods, _compared_models),
    "seeds": ("Seeds and controls", _over_seeds, _leaks),
    "tuning": ("Tune the attack", _tuning, _search),
    "more": ("Stronger disclosure", _more, None),
}
"""Name -> title, what draws it, and the work it follows."""
