"""Numbers of a model card that somebody has published, typed into a release: every [[number]] is checked as it is read.

What a number can be without its table is checked here: its name, its range, that it is told once. How many people
there are, and what other models are called, `core.decision.release_sources` knows.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.decision.sections import Section
from core.errors import InputError
from core.release.numbers import SIZE_PARTS, STATISTICS, each_number

Interval = tuple[float, float]

_NAMES = (*each_number(STATISTICS), *SIZE_PARTS)


def read_numbers(tables: Sequence[Section], *, models: Sequence[str] = ()) -> dict[tuple[str, str], float | Interval]:
    """Return the typed numbers: (model, statistic) -> value or (low, high), in the file's order.

    Parameters
    ----------
    tables : sequence of Section
        The tables [[number]].
    models : sequence of str
        What the models are called, where that is known before any is trained.

    Raises
    ------
    InputError
        If a name, a model or a value breaks its rule, or a number is told twice.
    """
    found: dict[tuple[str, str], float | Interval] = {}
    for one in tables:
        model, statistic = one.text("model"), one.text("statistic")
        _check_name(one, model, statistic, models)
        value = _value(one, statistic)
        one.end(("model", "statistic", "value", "low", "high"))
        key = model, statistic
        if key in found:
            what = f"{statistic} of {model}" if model else statistic
            first, before = list(found).index(key) + 1, found[key]
            raise InputError(
                f"{one.name}: [{one.title}] must not tell {what} again: number {first} says {_told(before)}, this one "
                f"{_told(value)}."
            )
        found[key] = value
    return found


def _check_name(one: Section, model: str, statistic: str, models: Sequence[str]) -> None:
    if not statistic:
        raise one.error("statistic", "be told", statistic)
    if statistic not in _NAMES:
        raise one.error("statistic", f"be one of {', '.join(_NAMES)}", statistic)
    if statistic in SIZE_PARTS:
        if model:
            raise one.error("model", f"be left out for {statistic}, which belongs to no model", model)
    elif not model:
        raise one.error("model", f"name the model whose {statistic} it is", model)
    elif models and model not in models:
        raise one.error("model", f"be one of {', '.join(models)}", model)


def _value(one: Section, statistic: str) -> float | Interval:
    value, low, high = (one.maybe_number(key) for key in ("value", "low", "high"))
    if value is not None and low is None and high is None:
        return _checked(one, "value", statistic, value)
    if value is None and low is not None and high is not None:
        if statistic in SIZE_PARTS:
            raise one.error("low", f"be left out for {statistic}, which is a whole number and told as value", low)
        if low > high:
            raise one.error("low", f"be at most high ({high:g})", low)
        return _checked(one, "low", statistic, low), _checked(one, "high", statistic, high)
    raise InputError(f"{one.name}: [{one.title}] must have either value, or low and high.")


def _checked(one: Section, key: str, statistic: str, value: float) -> float:
    """Return a value that its statistic can have."""
    if statistic in SIZE_PARTS:
        if value < 0 or value != round(value):
            raise one.error(key, "be a whole number of people", int(value) if value == round(value) else value)
        return value
    least = -1.0 if statistic.endswith("_gap") else 0.0
    if not least <= value <= 1.0:
        raise one.error(key, f"be in [{least:g}, 1], as {statistic} is", value)
    return value


def _told(value: float | Interval) -> str:
    return f"{value[0]:.12g} to {value[1]:.12g}" if isinstance(value, tuple) else f"{value:.12g}"
