"""What sweeps of models show, worded once for page and terminal.

Names of groups and columns stand as they are in the table: a page or report that shows a sentence makes them harmless.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...models import METHOD_TITLES, TOLERANCE_METHODS
from ...stats.estimates import percent
from ...stats.fairness import METRIC_TITLES
from ...studies.config import AuditConfig
from ...studies.correction.findings import signed
from ...studies.study import Finding, Row
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
