"""The map on the Start page: kept for the built-in demo, made in the background for other tables when asked for."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import streamlit as st

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset, Table
from core.datasets.demo import DEMO_FILE
from core.errors import FairLeakError
from core.estimates import epsilon_text, in_words, percent, points
from core.sweep.landscape import (
    Landscape,
    LandscapePlan,
    MapCell,
    landscape_key,
    landscape_steps,
    read_landscape,
)
from pages.common import cached, panels, shell
from pages.common.background import Background, Job, State, pace
from pages.common.shell import escape

KEPT_MAP = DEMO_FILE.with_name("demo_landscape.json")
"""The demo's map; ``python -m core landscape --seeds 0-19 --out data/demo_landscape.json`` makes it anew."""


_LESS: dict[str, Any] = {"tolerances": (0.01, 0.05, None), "epsilons": (math.inf, 1.0, 0.1), "seeds": (0, 1, 2)}


def draw_map(config: AuditConfig, table: Table) -> None:
    """Draw the map of a table's models, or offer to make it; of more than two groups it holds less.

    Each correction of more groups takes programs of its own.
    """
    dataset = cached.dataset_of(table, config.roles or table.roles[0])
    less = {} if dataset.n_groups == 2 else _LESS
    plan = LandscapePlan(metric=config.metric, train_share=config.train_share, **less)
    store, key = cached.store_of(config.dataset), landscape_key(dataset, plan)

    def make(job: Job) -> Landscape:
        from core.sweep.landscape import landscape

        return landscape(dataset, plan, report=job.report)

    work = Background("map", store, key, make, lane="sweep", total=landscape_steps(plan))
    made = _kept(dataset, plan) if config.dataset == "demo" else None
    made = made or work.result
    if made is None:
        work.watch(lambda: _offer(work, plan))
    else:
        _draw(made)


def _kept(dataset: AuditDataset, plan: LandscapePlan) -> Landscape | None:
    """Return the map that came with FairLeak if it is one of this table and these settings, else None."""
    try:
        kept: Landscape = cached.store_of("demo").remember("landscape:kept", lambda: read_landscape(KEPT_MAP))
    except FairLeakError:  # the file is missing or damaged: the map can still be made
        return None
    return kept if kept.made_from == landscape_key(dataset, replace(plan, seeds=kept.plan.seeds)) else None


def _offer(work: Background, plan: LandscapePlan) -> None:
    """Show how far the map is, or offer to make it."""
    shell.whisper(
        "How fair, how private, and what leaks all the same",
        "A map of models trained on this table: tolerance across, privacy budget down, colour what is recovered",
    )
    label = "Stopped. Make the map" if work.state == State.CANCELLED else "Make the map"
    work.show(lambda job: f"{job.done} of {job.total} steps, {pace(job)}", label)
    if not work.busy:
        cells = len(plan.tolerances) * len(plan.epsilons)
        st.caption(
            f"{cells} kinds of models, {in_words(len(plan.seeds))} seeds each: about a minute for 12,000 people, "
            "longer with more than two groups. The page can be used meanwhile."
        )


def _draw(found: Landscape) -> None:
    from core.charts import draw_landscape

    point, cell = finding(found)
    told, drawing = quantity(found) + promise(cell), draw_landscape(found, shell.palette())
    panels.titled(point, told, drawing, key="start_map_chart")
    st.caption(cost(found, cell) + unlike_headline(found))
    panels.how_to_read(HOW_TO_READ)
    panels.numbers({"Map of fair and private models": drawing.table}, key="start-map")


HOW_TO_READ = (
    "Each cell is a kind of model, trained anew with every seed: a decision tree grown with privacy noise (DP-ID3), "
    "whose answers are then changed at random, by group, as rarely as noisy counts allow for the groups' rates to "
    "differ by the tolerance. Tree and counts together spend ε: a quarter goes to the counts, or nothing where no "
    "tolerance is promised. The model must be told a person's group to answer.\n\n"
    "The number is the share of the training people whose attribute the paper's attacker names rightly. She has a "
    "guess for everybody from features and label, hears the tolerance the model was trained for, true or not, sees the "
    "model's answers, and changes her surest guesses last until both agree. In the column “none” she hears nothing. "
    "Bold: over the seeds, the 95% interval of the change leaves out 0. One cell in twenty would be bold by chance, so "
    "look at rows and columns, not at single cells; neighbours in a row share their trees.\n\n"
    "The colour starts at the baseline, naming the larger group for everybody, and is full at the strong attacker, who "
    "is told nothing, or at the highest cell if that is higher. A pale cell does not mean that little leaks: the "
    "strong attacker gets her share without any promise.\n\n"
    "Membership: somebody holds the released tree and takes those for members whose own label it scores highest. LiRA, "
    "on the page Membership, is stronger. The noise bounds every such attack, and is not meant against the other one."
)


