"""A release policy: the checks it may limit, its limits, its file, FairLeak's own ones, how values are written.

A check is what an attack gains, or what the model does, as one number.

A file gives `schema = 1`, then the policy's name, version, author, date and rationale, and, if it is not 0.95, the
level. A table [[limit]] for each limit follows; required, if_not_run and source may be left out, and a limit without a
source has none, as every table says. `core/auditing/policy/default.toml` is an example. Values are written in the unit
of their check, with a true minus.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Annotated, Any, NamedTuple

from ...base.errors import FORMAT, InputError
from ...base.serialize import Result
from ...base.settings import Param, broken, params, validate, values_of
from ...base.settings_text import Tables, naming, parsed, read_table, toml_text
from ...stats.estimates import (
    MOST_TESTED,
    STRICTEST,
    Estimate,
    decimals_beside,
    ends_text,
    level_text,
    number_text,
    percent,
)
from ...studies.registry import STUDIES
from ...studies.study import Check

_ORDER = (
    "attribute_excess",
    "attribute_balanced",
    "attribute_bits",
    "correction_gain",
    "answers_excess",
    "targeted_leakage",
    "membership_caught",
    "membership_auc",
    "membership_advantage",
    "membership_gap",
    "absence",
    "unfairness",
    "four_fifths",
    "attriguard_exposure",
    "attriguard_cost",
    "two_models_gain",
)
"""Of a policy; checks of other studies come after these."""


class _Checks(Mapping[str, Check]):
    """Name -> Check, in the order of a policy: what the studies declare, whichever there are."""

    def __getitem__(self, name: str) -> Check:
        for check in _declared():
            if check.name == name:
                return check
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        names = [check.name for check in _declared()]
        return iter(
            [name for name in _ORDER if name in names]
            + [name for name in names if name not in _ORDER]
        )

    def __len__(self) -> int:
        return sum(1 for _ in _declared())


def _declared() -> Iterator[Check]:
    for study in STUDIES.values():
        yield from study.declared


CHECKS = _Checks()
"""Name -> Check, in the order of a policy."""

assert len(CHECKS) <= MOST_TESTED, (
    "raise MOST_TESTED in core/stats/estimates.py; intervals get wider by it"
)


def check_title(check: str, attribute: str) -> str:
    """Return a check's title for this attribute, its first letter large."""
    title = CHECKS[check].title.format(attribute=attribute)
    return title[:1].upper() + title[1:]


class Unit(NamedTuple):
    """How values of checks, which are kept as shares, are limited, written and drawn.

    They lie between `least` and `most`; `factor` makes what is written of a share, with so many `decimals`, a limit
    with `of_limit` at least. `first` is where a new limit starts.
    """

    axis: str
    rule: str
    least: float
    most: float
    first: float
    factor: float = 1.0
    decimals: int = 3
    of_limit: int = 1


UNITS = {
    "points": Unit(
        "Points", "a share from −1 to 1, such as 0.05 for 5 points", -1.0, 1.0, 0.05, 100.0, 1
    ),
    "percent": Unit(
        "Percent", "a share from 0 to 1, such as 0.05 for 5%", 0.0, 1.0, 0.75, 100.0, 1, 0
    ),
    "gap": Unit("Difference", "a number from 0 to 1", 0.0, 1.0, 0.05, of_limit=2),
    "ratio": Unit("Ratio", "a number from 0 to 1", 0.0, 1.0, 0.8),
    "bits": Unit(
        "Bits a person", "a number of bits a person from −10 to 10", -10.0, 10.0, 0.05, of_limit=2
    ),
    "columns": Unit(
        "Columns", "a number from 0 to below 1e9", 0.0, math.inf, 3.0, decimals=1, of_limit=0
    ),
}
"""Unit of a check -> how it is written."""

_MOST_VALUE = 1e9
"""What every value is below."""

