"""What sweeps and maps of models show, worded once for page and terminal.

Names of groups and columns stand as they are in the table: a page or report that shows a sentence makes them harmless.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...models import METHOD_TITLES, TOLERANCE_METHODS
from ...stats.estimates import Estimate, epsilon_text, percent, points
from ...stats.fairness import METRIC_TITLES
from ...studies.config import AuditConfig
from ...studies.correction.findings import signed
from ...studies.study import Finding, Row
from .landscape import Landscape, MapCell
from .summary import SweepRow


def trained_tolerances(rows: Sequence[SweepRow], config: AuditConfig, *, as_published: bool) -> Finding:
    """Return what the curve over trained tolerances shows, and what is drawn."""
    gains = [row.gain for row in rows if row.gain is not None]
    helps, misleads = sum(gain.low > 0 for gain in gains), sum(gain.high < 0 for gain in gains)
    if len(gains) < 4:
        point = "Sweep over trained tolerances"
    elif helps or misleads:
        point = (
            f"Disclosure helps the attacker significantly at {helps}, misleads at {misleads} of {len(gains)} tolerances"
        )
    else:
        point = "Disclosure has no statistically significant effect at any of these tolerances"
    attribute = config.roles.attribute if config.roles else "attribute"
    holds = "raised until it holds" if as_published else "hollow: it does not hold for the model"
    counted = " Significant: the 95% CI excludes 0; not corrected for the number of tolerances."
    training_note = "" if config.method in TOLERANCE_METHODS else " All are trained by exponentiated gradient."
    effects = ""
    if len(gains) >= 4 and (helps or misleads):
        effects = f" {_before_disclosure(rows)}{counted}"
    return Finding(
        point=point,
        evidence=f"Accuracy at inferring {attribute}. Each point is a model trained for that tolerance, which is "
        f"disclosed; {holds}.{training_note}{effects}",
    )


def _before_disclosure(rows: Sequence[SweepRow]) -> str:
    """Return what the effects of disclosure are counted against: the same attack before it, over all tolerances."""
    values = [row.before.value for row in rows if row.gain is not None]
    least, most = percent(min(values)), percent(max(values))
    reached = least if least == most else f"{least} to {most}"
    return f"Effects are against the same attack before disclosure ({reached})."


def method_rows(rows: Sequence[SweepRow]) -> tuple[Row, ...]:
    """Return methods and metrics with what their models do and reveal."""
    metrics, methods = list(METRIC_TITLES), list(METHOD_TITLES)
    ordered = sorted(rows, key=lambda row: (metrics.index(row.metric), methods.index(row.method)))
    return tuple(
        {
            "Metric": METRIC_TITLES[row.metric],
            "Method": METHOD_TITLES[row.method],
            "Model accuracy": percent(row.model_test.value),
            "Before / after disclosure": _before_after(row),
            "Unfairness": f"{row.unfairness_train.value:.4f}",
            "Gain, points": "" if row.gain is None else signed(row.gain.value, row.gain.low, row.gain.high),
            "Disclosed tolerance holds in": f"{row.n_true} of {len(row.seeds)}",
            "Difference between groups": f"{row.difference_train.value:.4f}",
        }
        for row in ordered
    )


def _before_after(row: SweepRow) -> str:
    if row.after is None or row.before_corrected is None:
        return f"{100 * row.before.value:.1f} → no correction"
    both = f"{100 * row.before_corrected.value:.1f} → {100 * row.after.value:.1f}%"
    return both if row.after.seeds == len(row.seeds) else f"{both} ({row.after.seeds} of {len(row.seeds)} seeds)"


def tension(landscape: Landscape) -> Finding:
    """Return what a map shows of fairness and privacy together, in how many seeds, at what cost."""
    point, cell = _tension_point(landscape)
    controls, n = landscape.controls(), len(landscape.plan.seeds)
    bold = " Bold: statistically significant (95% CI excludes 0; not corrected for the number of cells)." * (n > 1)
    below = _below(landscape)
    holds, cost = "", ""
    if cell is not None:
        at, tolerance = f"At ε = {epsilon_text(cell.epsilon)}", f"tolerance {cell.tolerance:g}"
        holds = f" {at} {tolerance} holds in {cell.n_true} of {cell.n_seeds} seeds."
        noiseless = math.inf in landscape.plan.epsilons and not math.isinf(cell.epsilon)
        without = f"{percent(landscape.cell(cell.tolerance, math.inf).accuracy)} without noise; " if noiseless else ""
        majority = percent(controls["majority_label"])
        cost = f"{at} and {tolerance} model accuracy is {percent(cell.accuracy)} ({without}majority class {majority})."
    unlike = (
        "The map uses private decision trees and splits of its own, so its numbers differ from the headline's. "
        f"Splits: {n}."
    )
    return Finding(
        point=point,
        evidence=f"Accuracy (%) of the published attack at inferring {landscape.attribute} after disclosure. "
        f"Seeds averaged: {n}.{bold} Imputation without the model: {percent(controls['strong'], decimals=1)}. "
        f"Baseline, always “{landscape.majority_name}”: {percent(controls['majority'], decimals=1)}.{below}{holds}",
        caveats=(cost, unlike) if cost else (unlike,),
    )


def _below(landscape: Landscape) -> str:
    """Return that all cells lie below imputation, or below the majority-class baseline, where they do."""
    controls = landscape.controls()
    measured = [cell for cell in landscape.cells if not math.isnan(cell.after.value)]
    if max(cell.after.value for cell in measured) < controls["majority"].value:
        return " Every cell is below the baseline."
    if all(cell.lead.value < 0 for cell in measured):
        return " Every cell is below imputation: what disclosure adds there is no leak of the model."
    return ""


def added(cell: MapCell, imputation: Estimate) -> str:
    """Return what disclosure adds to the published attack in a cell, beside imputation, as the end of a sentence."""
    adds = f"adds {points(cell.gain)} to the published attack ({percent(cell.after, decimals=1)})"
    alone = percent(imputation, decimals=1)
    if cell.lead.high < 0:
        return f"{adds}. That is no leak: imputation without the model reaches {alone}"
    if cell.lead.low > 0:
        return f"{adds}, which is beyond imputation without the model ({alone})"
    return f"{adds}, not significantly different from imputation without the model ({alone})"


def _tension_point(landscape: Landscape) -> tuple[str, MapCell | None]:
    """Return what a map shows of the tension between fairness and privacy, and its cell, if it is about one.

    Of each budget that is the cell of the tightest tolerance that holds in half of the seeds: an untrue one is no
    disclosure.
    """
    if len(landscape.plan.seeds) < 2:
        return "One seed has no intervals: effects of a disclosed tolerance on this attack are not tested", None
    disclosed = [cell for cell in landscape.cells if cell.tolerance is not None and 2 * cell.n_true >= cell.n_seeds]
    cells: dict[float, MapCell] = {}
    for cell in sorted(disclosed, key=lambda cell: (cell.epsilon, cell.tolerance or 0.0)):  # the most noise first
        cells.setdefault(cell.epsilon, cell)
    noiseless, imputation = cells.get(math.inf), landscape.controls()["strong"]
    for epsilon, cell in cells.items():
        if noiseless is None or math.isinf(epsilon):
            break
        if cell.gain.low > 0 and cell.members.high < noiseless.members.low:
            does = "drops to chance" if cell.members.low <= 0.5 else "gets weaker"
            areas = f"AUC {noiseless.members.value:.2f} → {cell.members.value:.2f}"
            return (
                f"At ε = {epsilon_text(epsilon)} membership inference {does} ({areas}); disclosing tolerance "
                f"{cell.tolerance:g} {added(cell, imputation)}"
            ), cell
    helped = [cell for cell in disclosed if cell.gain.low > 0]
    if noiseless in helped and all(math.isinf(cell.epsilon) for cell in helped):
        helps = "Only without noise does disclosing the tolerance help significantly"
        return f"{helps}: tolerance {noiseless.tolerance:g} {added(noiseless, imputation)}", noiseless
    if not helped:
        return "No disclosed tolerance that holds helps this attack significantly on this map", None
    strongest = max(helped, key=lambda cell: cell.gain.value)
    return (
        f"Disclosure helps this attack significantly in {len(helped)} of {len(disclosed)} cells where it holds; "
        f"at most, tolerance {strongest.tolerance:g} at ε = {epsilon_text(strongest.epsilon)} "
        f"{added(strongest, imputation)}"
    ), strongest