def finding(found: Landscape) -> tuple[str, MapCell | None]:
    """Return what a map shows of the tension between both promises, and of which cell it speaks, if of one."""
    tight = min(t for t in found.plan.tolerances if t is not None)
    cells = {epsilon: found.cell(tight, epsilon) for epsilon in sorted(found.plan.epsilons)}
    noiseless = cells.get(math.inf)
    for epsilon, cell in cells.items():  # the most noise first
        if noiseless is None or math.isinf(epsilon):
            break
        if cell.gain.low > 0 and cell.members.high < noiseless.members.low:
            does = "stops" if cell.members.low <= 0.5 else "weakens"
            return (
                f"Noise at ε = {epsilon_text(epsilon)} {does} this attack on membership (AUC "
                f"{noiseless.members.value:.2f} to {cell.members.value:.2f}), but not the correction: still "
                f"{points(cell.gain)} at tolerance {tight:g}"
            ), cell
    if noiseless is not None and noiseless.gain.low > 0:
        told = f"Only without noise does the tightest promise help significantly: {points(noiseless.gain)}"
        return told, noiseless
    return _most(found)


def _most(found: Landscape) -> tuple[str, MapCell | None]:
    promised = [cell for cell in found.cells if cell.tolerance is not None]
    added = [cell for cell in promised if cell.gain.low > 0]
    if not added:
        return "No promise on this map has a statistically significant effect on this attacker's guesses", None
    most = max(added, key=lambda cell: cell.gain.value)
    return (
        f"A promise helps this attacker significantly in {len(added)} of {len(promised)} cells, at most "
        f"{points(most.gain)}, at tolerance {most.tolerance:g} and ε = {epsilon_text(most.epsilon)}"
    ), most


def promise(cell: MapCell | None) -> str:
    """Return in how many seeds the promise is true that a finding speaks of."""
    if cell is None:
        return ""
    place = f"At ε = {epsilon_text(cell.epsilon)} the promise of {cell.tolerance:g}"
    return f" {place} is true in {cell.n_true} of {cell.n_seeds} seeds."


def cost(found: Landscape, cell: MapCell | None) -> str:
    """Return how good the model is that a finding speaks of, with its control."""
    if cell is None:
        return ""
    without = ""
    if not math.isinf(cell.epsilon) and math.inf in found.plan.epsilons:
        without = f", {percent(found.cell(cell.tolerance, math.inf).accuracy)} without noise"
    return (
        f"At tolerance {cell.tolerance:g} and ε = {epsilon_text(cell.epsilon)} the model is right for "
        f"{percent(cell.accuracy)}{without}; one answer for all is right for "
        f"{percent(found.controls()['majority_label'])}. "
    )


def quantity(found: Landscape) -> str:
    """Return what is drawn, over what, and what the control is."""
    name, seeds = escape(found.attribute), len(found.plan.seeds)
    controls = found.controls()
    over = (
        f"means of {seeds} seeds, bold: 95% CI of the change excludes 0, not corrected for the number of cells"
        if seeds > 1
        else "one seed"
    )
    below = ""
    if max(cell.after.value for cell in found.cells if not math.isnan(cell.after.value)) < controls["majority"].value:
        below = " Every cell is below the baseline."
    return (
        f"{name[:1].upper()}{name[1:]} recovered by the paper's attacker, in %: {over}. Baseline: "
        f"“{escape(found.majority_name)}” for all, {percent(controls['majority'])}.{below}"
    )


def unlike_headline(found: Landscape) -> str:
    """Return why the map's figures are not those of the audited model, in a few words."""
    seeds = len(found.plan.seeds)
    splits = f"{seeds} seeds" if seeds > 1 else "a seed of its own"
    return (
        "The map's figures differ from the headline's, the attackers' too: it is of other models, private trees, and "
        f"of other splits of the table, by {splits}."
    )