Author = Annotated[str, Param("Author", "Who set it.", most=200, form="line", written=True)]
Date = Annotated[str, Param("Date", "When, written YYYY-MM-DD.", form="day", written=True)]
Rationale = Annotated[
    str, Param("Rationale", "Why it is as it is.", most=10_000, form="prose", written=True)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit(Result):
    """One limit; where `source` is empty there is none, and that is shown.

    Whatever `if_not_run` says, a required check that was begun and broke always blocks.
    """

    check: Annotated[str, Param("Check", "What is limited: {options}.", options=CHECKS)]
    value: Annotated[
        float,
        Param(
            "Limit",
            "Largest value still allowed, or least where the check says so; as a share: 0.05 is 5 points.",
        ),
    ]
    required: Annotated[
        bool,
        Param(
            "Required",
            "Whether a release needs this check to pass; otherwise it is shown and does not block.",
        ),
    ] = True
    if_not_run: Annotated[
        str,
        Param(
            "If not run",
            'Whether a required check that cannot be run on what is at hand "blocks" a release or is "allowed" to.',
            options={"blocks": "Blocks the release", "allowed": "Is allowed"},
            written=False,
        ),
    ] = "blocks"
    author: Author = ""
    date: Date = ""
    rationale: Rationale = ""
    source: Annotated[
        str,
        Param(
            "Source",
            "Law, standard, paper or internal document it follows.",
            most=2_000,
            form="prose",
            written=True,
        ),
    ] = ""

    def __post_init__(self) -> None:
        if in_range(
            self.value, self.check
        ):  # a whole number has the fingerprint that a file gives it
            object.__setattr__(self, "value", float(self.value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Result):
    """What a release must keep to: one limit a check at most, in the order of the file.

    `author` answers for the policy since `date`; `rationale` says what it is for, and why it leaves out the checks it
    does not ask for. `level` is the confidence of the decisions together: with Holm's correction, the chance of any
    wrong pass or fail is at most 1 - level, for values exactly at their limit. It is at most `STRICTEST`, for intervals
    of the strongest of several attacks hold no further. What is not proved: see
    `core.auditing.policy.decisions`.
    """

    name: Annotated[
        str, Param("Name", "What the policy is called.", most=200, form="line", written=True)
    ]
    version: Annotated[
        str, Param("Version", "Which of its versions.", most=200, form="line", written=True)
    ]
    author: Author = ""
    date: Date = ""
    rationale: Rationale = ""
    level: Annotated[
        float,
        Param("Level", "Confidence of all its decisions together.", least=0.5, most=STRICTEST),
    ] = 0.95
    limits: tuple[Limit, ...] = ()
    schema: Annotated[
        int, Param("Schema", "Version of this format.", least=FORMAT, most=FORMAT)
    ] = FORMAT


POLICY_TABLES: Tables = {
    "": {"schema": params(Policy)["schema"]} | params(Policy),
    "[limit]": params(Limit),
}
"""The tables of a policy's file."""


def check_policy(policy: Policy) -> None:
    """Raise `InputError` with one sentence if a policy cannot be judged by, read from a file or built in Python.

    Author, date, rationale and source may be empty here; what a file must give is up to `read_policy`.
    """
    validate(policy)
    limits = policy.limits
    seen = dict[str, int]()
    for item, limit in enumerate(limits, start=1):
        title = _limit_title(item, limit.check)
        validate(limit, but=("value",), key=f"{{}} of {title}")
        _check_value(limit.value, limit.check, title)
    if not limits:
        raise InputError("A policy must set at least one limit, got none.")
    for item, limit in enumerate(limits, start=1):
        if limit.check in seen:
            both = f"{seen[limit.check]} and {item}"
            raise InputError(
                f"A check must have one limit at most, got limits {both} to {limit.check}."
            )
        seen[limit.check] = item
    if not any(limit.required for limit in limits):
        raise InputError(
            "A policy must require at least one of its limits, got none that is required."
        )


def in_range(value: object, check: str) -> bool:
    """Return whether a value is a finite number that the check can take."""
    if check not in CHECKS or isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    unit = UNITS[CHECKS[check].unit]
    return (
        unit.least <= value <= unit.most and abs(value) < _MOST_VALUE
    )  # also leaves out nan and inf


def cut_to_range(estimate: Estimate, limit: Limit) -> Estimate:
    """Estimate whose interval has no values that the check cannot take: one that a policy widens may leave them.

    A limit outside of them, such as one below 0 of a size, stays on its side of the interval.
    """
    unit = UNITS[CHECKS[limit.check].unit]
    least = unit.least
    if CHECKS[limit.check].folded:
        least = min(0.0, limit.value)
    return replace(estimate, low=max(estimate.low, least), high=min(estimate.high, unit.most))


def _check_value(value: object, check: str, title: str) -> None:
    if not in_range(value, check):
        raise broken(f"value of {title}", f"be {UNITS[CHECKS[check].unit].rule}", value)


def _limit_title(item: int, check: object) -> str:
    """Return how messages name a limit."""
    if isinstance(check, str) and check in CHECKS:
        return f"limit {item} ({check})"
    return f"limit {item}"


def read_policy(text: str | bytes, *, name: str) -> Policy:
    """Return the policy a file holds; bytes are read as UTF-8, messages begin with the file's name.

    InputError if the file breaks a rule of the format. A policy and each of its limits must say by whom, when and why;
    only the source may be left out.
    """
    content = parsed(text, name=name)
    with naming(name):
        if "schema" not in content:
            raise InputError(f"schema must be given, as in schema = {FORMAT}.")
        values = read_table(content, POLICY_TABLES[""], table="the policy", extra_keys=("limit",))
        _complete(values, ("name", "version", "author", "date", "rationale"))
        rows = content.get("limit", [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise broken("limit", "be tables that each begin with [[limit]]", rows)
        policy = Policy(
            **values, limits=tuple(_limit(row, item) for item, row in enumerate(rows, start=1))
        )
        check_policy(policy)
    return policy


def _limit(row: Mapping[str, Any], item: int) -> Limit:
    check = row.get("check")
    title = _limit_title(item, check)
    key = f"{{}} of {title}"
    if "value" in row and isinstance(check, str) and check in CHECKS:
        _check_value(row["value"], check, title)
    values = read_table(row, POLICY_TABLES["[limit]"], table=title, key=key)
    _complete(values, ("check", "value", "author", "date", "rationale"), key)
    return Limit(**values)


def _complete(values: Mapping[str, Any], needed: tuple[str, ...], key: str = "{}") -> None:
    for name in needed:
        if not str(values.get(name, "")).strip():
            raise InputError(f"{key.replace('{}', name)} must be given.")


def policy_text(policy: Policy) -> str:
    """Return a policy as a file that `read_policy` reads back equal.

    A policy built in Python may leave author, date or rationale empty; it is written all the same, and `read_policy`
    then asks for them.
    """
    check_policy(policy)
    limits = (("[limit]", values_of(limit)) for limit in policy.limits)
    return toml_text(POLICY_TABLES, [("", values_of(policy)), *limits])


def default_policy() -> Policy:
    """Return the policy of a plan that names none."""
    return _shipped("default.toml")


def predictions_policy() -> Policy:
    """Return the policy for given predictions: it asks only for what predicted labels can show."""
    return _shipped("predictions.toml")


def _shipped(name: str) -> Policy:
    return read_policy(files(__package__).joinpath(name).read_bytes(), name=name)


VERDICT_TITLES = {
    "fail": "Fail",
    "inconclusive": "Inconclusive",
    "not_run": "Not run",
    "pass": "Pass",
    "not_attacked": "Not attacked",
    "not_asked": "Not covered",
}
"""Verdict -> the word that stands beside its icon; "not_attacked" is a pass because nothing is released."""


def verdict_counts(counts: Mapping[str, int]) -> str:
    """Numbers of checks by verdict, the worst first, as "Fail 1 · Pass 6"."""
    return " · ".join(
        f"{title} {counts[verdict]}"
        for verdict, title in VERDICT_TITLES.items()
        if verdict in counts
    )


NO_SOURCE = "no source given"
"""What stands where a limit's source is empty."""

_MOST = 6


def value_text(check: str, value: float, *, limit: float | None = None) -> str:
    """Write a check's value: "+7.0 points", "82.9%", "0.131", "2.9 columns"; nan as "n/a".

    Beside a limit it has as many decimals as tell it from the limit.
    """
    unit = CHECKS[check].unit
    if math.isnan(value):
        return "n/a"
    places = _places(unit, (value,), limit, UNITS[unit].decimals)
    return _with_unit(_number(unit, value, places, signed=unit == "points"), unit)


def chance_text(check: str) -> str:
    """Write what a check's value is where nothing leaks, or groups are treated alike."""
    return value_text(check, CHECKS[check].chance)


def estimate_text(check: str, estimate: Estimate, *, limit: float | None = None) -> tuple[str, str]:
    """Write an estimate as value and interval: ("+7.0 points", "95%: +6.5 to +7.4").

    The interval is "no interval" where there is none, and empty where there is no value either. A percentage loses its
    decimal when the interval is wide. Beside a limit there are as many decimals as tell value and ends from it.
    """
    unit = CHECKS[check].unit
    if math.isnan(estimate.value):
        return "n/a", ""
    if unit == "percent" and "." not in percent(estimate):
        least = 0
    else:
        least = UNITS[unit].decimals
    exact = estimate.low == estimate.high or math.isnan(estimate.low) or math.isnan(estimate.high)
    ends = (estimate.low, estimate.high)
    places = _places(unit, (estimate.value, *ends), limit, least)
    value = _with_unit(_number(unit, estimate.value, places, signed=unit == "points"), unit)
    if exact:
        return value, "no interval"
    percent_sign = "%" if unit == "percent" else ""
    return value, f"{level_text(estimate.level)}: {_ends(unit, ends, places)}{percent_sign}"


def control_text(check: str, control: Estimate) -> str:
    """Write a control's value: a rate, where the check is a rate or a difference of rates, else a bare number."""
    if UNITS[CHECKS[check].unit].factor > 1.0:
        return percent(control)
    return number_text(control.value, ".3f")


def range_text(check: str, estimate: Estimate, limit: float) -> str:
    """Write an interval as "+6.5 to +7.4 points", with as many decimals as tell its ends from a limit."""
    unit = CHECKS[check].unit
    ends = (estimate.low, estimate.high)
    places = _places(unit, ends, limit, UNITS[unit].decimals)
    return _with_unit(_ends(unit, ends, places), unit)


def limit_text(check: str, value: float) -> str:
    """Write a limit as "at most 5.0 points" or "at least 0.8", with all the decimals it has, six at most."""
    side = "at least" if CHECKS[check].at_least else "at most"
    return f"{side} {_with_unit(_limit_digits(check, value), CHECKS[check].unit)}"


def limit_number(check: str, value: float) -> str:
    """Write a limit's number as "5.0" or "75%", where its unit stands beside it."""
    percent_sign = "%" if CHECKS[check].unit == "percent" else ""
    return f"{_limit_digits(check, value)}{percent_sign}"


def _limit_digits(check: str, value: float) -> str:
    unit = CHECKS[check].unit
    integer, _, rest = _number(unit, value, _MOST).partition(".")
    rest = rest.rstrip("0").ljust(UNITS[unit].of_limit, "0")
    return f"{integer}.{rest}" if rest else integer


def source_text(limit: Limit) -> str:
    """Write a limit's source, or that there is none."""
    return limit.source.strip() or NO_SOURCE


def is_placeholder(limit: Limit) -> bool:
    """Return whether a limit is a starting value of FairLeak's, without a source."""
    return not limit.source.strip() and limit.author.startswith("FairLeak")


def placeholders_text(policy: Policy) -> str:
    """Return how many limits are FairLeak's starting values, and what to do; empty where none is."""
    count = sum(map(is_placeholder, policy.limits))
    if not count:
        return ""
    return (
        f"FairLeak placeholders: {count} of {len(policy.limits)} limits. "
        "Set your own limits, with a source, before you sign."
    )


def _places(unit: str, values: Sequence[float], limit: float | None, least: int) -> int:
    """Return the decimals to write values with, beside a limit if there is one."""
    if limit is None:
        return least
    factor = UNITS[unit].factor
    return decimals_beside([factor * value for value in values], factor * limit, least)


def _number(unit: str, value: float, places: int, *, signed: bool = False) -> str:
    sign = "+" if signed else ""
    return number_text(UNITS[unit].factor * value, f"{sign}.{places}f")


def _ends(unit: str, ends: tuple[float, float], places: int) -> str:
    sign = "+" if unit == "points" else ""
    low, high = (UNITS[unit].factor * end for end in ends)
    return ends_text(low, high, f"{sign}.{places}f")


def _with_unit(text: str, unit: str) -> str:
    if unit == "percent":
        return f"{text}%"
    if unit == "columns":
        if text == "1":
            return f"{text} column"
        return f"{text} columns"
    if unit in ("points", "bits"):
        return f"{text} {unit}"
    return text
