"""The sentences about the map: what it shows with its number, and no more than its seeds support."""

from __future__ import annotations

import math

from core.landscape import Landscape, MapCell
from core.wording import epsilon_text, percent, points
from pages.common.shell import escape

__all__ = ["HOW_TO_READ", "finding", "quantity"]

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
    "The colour starts at the control, naming the larger group for everybody, and is full at the strong attacker, who "
    "is told nothing, or at the highest cell if that is higher. A pale cell does not mean that little leaks: the "
    "strong attacker gets her share without any promise.\n\n"
    "Membership: somebody holds the released tree and takes those for members whose own label it scores highest. LiRA, "
    "on the page Membership, is stronger. The noise bounds every such attack, and is not meant against the other one."
)


def finding(found: Landscape) -> tuple[str, str]:
    """Return what a map shows of the tension between both promises, and what it costs the model."""
    tight = min(t for t in found.plan.tolerances if t is not None)
    cells = {epsilon: found.cell(tight, epsilon) for epsilon in sorted(found.plan.epsilons)}
    noiseless = cells.get(math.inf)
    for epsilon, cell in cells.items():  # the most noise first
        if noiseless is None or math.isinf(epsilon):
            break
        if cell.gain.low > 0 and cell.members.high < noiseless.members.low:
            return (
                f"Noise at ε = {epsilon_text(epsilon)} {_effect(cell)} this attack on membership (AUC "
                f"{noiseless.members.value:.2f} to {cell.members.value:.2f}), but not the correction: still "
                f"{points(cell.gain)} at tolerance {tight:g}",
                f" The model is right for {percent(cell.accuracy)} there, {percent(noiseless.accuracy)} without noise.",
            )
    if noiseless is not None and noiseless.gain.low > 0:
        return f"Only without noise does the tightest promise add something measurable: {points(noiseless.gain)}", ""
    return _most(found), ""


def _most(found: Landscape) -> str:
    promised = [cell for cell in found.cells if cell.tolerance is not None]
    added = [cell for cell in promised if cell.gain.low > 0]
    if not added:
        return "No promise on this map adds anything measurable to this attacker's guesses"
    most = max(added, key=lambda cell: cell.gain.value)
    return f"A promise adds something measurable in {len(added)} of {len(promised)} cells, at most {points(most.gain)}"


def _effect(cell: MapCell) -> str:
    return "stops" if cell.members.low <= 0.5 else "weakens"


def quantity(found: Landscape) -> str:
    """Return what is drawn, over what, and what the control is."""
    name, seeds = escape(found.attribute), len(found.plan.seeds)
    controls = found.controls()
    over = f"means of {seeds} seeds, bold where told from noise" if seeds > 1 else "one seed"
    below = ""
    if max(cell.after.value for cell in found.cells if not math.isnan(cell.after.value)) < controls["majority"].value:
        below = " Every cell is below the control."
    return (
        f"{name[:1].upper()}{name[1:]} recovered by the paper's attacker, in %: {over}. Control: "
        f"“{escape(found.majority_name)}” for all, {percent(controls['majority'])}.{below}"
    )
