"""What the Correction page offers below its slider; models are measured in the background, and kept.

Finished models of built-in data are kept on disk, where the command line keeps them too; those of a user's own table
only in the memory of its session.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core.audit import PROTOCOLS, AuditFindings
from core.charts import (
    draw_methods,
    draw_models_accuracy,
    draw_models_unfairness,
    draw_more,
    draw_search,
    draw_trained,
    draw_waterfall,
    rows_over_seeds,
)
from core.config import AuditConfig
from core.correction import Disclosure
from core.datasets.dataset import AuditDataset
from core.estimates import epsilon_text
from core.fairness import METRICS
from core.fingerprint import fingerprint
from core.models import GIVEN
from core.settings import params
from core.sweep import SweepSettings
from pages.common import cached, correction_words, panels, shell, state, wording
from pages.common import correction_section_words as words
from pages.common.background import Background, Job, pace

_SWEEP = params(SweepSettings)


class Sweep(Background):
    """Models measured one after the other, begun with what is kept from earlier ones.

    Parameters
    ----------
    name : str
        What the keys of its buttons end with.
    measure, result : callable and type
        What measures a model, and what comes of it.
    """

    def __init__(
        self, name: str, configs: Sequence[AuditConfig], dataset: AuditDataset, measure: Any, result: Any
    ) -> None:
        self.configs, self.dataset, self.measure, self.kind = configs, dataset, measure, result
        self.points: Any = None
        self.left: list[AuditConfig] = []
        store, key = cached.store_of(configs[0].dataset), fingerprint(name, dataset.fingerprint, list(configs))
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

    def offer(self) -> list[Any]:
        """Show how far it is and offer to stop or start it; returns the models that are there."""
        points = self.partial
        label = f"Stopped after {len(points)} models. Go on" if self.job else f"Train and attack {self.total} models"
        self.show(lambda job: f"{len(points)} of {job.total} models attacked, {pace(job)}", label)
        return points


def _models(name: str, configs: Sequence[AuditConfig], dataset: AuditDataset) -> Sweep:
    from core.sweep import SweepPoint, measure

    return Sweep(name, configs, dataset, measure, SweepPoint)


def sweep_rows(points: list[Any], adversary: str, protocol: str, cost: str) -> list[Any]:
    """Return finished models over their seeds, for one attacker."""
    if not points:
        return []
    wanted = (adversary, protocol, cost)
    return [row for row in summary_of(points).rows if (row.adversary, row.protocol, row.cost) == wanted]


def summary_of(points: list[Any]) -> Any:
    """Return finished models over their seeds."""
    from core.sweep import summarise

    return summarise(list({point.config: point for point in points}.values()))


_TRAINED_SEEDS = (1, 3, 5)


def trained_section(
    config: AuditConfig,
    dataset: AuditDataset,
    findings: AuditFindings,
    reference: Disclosure,
    settings: dict[str, Any],
) -> None:
    """Draw the curves over trained tolerances with progress and cancel.

    Parameters
    ----------
    reference : Disclosure
        One of the audited model, for the majority guess and what the attacker has before.
    settings : dict
        Attacker, price and protocol, as the page's controls say.
    """
    if config.method == GIVEN:
        st.info(wording.needs_training("Tighter and looser models"))
        return
    work = _models("sweep", _trained_configs(config), dataset)
    work.begin("sweeps", dataset.fingerprint, config)
    part = st.fragment(_trained, run_every=1.0 if work.busy else None)
    part(config, dataset, findings, reference, settings, work.busy)


def _trained_configs(config: AuditConfig) -> list[AuditConfig]:
    """Return the configurations the section's own controls ask for."""
    from dataclasses import replace

    from core.sweep import PAPER_TOLERANCES, TOLERANCES, grid

    tolerances = PAPER_TOLERANCES if st.session_state.get("sweep_tolerances") == 49 else TOLERANCES
    seeds = range(config.seed, config.seed + int(st.session_state.get("sweep_seeds") or 1))
    return grid(replace(config, method="exponentiated_gradient"), tolerances=tolerances, seeds=list(seeds))


