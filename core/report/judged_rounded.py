"""Which verdicts the rounded numbers of a disclosure edition allow.

A printed value lies within half a step of the one that was judged, an interval was rounded outwards by less than a
step (`core.report.numbers`). So every limit is judged twice: as far apart from its number as rounding allows, with the
shortest interval, and as near to it, with the longest. Holm's adjusted p-values grow with every p-value, and so the
verdict that was given on the exact numbers is one of the two. A number that is withheld may have any p-value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from core.estimates import Estimate
from core.policy import CHECKS, CheckVerdict, Status, headline_and_detail
from core.policy.decisions import Claim, decide
from core.policy.headline import overall
from core.report.disclosed_words import WITHHELD, why_of
from core.report.document import Document
from core.report.numbers import decimals_of, estimate_of, number_of
from core.report.rows import check_rows

_DECIDED = (Status.PASS, Status.FAIL, Status.INCONCLUSIVE)
_SIDES = {Status.PASS, Status.FAIL}
_TINY = 1e-12
_WITHHELD = WITHHELD.partition("{")[0]


def withheld_checks(found: Document) -> list[str]:
    """Return the checks that were measured and whose number the edition withholds."""
    return [
        m["check"]
        for m in found["measurements"]
        if m["outcome"] == "done" and m["estimate"] is None and m["reason"].startswith(_WITHHELD)
    ]


def rounded_section(found: Document, judged: Document, failed: Sequence[str]) -> Document:
    """Return the verdict section that a disclosure edition must have.

    Parameters
    ----------
    found : dict
        The edition.
    judged : dict
        The section judged from its rounded numbers as if they were exact: what does not hang on them is taken from it.
    failed : sequence of str
        Attacks for which FairLeak's test of itself failed.

    Returns
    -------
    dict
        With the verdict and interval that are stated where the numbers allow them.
    """
    stated = {row["check"]: row for row in found["verdict"]["checks"]}
    measurements, level = {m["check"]: m for m in found["measurements"]}, number_of(found["policy"]["level"])
    gone, allowed = withheld_checks(found), _allowed(found, level)
    rows = []
    for row in judged["checks"]:
        check, own = row["check"], stated.get(row["check"])
        if own is None:
            rows.append(row)
            continue
        new = {**row, "p_value": None, "p_adjusted": None}
        told = allowed.get(check) or (_DECIDED if check in gone and row["limit"] else (row["verdict"],))
        new["verdict"] = own["verdict"] if own["verdict"] in told else " or ".join(sorted(told))
        new["decided"] = None if check in gone else _decided(own, row, measurements.get(check), level)
        new["blocks"] = bool(row["limit"] and row["limit"]["required"] and new["verdict"] != Status.PASS)
        because = measurements[check]["reason"] if check in gone else ""
        new["why"] = because if because and row["limit"] else why_of(own, measurements.get(check), level, "")
        rows.append(new)
    place = {row["check"]: number for number, row in enumerate(found["verdict"]["checks"])}
    rows.sort(key=lambda row: (_order(row["verdict"]), row["item"] or math.inf, place.get(row["check"], 0)))
    verdicts: list[CheckVerdict] = [row.verdict for row in check_rows(found)]
    headline, detail = headline_and_detail(verdicts, level=level, failed_tests=failed)
    worst = str(overall(verdicts, failed_tests=failed))
    return {"overall": worst, "headline": headline, "detail": detail, "checks": rows}


def _order(verdict: str) -> int:
    shown = tuple(Status)
    return shown.index(Status(verdict)) if verdict in shown else len(shown)


def _allowed(found: Document, level: float) -> dict[str, set[Status]]:
    """Return check -> the verdicts its rounded number allows, for limits with a number."""
    limits = {limit["check"]: number_of(limit["value"]) for limit in found["policy"]["limits"]}
    gone = {check for check in withheld_checks(found) if check in limits}
    far: dict[str, Claim] = {}
    near: dict[str, Claim] = {}
    either: set[str] = set()
    for measurement in found["measurements"]:
        check, estimate = measurement["check"], estimate_of(measurement["estimate"])
        if check not in limits or measurement["outcome"] != "done" or estimate is None or math.isnan(estimate.value):
            continue
        far[check], near[check], on_limit = _ends(check, estimate, limits[check], measurement["freedom"])
        either |= {check} if on_limit else set()
    unknown = {name: _claim(name, limits[name], 1.0, math.nan, level=level, freedom=None) for name in gone}
    first, second = decide(far, level=level), decide({**near, **unknown}, level=level)
    return {
        check: {first[check].verdict, second[check].verdict} | (_SIDES if check in either else set()) for check in far
    }


def _ends(check: str, estimate: Estimate, limit: float, freedom: int | None) -> tuple[Claim, Claim, bool]:
    """Return the claim at its farthest and at its nearest, and whether the value may be on either side of the limit."""
    own = Claim(estimate=estimate, limit=limit, at_least=CHECKS[check].at_least, freedom=freedom)
    step = _step(estimate)
    side = 1.0 if estimate.value > limit else -1.0
    distance = abs(estimate.value - limit)
    on_limit = distance <= step / 2 + _TINY and (own.computed or own.bounded)
    if own.computed or not own.bounded:
        return own, own, on_limit
    towards, away = (estimate.value - estimate.low, estimate.high - estimate.value)[:: 1 if side > 0 else -1]
    least = towards - 1.5 * step
    most = (max(towards, away) if least <= 0 else towards) + step / 2
    most_apart, least_apart = distance + step / 2, max(distance - step / 2, 0.0)
    return (
        _claim(check, limit, side * most_apart, max(least, _TINY), level=estimate.level, freedom=freedom),
        _claim(check, limit, side * least_apart, most, level=estimate.level, freedom=freedom),
        on_limit,
    )


def _claim(check: str, limit: float, distance: float, half: float, *, level: float, freedom: int | None) -> Claim:
    value = limit + distance
    estimate = Estimate(value=value, low=value - half, high=value + half, n=0, level=level)
    return Claim(estimate=estimate, limit=limit, at_least=CHECKS[check].at_least, freedom=freedom)


def _step(estimate: Estimate) -> float:
    """Return the distance of two values as this estimate is printed."""
    if estimate.low == estimate.value == estimate.high or math.isnan(estimate.low):
        return 1e-3
    return float(10.0 ** -decimals_of(estimate.low, estimate.high))


def _decided(own: Document, judged: Document, measurement: Document | None, level: float) -> Any:
    """Return the interval stated where it goes with its verdict and its number, else the one judged."""
    stated, limit = estimate_of(own["decided"]), judged["limit"]
    if stated is None or judged["decided"] is None or limit is None or measurement is None:
        return judged["decided"]
    step, value, number = _step(stated), number_of(limit["value"]), number_of(measurement["estimate"]["value"])
    inside = stated.low <= value <= stated.high
    apart = value - stated.low < step + _TINY or stated.high - value < step + _TINY or not inside
    fits = inside if own["verdict"] == "inconclusive" else apart
    near = abs(stated.value - number) <= max(step, 1e-3)
    levels = [1 - (1 - level) / k for k in range(1, len(CHECKS) + 1)] + [number_of(measurement["estimate"]["level"])]
    known = any(math.isclose(stated.level, one, abs_tol=1e-9) for one in levels)
    same = stated.n == int(measurement["estimate"]["n"] or 0)
    return own["decided"] if fits and near and known and same else judged["decided"]
