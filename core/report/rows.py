"""A document's verdicts put back into the shapes that `core.policy` writes and draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.estimates import Estimate
from core.policy import (
    CheckVerdict,
    Limit,
    Measurement,
    Outcome,
    Policy,
    control_text,
    estimate_text,
    limit_text,
    source_text,
    value_text,
)
from core.report.numbers import estimate_of, number_of

_LONGEST_BRIEF = 64
"""Characters of a source that stand beside a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRow:
    """One check of a report, with everything a reader is shown of it in words.

    Attributes
    ----------
    verdict : CheckVerdict
        With its measurement.
    value, interval : str
        Such as "+7.0 points" and "95%: 6.5 to 7.4"; "no value" and "" where there is none.
    control, limit, source, decided : str
        Empty where there is none.
    """

    verdict: CheckVerdict
    definition: str
    value: str
    interval: str
    control: str
    limit: str
    source: str
    decided: str

    @property
    def found(self) -> Measurement:
        """The measurement; one that was not run where the audit has none."""
        return self.verdict.measurement or Measurement(
            check=self.verdict.check, outcome=Outcome.NOT_RUN, reason="This audit did not try it."
        )

    @property
    def brief(self) -> str:
        """The beginning of the source, cut between words."""
        if len(self.source) <= _LONGEST_BRIEF:
            return self.source
        return f"{self.source[:_LONGEST_BRIEF].rsplit(' ', 1)[0]}…"

    @property
    def p_value(self) -> str:
        """The p-value after Holm's correction in words; empty where there is none."""
        adjusted = self.verdict.p_adjusted
        small = "below 0.001" if adjusted < 0.001 else f"{adjusted:.3f}"
        return "" if adjusted != adjusted else f"p {small} after Holm's correction"

    @property
    def details(self) -> str:
        """The further numbers: "LiRA, AUC: 0.589; LiRA, advantage: 0.042"; counts whole, the rest to three decimals."""
        told = sorted((self.found.details or {}).items())
        return "; ".join(f"{name}: {_number(value)}" for name, value in told)


def _number(value: float) -> str:
    whole = value == round(value) and abs(value) > 1
    return (f"{value:,.0f}" if whole else f"{value:.3f}").replace("-", "−")


def check_rows(document: Mapping[str, Any]) -> tuple[CheckRow, ...]:
    """Return a document's checks in their order."""
    measurements = {m["check"]: measurement_of(m) for m in document["measurements"]}
    return tuple(_check_row(row, measurements.get(row["check"])) for row in document["verdict"]["checks"])


def _check_row(row: Mapping[str, Any], measurement: Measurement | None) -> CheckRow:
    limit = None if row["limit"] is None else _limit(row["limit"])
    verdict = CheckVerdict(
        check=row["check"],
        verdict=row["verdict"],
        limit=limit,
        item=row["item"],
        measurement=measurement,
        decided=estimate_of(row["decided"]),
        p_value=number_of(row["p_value"]),
        p_adjusted=number_of(row["p_adjusted"]),
        why=row["why"],
        blocks=row["blocks"],
        title=row["title"],
    )
    beside = None if limit is None else limit.value
    value, interval = _words(row["check"], measurement.estimate if measurement else None, measurement, beside)
    control = measurement.control if measurement else None
    return CheckRow(
        verdict=verdict,
        definition=row["definition"],
        value=value,
        interval=interval,
        control=_control(row["check"], control),
        limit="" if limit is None else limit_text(row["check"], limit.value),
        source="" if limit is None else source_text(limit),
        decided=", ".join(part for part in _words(row["check"], verdict.decided, measurement, beside)[1:] if part),
    )


def _words(
    check: str, estimate: Estimate | None, measurement: Measurement | None, limit: float | None
) -> tuple[str, str]:
    """Write an estimate; a number that is computed, not estimated, has no interval to miss."""
    if estimate is None or estimate.value != estimate.value:
        return "no value", ""
    if estimate.low == estimate.high:
        computed = measurement is not None and measurement.basis == "declared"
        return value_text(check, estimate.value, limit=limit), "computed" if computed else ""
    return estimate_text(check, estimate, limit=limit)


def _control(check: str, control: Estimate | None) -> str:
    """Write a control, a rate with its interval."""
    from core.wording import interval

    if control is None or control.value != control.value:
        return ""
    told = control_text(check, control)
    wide = control.low < control.high and told.endswith("%")
    return f"{told}, {100 * control.level:.4g}%: {interval(control)}" if wide else told


def measurement_of(found: Mapping[str, Any]) -> Measurement:
    """Return a measurement as it was judged."""
    return Measurement(
        **{
            **found,
            "estimate": estimate_of(found["estimate"]),
            "control": estimate_of(found["control"]),
            "assumptions": tuple(found["assumptions"]),
            "details": {name: number_of(value) for name, value in found["details"].items()},
        }
    )


def _limit(found: Mapping[str, Any]) -> Limit:
    return Limit(**{**found, "value": number_of(found["value"])})


def policy_of(document: Mapping[str, Any]) -> Policy:
    """Return the policy as it was, so that its fingerprint can be computed again."""
    policy = document["policy"]
    limits = tuple(_limit(limit) for limit in policy["limits"])
    return Policy(**{**policy, "level": number_of(policy["level"]), "limits": limits})