def _trained(
    config: AuditConfig,
    dataset: AuditDataset,
    findings: AuditFindings,
    reference: Disclosure,
    settings: dict[str, Any],
    running: bool,
) -> None:
    _trained_controls()
    work = _models("sweep", _trained_configs(config), dataset)
    if running != work.busy:
        st.rerun()
    points = work.partial
    label = f"Stopped after {len(points)} models. Train the rest" if work.job else f"Train {work.total} models"
    work.show(lambda job: f"{len(points)} of {job.total} models trained, {pace(job)}", label)
    rows = sweep_rows(points, settings["adversary"], PROTOCOLS[settings["as_published"]], settings["cost"])
    colours, attribute = shell.palette(), shell.escape(wording.attribute(config))
    baseline = (reference.majority, reference.before, findings.strong)
    recovered = draw_trained(rows, baseline, colours, attribute=attribute)
    left, right = st.columns([3, 2], gap="large")
    with left:
        shell.whisper(
            words.trained_heading(rows),
            f"People whose {attribute} is recovered; each point is a model trained for that tolerance, and "
            + correction_words.trained_caption(settings["as_published"])
            + ("" if config.method == "exponentiated_gradient" else ". All are trained by exponentiated gradient"),
        )
        panels.chart(recovered, key="trained_chart")
    if rows:
        with right:
            shell.whisper("What it costs the model", "Right predictions, by the tolerance trained for")
            panels.chart(draw_models_accuracy(rows, colours), key="trained_accuracy")
            shell.whisper("What was reached", words.reached(rows))
            panels.chart(draw_models_unfairness(rows, colours), key="trained_unfairness")
    if points and not running:
        panels.numbers({"Models by trained tolerance": recovered.table}, key="trained")


def _trained_controls() -> None:
    left, right, _ = st.columns([2, 2, 3])
    with left:
        panels.pick(
            _SWEEP["tolerances"].param.title,
            [18, 49],
            key="sweep_tolerances",
            default=18,
            help="49 values from 0 to 0.2, denser near 0, as many as in the published experiments.",
        )
    with right:
        panels.pick(
            "Seeds",
            _TRAINED_SEEDS,
            key="sweep_seeds",
            default=1,
            help="Several: lines are means, bands 95% intervals over seeds. One: bars are intervals over people.",
        )


def methods_section(config: AuditConfig, dataset: AuditDataset, settings: dict[str, Any]) -> None:
    """Draw the comparison with its controls, progress and cancel."""
    if config.method == GIVEN:
        st.info(wording.needs_training("Other methods"))
        return
    busy = _models("methods", _methods_configs(config), dataset).busy
    st.fragment(_methods, run_every=1.0 if busy else None)(config, dataset, settings, busy)


def _methods_configs(config: AuditConfig) -> list[AuditConfig]:
    from core.models import METHODS
    from core.sweep import grid

    metrics = METRICS if st.session_state.get("methods_metrics") == "all four metrics" else (config.metric,)
    seeds = range(config.seed, config.seed + int(st.session_state.get("methods_seeds") or 1))
    asked = replace(config, epsilon=state.epsilon())  # the private tree's; grid keeps it from the others
    return grid(asked, tolerances=[config.tolerance], methods=METHODS, metrics=metrics, seeds=list(seeds))


