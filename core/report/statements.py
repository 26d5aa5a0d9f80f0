"""The fairness numbers of an edition, read as linear statements about who is in which group.

Everything a group's printed size and rate say depends on a record only through its label and the model's prediction:
four patterns, numbered prediction + 2 · label, as in the soft correction. With two groups the sizes and rates on all
rows, on label 1 and on label 0 are at most four independent statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.estimates import Estimate, proportion
from core.projection import Constraints
from core.report.canonical import strict
from core.report.numbers import decimals_of, number_of, printed

PARTS = {"test_rate": None, "test_tpr": 1, "test_fpr": 0}
"""Rate in a group's summary -> label of the rows it is about, None for all."""

_METRIC_OF = {"test_rate": "statistical_parity", "test_tpr": "equal_opportunity", "test_fpr": "predictive_equality"}

_MOST_TRIED = 50
"""Numbers of accepted people tried against unfairness and ratio; where more are left, these are hardly finer."""

Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The number of people of one group in some patterns lies between `low` and `high`.

    Attributes
    ----------
    patterns : tuple of 4 int, 0 or 1
        Which patterns (prediction + 2 · label) are counted.
    """

    group: int
    patterns: tuple[int, int, int, int]
    low: int
    high: int

    @property
    def exact(self) -> bool:
        """Whether it gives a whole number."""
        return self.low == self.high


def statements_of(
    document: Mapping[str, Any],
    predictions: Bits,
    labels: Bits,
    group_names: Sequence[str],
    *,
    exact: bool = False,
) -> tuple[Statement, ...]:
    """Return what the groups' summaries state about people with these predictions and labels.

    Parameters
    ----------
    predictions, labels : ndarray of shape (n,), 0 or 1
    exact : bool
        Whether its rates have every digit, so that each gives a whole number; otherwise they are read as rounded.

    Raises
    ------
    InputError
        If the document names a group the people do not have, or counts more of them than there are.
    """
    names = [strict(name) for name in group_names]
    found: list[Statement] = []
    for part, label in PARTS.items():
        rows = np.ones(len(labels), dtype=bool) if label is None else labels == label
        accepted = int(np.count_nonzero(predictions[rows]))
        sizes: dict[int, int] = {}
        hits: dict[int, range] = {}
        for summary in document["groups"]:
            if summary["group"] not in names:
                raise InputError(f"The document's groups must be those of the people, got {summary['group']!r}.")
            rate = summary[part]
            if rate is None or rate["value"] is None:
                continue
            group = names.index(summary["group"])
            sizes[group] = _size(rate, int(rows.sum()))
            hits[group] = _counted(rate) if exact else _possible(rate)
        if not exact:
            hits = _linked(document, part, sizes, hits, accepted, len(names), int(rows.sum()))
        found += _stated(label, sizes, hits)
    return tuple(found)


def _size(rate: Mapping[str, Any], n: int) -> int:
    size = int(rate["n"])
    if size > n:
        raise InputError(f"A group must not have more than the {n:,} people attacked, got {size:,}.")
    return size


def _counted(rate: Mapping[str, Any]) -> range:
    """Return the number of accepted people of a rate with every digit."""
    hits = round(number_of(rate["value"]) * int(rate["n"]))
    return range(hits, hits + 1)


def _possible(rate: Mapping[str, Any]) -> range:
    """Return the numbers of accepted people for which the rate and its interval would be printed as they are."""
    n, value = int(rate["n"]), number_of(rate["value"])
    half = 0.5 * 10.0 ** -decimals_of(number_of(rate["low"]), number_of(rate["high"]))
    low, high = max(0, int(np.ceil((value - half) * n - 1e-9))), min(n, int(np.floor((value + half) * n + 1e-9)))
    wide = range(low, high + 1)
    told = [k for k in wide if _printed_alike(proportion(k, n, level=number_of(rate["level"])), rate)]
    return range(told[0], told[-1] + 1) if told else wide


def _printed_alike(estimate: Estimate, rate: Mapping[str, Any]) -> bool:
    return printed(estimate.value, estimate.low, estimate.high) == tuple(
        number_of(rate[name]) for name in ("value", "low", "high")
    )


def _linked(
    document: Mapping[str, Any],
    part: str,
    sizes: dict[int, int],
    hits: dict[int, range],
    accepted: int,
    k: int,
    n: int,
) -> dict[int, range]:
    """Use that, of two groups, what one does not have the other has, and the numbers that compare them."""
    if k != 2 or not hits:
        return hits
    for group in (0, 1):
        other = hits.get(1 - group)
        if other is not None and sizes.get(group, n - sizes[1 - group]) == n - sizes[1 - group]:
            own = hits.get(group, range(0, accepted + 1))
            hits[group] = range(max(own.start, accepted - other.stop + 1), min(own.stop, accepted - other.start + 1))
            sizes[group] = n - sizes[1 - group]
    if set(hits) == {0, 1} and len(hits[1]) <= _MOST_TRIED:
        kept = [h for h in hits[1] if _fits_others(document, part, h, sizes, accepted, n)]
        if kept:
            hits[1] = range(kept[0], kept[-1] + 1)
            hits[0] = range(accepted - kept[-1], accepted - kept[0] + 1)
    return hits


def _fits_others(
    document: Mapping[str, Any], part: str, hits: int, sizes: dict[int, int], accepted: int, n: int
) -> bool:
    """Whether this many accepted people of group 1 would give the unfairness and the ratio that are printed."""
    from core.fairness import unfairness

    gap, ratio = _gap(document, part), _ratio(document, part)
    if gap is not None:
        sensitive, predictions = np.zeros(n, dtype=np.uint8), np.zeros(n, dtype=np.uint8)
        sensitive[: sizes[1]] = 1
        predictions[:hits] = 1
        predictions[sizes[1] : sizes[1] + accepted - hits] = 1
        if not _near(unfairness(predictions, sensitive, metric="statistical_parity"), gap):
            return False
    if ratio is not None and min(sizes.values()) > 0 and accepted:
        rates = (hits / sizes[1], (accepted - hits) / sizes[0])
        return _near(min(rates) / max(rates), ratio)
    return True


def _gap(document: Mapping[str, Any], part: str) -> Mapping[str, Any] | None:
    """Return the printed unfairness where it is about these rows alone: there every metric is statistical parity."""
    gap = document["model"]["unfairness_test"]
    about = document["model"]["metric"] == _METRIC_OF[part]
    return gap if about and gap is not None and gap["value"] is not None else None


def _ratio(document: Mapping[str, Any], part: str) -> Mapping[str, Any] | None:
    """Return the printed ratio of acceptance, which is about everybody."""
    found = (m["estimate"] for m in document["measurements"] if m["check"] == "four_fifths" and part == "test_rate")
    ratio = next(found, None)
    return None if ratio is None or ratio["value"] is None else ratio


def _near(value: float, printed_: Mapping[str, Any]) -> bool:
    """Whether a number would be printed as this one."""
    low, high = number_of(printed_["low"]), number_of(printed_["high"])
    half = 0.5 * 10.0 ** -decimals_of(low, high)
    return abs(value - number_of(printed_["value"])) <= half + 1e-9


def numbers_of(document: Mapping[str, Any]) -> int:
    """Return how many fairness numbers about the test people are printed: sizes, rates, unfairness, ratio."""
    rates = [summary[part] for summary in document["groups"] for part in PARTS]
    told = [_gap(document, part) for part in PARTS] + [_ratio(document, "test_rate")]
    return 2 * sum(rate is not None and rate["value"] is not None for rate in rates) + sum(x is not None for x in told)


def _stated(label: int | None, sizes: dict[int, int], hits: dict[int, range]) -> list[Statement]:
    """Return a size and a number of accepted people as statements."""
    inside = [label in (None, pattern >> 1) for pattern in range(4)]
    everybody = tuple(int(i) for i in inside)
    accepted = tuple(int(i and pattern & 1) for pattern, i in enumerate(inside))
    found = []
    for group, size in sizes.items():
        found.append(Statement(group=group, patterns=everybody, low=size, high=size))  # type: ignore[arg-type]
        left = hits.get(group)
        if left is not None and len(left):
            ends = {"low": left[0], "high": left[-1]}
            found.append(Statement(group=group, patterns=accepted, **ends))  # type: ignore[arg-type]
    return found


def independent(statements: Iterable[Statement], k: int) -> int:
    """Return how many of the statements are linearly independent, given what predictions and labels tell.

    That the groups of a pattern add up to all its records is known without the report.
    """
    known = np.kron(np.eye(4), np.ones(k))
    rows = [np.kron(s.patterns, np.eye(k)[s.group]) for s in statements]
    return int(np.linalg.matrix_rank(np.vstack([known, *rows]))) - 4 if rows else 0


def constraints_of(statements: Sequence[Statement], predictions: Bits, labels: Bits, k: int) -> Constraints | None:
    """Return the statements as what a projection has to meet; None where there are none.

    Statements that say nothing beyond the others are left out: exact ones first, then the narrowest.
    """
    kept: list[Statement] = []
    for statement in sorted(statements, key=lambda s: s.high - s.low):
        if independent([*kept, statement], k) > len(kept):
            kept.append(statement)
    if not kept:
        return None
    rows = [(s, 1.0, s.high) for s in kept] + [(s, -1.0, -s.low) for s in kept if not s.exact]
    return Constraints(
        pattern=(predictions + 2 * labels).astype(np.intp),
        weights=np.array([np.multiply(sign, s.patterns) for s, sign, _ in rows], dtype=np.float64),
        groups=np.array([np.eye(k)[s.group] for s, _, _ in rows]),
        bound=np.array([bound for _, _, bound in rows], dtype=np.float64),
        equality=np.array([s.exact for s, _, _ in rows]),
    )
