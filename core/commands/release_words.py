"""What ``python -m core release`` prints, and what it writes as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from core.commands.text_tables import aligned, estimate_words
from core.decision.release_plan import ReleasePlan
from core.estimates import Estimate
from core.release import (
    DISTANCE_MEDIAN,
    DISTANCE_WORST,
    DRAWS,
    STATISTIC_TITLES,
    Advice,
    ReleasedPeople,
    ReleaseSettings,
    ReleaseStudy,
)
from core.results import plain

__all__ = ["everything", "told"]

_SETS = {"test": "test records", "train": "training records"}


def told(plan: ReleasePlan, people: ReleasedPeople, study: ReleaseStudy, advice: Advice | None) -> Iterator[str]:
    """Yield the lines, tables included."""
    yield from _head(plan, people, study)
    yield ""
    yield _bits_table(study)
    yield ""
    yield _named_table(study)
    yield ""
    yield from _pinned_lines(study)
    if advice is not None:
        yield ""
        yield _advice_table(advice)
        yield _advice_line(advice)


def _head(plan: ReleasePlan, people: ReleasedPeople, study: ReleaseStudy) -> Iterator[str]:
    settings = study.settings
    names = _published(plan, settings)
    models = "1 model" if study.n_models == 1 else f"{study.n_models} models"
    yield f"{study.n:,} people of {study.title} ({_SETS[plan.on]}); {study.attribute}: {study.group}, {study.other}"
    yield f"{models} ({plan.models}), {study.n_numbers:,} numbers, {_precision(settings, plan)}: {', '.join(names)}"
    yield (
        f"Posterior: information projection, {100 * DISTANCE_MEDIAN:.0f} points from the exact one in the median "
        f"release about 6 to 12 people, {100 * DISTANCE_WORST:.0f} in the worst"
    )
    if settings.epsilon is not None and not plan.numbers:
        yield f"Noise drawn with seed {settings.seed}, and anybody can draw it again: not numbers to publish"
    if study.status != "converged":
        yield f"Not to be relied on: {study.reason}"


def _published(plan: ReleasePlan, settings: ReleaseSettings) -> list[str]:
    titles = STATISTIC_TITLES | {"size": "Group sizes"}
    if plan.numbers:
        known = {title.lower() for start, title in titles.items() for _, name in plan.numbers if name.startswith(start)}
        return [title.lower() for title in titles.values() if title.lower() in known]
    return [titles[name].lower() for name in (*settings.statistics, *["size"] * settings.sizes)]


def _precision(settings: ReleaseSettings, plan: ReleasePlan) -> str:
    typed = "typed, " if plan.numbers else ""
    if settings.epsilon is not None:
        return f"{typed}with noise of epsilon {settings.epsilon:g}"
    return f"{typed}exact" if settings.decimals is None else f"{typed}{settings.decimals} decimals"


def _bits_table(study: ReleaseStudy) -> str:
    meter, bits = study.meter, study.measured.bits
    rows = [
        ["measured beyond the features", _span(bits)],
        ["predicted by the meter", f"{meter.df_bits:.1f}"],
        ["person by person", f"{meter.person_bits:.1f}"],
        ["about everybody together", f"{meter.joint_bits:.1f}"],
        ["there was to know", f"{meter.prior_bits:.1f}"],
        ["share of it (from 1: as a rule all determined)", f"{meter.share:.3f}"],
    ]
    return aligned(["Bits", "value"], rows)


def _span(bits: Estimate) -> str:
    return f"{bits.value:.1f} [{bits.low:.1f}, {bits.high:.1f}]"


def _named_table(study: ReleaseStudy) -> str:
    found = study.measured
    rows = [
        ["of all", *map(estimate_words, (found.accuracy_before, found.accuracy_after))],
        ["balanced", *map(estimate_words, (found.balanced_before, found.balanced_after))],
    ]
    for row, gain, majority in zip(
        rows,
        (found.accuracy_gain, found.balanced_gain),
        (found.majority, found.majority_balanced),
        strict=True,
    ):
        row += [estimate_words(gain, signed=True), estimate_words(majority)]
    return aligned(["Named rightly, %", "before", "after", "gain", "majority guess"], rows)


def _pinned_lines(study: ReleaseStudy) -> Iterator[str]:
    found = study.pinned
    if study.status == "infeasible":
        yield "Pinned down: not known, because no posterior agrees with the numbers"
        return
    rule = "unsure before (5 to 95%), settled after (beyond 99.5%)"
    if not found.count:
        yield f"Pinned down: nobody of {found.n_unsure:,} people the attacker was unsure about; {rule}"
        return
    right = "" if found.right is None else f", {round(found.right.value * found.count):,} of them rightly"
    yield f"Pinned down: {found.count:,} of {found.n_unsure:,} people the attacker was unsure about{right}; {rule}"
    cells = study.in_common
    rest = "" if math.isnan(cells.median_cell_rest) else f", anybody else with {cells.median_cell_rest - 1:,.0f}"
    yield (
        f"In common: the median pinned person shares label and all predictions with {cells.median_cell - 1:,.0f} "
        f"others{rest}"
    )
    if cells.values:
        rows = [
            [f"{value.column}: {value.value}", estimate_words(value.among_pinned), estimate_words(value.among_rest)]
            for value in cells.values
        ]
        yield aligned(["In common, %", "pinned", "the rest"], rows)


def _advice_table(advice: Advice) -> str:
    rows = [
        [_tried(row.decimals, row.epsilon), f"{row.pinned:,}" if row.known else "not known", f"{row.df_bits:.1f}"]
        for row in advice.tried
    ]
    return aligned(["Precision", "pinned", "bits predicted"], rows)


def _tried(decimals: int | None, epsilon: float | None) -> str:
    if epsilon is not None:
        return f"epsilon {epsilon:g}"
    return "exact" if decimals is None else f"{decimals} decimal{'' if decimals == 1 else 's'}"


def _advice_line(advice: Advice) -> str:
    if advice.exact:
        return "Advice: even exact numbers pin nobody down here"
    ways = [
        *([f"at most {_tried(advice.decimals, None)}"] if advice.decimals is not None else []),
        *(
            [f"noise of epsilon {advice.epsilon:g} or less (nobody in {DRAWS} draws)"]
            if advice.epsilon is not None
            else []
        ),
    ]
    if not ways:
        return "Advice: no precision tried pins nobody down; publish fewer models"
    return f"Advice: {', or '.join(ways)}, pins nobody down, for these people and these models"


def everything(plan: ReleasePlan, people: ReleasedPeople, study: ReleaseStudy, advice: Advice | None) -> dict[str, Any]:
    """Return the content of the JSON file; people are told by their row numbers in the table's used records."""
    found = study.pinned
    return {
        "title": plan.title or study.title,
        "attribute": study.attribute,
        "groups": [study.group, study.other],
        "people": study.n,
        "on": plan.on,
        "family": plan.models,
        "models": list(people.names[: study.n_models]),
        "settings": plain(study.settings),
        "status": study.status,
        "reason": study.reason,
        "meter": plain(study.meter) | {"share": study.meter.share},
        "measured": plain(study.measured),
        "pinned": {
            "count": found.count,
            "unsure before": found.n_unsure,
            "right": plain(found.right),
            "rows": people.rows[found.people].tolist(),
            "before": found.before.tolist(),
            "after": found.after.tolist(),
            "said": found.said.tolist(),
        },
        "in common": plain(study.in_common),
        "advice": None if advice is None else plain(advice),
        "published": [plain(number) for number in study.published.numbers],
        "distance of the projection": {"median": DISTANCE_MEDIAN, "worst": DISTANCE_WORST},
    }