def _methods(config: AuditConfig, dataset: AuditDataset, settings: dict[str, Any], running: bool) -> None:
    from core.sweep import table_three

    _methods_controls()
    work = _models("methods", _methods_configs(config), dataset)
    if running != work.busy:
        st.rerun()
    points = work.offer()
    if not points:
        st.caption(
            "Exponentiated gradient (in-processing), threshold optimizer (post-processing), correlation remover "
            "(pre-processing), the model without mitigation and a tree trained with privacy noise "
            f"(ε = {epsilon_text(state.epsilon())}, chosen on the Model page), on the same people with the same seeds."
        )
        return
    attribute = shell.escape(wording.attribute(config))
    rows = sweep_rows(points, settings["adversary"], PROTOCOLS[settings["as_published"]], settings["cost"])
    drawing = draw_methods([row for row in rows if row.metric == config.metric], shell.palette())
    left, right = st.columns([3, 2], gap="large", vertical_alignment="center")
    with left:
        shell.whisper("Before and after, by method", f"People whose {attribute} is recovered: before ○, after ●")
        panels.chart(drawing, key="methods_chart")
    with right:
        shell.whisper(
            "The models and what they give away",
            "Accuracy in %, on unseen people for the model. On the training people: unfairness (largest deviation of a "
            "group from the overall rate) and difference between groups (Fairlearn's)",
        )
        st.dataframe(words.methods_table(rows), hide_index=True, height="content")
    tables = {"Methods": drawing.table, "All methods and metrics": words.methods_table(rows)}
    if any(row.method == "threshold_optimizer" for row in rows):
        tables["Table III of Ferry et al. (threshold optimizer), here"] = table_three(
            summary_of(points), protocol=PROTOCOLS[settings["as_published"]], cost=settings["cost"]
        )
    panels.numbers(tables, key="methods")


def _methods_controls() -> None:
    left, right, _ = st.columns([2, 2, 3])
    with left:
        label = _SWEEP["metrics"].param.title
        panels.pick(label, ["this metric", "all four metrics"], key="methods_metrics", default="this metric")
    with right:
        panels.pick("Seeds", [1, 3, 5], key="methods_seeds", default=1)


_LEAK_SEEDS = (3, 5, 10)


def seeds_section(config: AuditConfig, dataset: AuditDataset, findings: AuditFindings) -> None:
    """Draw the attribution over seeds with its controls, progress and cancel."""
    if config.method == GIVEN:
        st.info(wording.needs_training("Other seeds"))
        return
    busy = _leaks(config, dataset).busy
    st.fragment(_over_seeds, run_every=1.0 if busy else None)(config, dataset, findings, busy)


def _leaks(config: AuditConfig, dataset: AuditDataset) -> Sweep:
    """Return the attribution of the leak for every seed, with and without mitigation."""
    from core.leak import LeakPoint, leak_configs, measure_leak

    seeds = range(config.seed, config.seed + int(st.session_state.get("leak_seeds") or _LEAK_SEEDS[0]))
    return Sweep("seeds", leak_configs(config, list(seeds)), dataset, measure_leak, LeakPoint)


def _over_seeds(config: AuditConfig, dataset: AuditDataset, findings: AuditFindings, running: bool) -> None:
    panels.pick("Seeds", _LEAK_SEEDS, key="leak_seeds", default=_LEAK_SEEDS[0])
    work = _leaks(config, dataset)
    if running != work.busy:
        st.rerun()
    points = work.offer()
    own = [point for point in points if point.config.method == config.method]
    if not own:
        st.caption(
            "Splits, model and attackers are drawn anew for every seed, with the chosen method and without mitigation. "
            "Intervals are then over seeds."
        )
        return
    _waterfalls(config, own, findings)
    _sentences(config, points, own)
    panels.numbers(words.leak_tables(points, own, findings), key="seeds")


def _waterfalls(config: AuditConfig, own: list, findings: AuditFindings) -> None:  # type: ignore[type-arg]
    from core.correction import attribute_over_seeds

    attribute = shell.escape(wording.attribute(config))
    for column, name in zip(st.columns(2, gap="large"), ("paper's", "strong"), strict=True):
        leak = attribute_over_seeds([point.attributions[name] for point in own])
        with column:
            shell.whisper(
                f"Where the {name} attacker's knowledge comes from",
                f"People whose {attribute} is named rightly; each row adds one thing. " + words.over(len(own)),
            )
            rows = rows_over_seeds(leak, share=correction_words.share_words(findings))
            drawing = draw_waterfall(
                rows,
                words.strong_over_seeds(own),
                shell.palette(),
                words="Strong attacker, features alone",
                attribute=attribute,
            )
            panels.chart(drawing, key=f"seeds_{name[:5]}_chart")
            st.caption(shell.escape(leak.sentence()))


def _sentences(config: AuditConfig, points: list, own: list) -> None:  # type: ignore[type-arg]
    left, right = st.columns(2, gap="large")
    with left:
        shell.whisper(
            f"With and without {words.mitigation(config)}",
            "Right answers, the same people and seeds; differences are paired by seed",
        )
        delta = words.delta_table(points, config)
        if delta is None:
            st.caption("The chosen model is the one without mitigation.")
        else:
            st.dataframe(delta, hide_index=True, height="content")
            st.caption(words.delta_truth(points, config))
    with right:
        shell.whisper("The controls", "What does not come from what the model says about somebody")
        for sentence in words.controls(points, own, config):
            st.markdown(sentence)


def tuning_section(config: AuditConfig, dataset: AuditDataset, adversary: str) -> None:
    """Draw the search with its controls, progress and cancel."""
    kind = adversary if adversary in ("features", "predictions") else "features"
    busy = _search(config, dataset, kind).busy
    st.fragment(_tuning, run_every=1.0 if busy else None)(config, dataset, kind, busy)


def _search(config: AuditConfig, dataset: AuditDataset, kind: str) -> Background:
    """Return the search for better parameters of the attacker's forest."""
    evaluations = int(st.session_state.get("evaluations") or 30)

    def work(job: Job) -> Any:
        from core.adversaries import tune_forest
        from core.audit import train_model
        from core.datasets.splits import split

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
            report=job.report,
        )

    key = fingerprint("tuning", dataset.fingerprint, replace(config, forest=None), kind, evaluations)
    store = cached.store_of(config.dataset)
    return Background("sweep", store, key, work, lane="sweep", total=evaluations, widget="tuning")


def _tuning(config: AuditConfig, dataset: AuditDataset, kind: str, running: bool) -> None:
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        panels.pick(
            "Evaluations",
            [10, 30, 100],
            key="evaluations",
            default=30,
            help="The published experiments used up to 100 of a tree-structured Parzen estimator, as here.",
        )
    work = _search(config, dataset, kind)
    if running != work.busy:
        st.rerun()
    found = work.result
    if found is None and not work.busy:
        st.caption(
            f"Tuned is the paper's forest, {'A′' if kind == 'predictions' else 'A'}, whichever attacker is chosen. "
            "The attacker tries forests on her own records, four fifths to choose and one fifth to judge; nobody under "
            "attack is looked at."
        )
    work.show(lambda job: f"{job.done} of {job.total} forests tried, {pace(job)}", "Search", icon=":material/tune:")
    if config.forest is not None and st.button("Attack with the pinned forest again", key="use_pinned"):
        state.keep_forest(None)
        st.rerun()
    if found is None:
        return
    shell.whisper(*words.tuned(found))
    drawing = draw_search(found, shell.palette())
    left, right = st.columns([3, 2], gap="large")
    with left:
        panels.chart(drawing, key="search_chart")
    with right:
        st.dataframe(words.forest_table(found), hide_index=True, height="content")
        parameters = tuple(sorted(found.parameters.items()))
        if config.forest != parameters and st.button("Attack with this forest", key="use_tuned"):
            state.keep_forest(parameters)
            st.rerun()
    panels.numbers({"Forests tried": drawing.table}, key="search")


def more_section(config: AuditConfig, dataset: AuditDataset, findings: AuditFindings, settings: dict[str, Any]) -> None:
    """Draw the corrections beside each other; ends the page while they are computed."""
    told = correction_words.first_told(findings)
    found = cached.more_disclosed(findings, dataset, told, **settings)
    drawing = draw_more(found, shell.palette())
    left, right = st.columns([3, 2], gap="large")
    with left:
        shell.whisper(
            words.more_heading(found),
            f"People whose {shell.escape(wording.attribute(config))} is recovered, before ○ and after ●, by what is "
            "disclosed",
        )
        panels.chart(drawing, key="more_chart")
    with right:
        for sentence in words.more_sentences(found, told):
            st.markdown(sentence)
        panels.numbers({"More disclosed": drawing.table}, key="more")
