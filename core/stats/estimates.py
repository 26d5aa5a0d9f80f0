"""Rates with their intervals, the only form in which they leave core; how they are written.

All intervals but `mean_over_repeats` treat the attacked records as a sample of the people the model could have been
trained on, and everything else (model, attacker, seed) as given. They say nothing about another seed;
`mean_over_repeats` does.
Numbers are written with no more digits than the sample supports, a true minus, and thousands separated.

Tables of what was found are rows made once, in words for a terminal and in full for files and pages. A cell that was
measured is a `Quantity`, which knows its interval and its unit. A file has three columns of it, as plain numbers; a
terminal one cell such as "76.3 [75.6, 77.0]" under a title with the unit, with as many digits as the interval supports.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..base.serialize import Result

LEVEL = 0.95
"""Of every interval whose level nobody chooses."""

_ROUNDING_ERROR = 1e-9
"""Largest difference of probabilities that differ by rounding alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Result):
    """A value with its interval at a `level` in (0, 1), from n records.

    Value and limits are in the unit of the value; nan where there was nothing to measure.
    """

    value: float
    low: float
    high: float
    n: int
    level: float = LEVEL

    def within(self, least: float, most: float) -> Self:
        """Return the estimate with its interval cut to [least, most]; limits that are nan stay."""

        def cut(end: float) -> float:
            if math.isnan(end):
                return end
            return min(most, max(least, end))

        return replace(self, low=cut(self.low), high=cut(self.high))

    def folded(self) -> Self:
        """Return the estimate of the absolute value."""
        ends = abs(self.low), abs(self.high)
        least = 0.0 if self.low <= 0.0 <= self.high else min(ends)
        return replace(self, value=abs(self.value), low=least, high=max(ends))


Number = Estimate | float
"""A number, or one with its interval."""


def value_of(number: Number | None) -> float:
    """Return the number itself; nan where there is none."""
    if number is None:
        return math.nan
    if isinstance(number, Estimate):
        return number.value
    return number


def ends_of(number: Number | None) -> tuple[float, float]:
    """Return the ends of its interval; nan where it has none."""
    if isinstance(number, Estimate):
        return (number.low, number.high)
    return (math.nan, math.nan)


def certain(value: float, n: int) -> Estimate:
    """Return a number that is no estimate: its interval has no width."""
    return Estimate(value=value, low=value, high=value, n=n)


def not_measured() -> Estimate:
    """Return a missing estimate: all nan, n = 0."""
    return Estimate(value=math.nan, low=math.nan, high=math.nan, n=0)


def plain_number(value: float | None) -> float | None:
    """Return a number for a table; None where nothing was measured."""
    if value is None or math.isnan(value):
        return None
    return float(value)


def estimate_columns(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """Return a number and the ends of its interval as three columns."""
    numbers = (value_of(estimate), *ends_of(estimate))
    columns = (name, f"{name}, low", f"{name}, high")
    return {column: plain_number(number) for column, number in zip(columns, numbers, strict=True)}


def normal_quantile(level: float) -> float:
    """Return how many standard deviations a two-sided normal interval of this level reaches to either side."""
    from statistics import NormalDist

    if not 0.0 < level < 1.0:
        raise InputError(f"level must be in (0, 1), got {level!r}.")
    return NormalDist().inv_cdf(0.5 + level / 2)


def proportion(successes: float, n: int, *, level: float = LEVEL) -> Estimate:
    """Return successes/n with the Wilson score interval (Wilson 1927), which stays inside [0, 1].

    Successes need not be whole: n records with a probability each add up to their expected number.
    """
    if n == 0:
        return replace(not_measured(), level=level)
    if not 0 <= successes <= n:
        raise InputError(f"successes must be in [0, {n}], got {successes!r}.")
    z = normal_quantile(level)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if successes == 0 else max(0.0, min(p, centre - half))
    if successes == n:
        high = 1.0
    else:
        high = min(1.0, max(p, centre + half))
    return Estimate(value=p, low=low, high=high, n=n, level=level)


def accuracy(truth: npt.ArrayLike, guess: npt.ArrayLike) -> Estimate:
    """Return the share of records on which `guess` equals `truth`, with its Wilson interval."""
    right = np.asarray(truth) == np.asarray(guess)
    return proportion(int(np.count_nonzero(right)), right.size)


def majority_share(codes: npt.ArrayLike) -> Estimate:
    """Return the share of the most frequent of some codes: the accuracy of naming it for everybody."""
    counts = np.bincount(codes)
    return proportion(int(counts.max()), int(counts.sum()))


def balanced_accuracy(truth: npt.ArrayLike, guess: npt.ArrayLike) -> Estimate:
    """Return the mean over groups of the share of the group that is inferred correctly.

    The interval combines the groups' Wilson intervals, see `weighted_sum`.
    """
    truth = np.asarray(truth)
    guess = np.asarray(guess)
    return equal_mean([accuracy(truth[truth == g], guess[truth == g]) for g in np.unique(truth)])


def weighted_sum(terms: Iterable[tuple[float, Estimate]]) -> Estimate:
    """Return the sum of weight times value of independent estimates, such as a difference of two rates.

    The interval is by the method of variance estimates recovery (Newcombe 1998, method 10; Zou and Donner 2008): the
    distances to the limits add as squares, those to the upper one on the lower side where a weight is negative.
    """
    oriented_terms = []
    for weight, estimate in terms:
        if not weight > 0:
            estimate = replace(estimate, low=estimate.high, high=estimate.low)
        oriented_terms.append((weight, estimate))
    value = sum(weight * estimate.value for weight, estimate in oriented_terms)
    below = math.hypot(
        *(weight * (estimate.value - estimate.low) for weight, estimate in oriented_terms)
    )
    above = math.hypot(
        *(weight * (estimate.high - estimate.value) for weight, estimate in oriented_terms)
    )
    n = sum(estimate.n for _, estimate in oriented_terms)
    level = oriented_terms[0][1].level
    return Estimate(value=value, low=value - below, high=value + above, n=n, level=level)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """Return the difference of two rates of different people, cut to [-1, 1]."""
    return weighted_sum([(1.0, first), (-1.0, second)]).within(-1.0, 1.0)


def equal_mean(parts: Sequence[Estimate], *, least: float = 0.0) -> Estimate:
    """Return the mean of the groups' rates, or of their changes, whatever the groups' sizes, cut to [least, 1]."""
    if parts:
        return weighted_sum([(1 / len(parts), part) for part in parts]).within(least, 1.0)
    return not_measured()


def paired_gain(won: int, lost: int, n: int) -> Estimate:
    """Return the change in accuracy between two guesses on the same n records.

    `won` are records that only the second guess gets right, `lost` those that only the first does. Wald interval for a
    difference of paired proportions with half an observation added to each of the four cells (Agresti and Min 2005), so
    that it keeps some width when nothing changed.
    """
    if n == 0:
        return not_measured()
    if min(won, lost) < 0 or won + lost > n:
        raise InputError(
            f"won and lost must be at least 0 and together at most {n}, got {won} and {lost}."
        )
    z = normal_quantile(LEVEL)
    b = won + 0.5
    c = lost + 0.5
    m = n + 2
    centre = (b - c) / m
    half = z * math.sqrt((b + c) - (b - c) ** 2 / m) / m
    value = (won - lost) / n
    low = max(-1.0, min(value, centre - half))
    high = min(1.0, max(value, centre + half))
    return Estimate(value=value, low=low, high=high, n=n)


def accuracy_gain(truth: npt.ArrayLike, before: npt.ArrayLike, after: npt.ArrayLike) -> Estimate:
    """Return the change in accuracy between two guesses on the same records, see `paired_gain`."""
    was = np.asarray(before) == np.asarray(truth)
    now = np.asarray(after) == np.asarray(truth)
    return paired_gain(
        int(np.count_nonzero(now & ~was)), int(np.count_nonzero(was & ~now)), now.size
    )


def balanced_gain(truth: npt.ArrayLike, before: npt.ArrayLike, after: npt.ArrayLike) -> Estimate:
    """Return the change in balanced accuracy between two guesses on the same records.

    The groups' paired intervals are combined as in `balanced_accuracy`.
    """
    truth, before, after = (np.asarray(array) for array in (truth, before, after))
    group_masks = [truth == group for group in np.unique(truth)]
    return equal_mean(
        [
            accuracy_gain(truth[in_group], before[in_group], after[in_group])
            for in_group in group_masks
        ],
        least=-1.0,
    )


def mean(values: npt.ArrayLike) -> Estimate:
    """Return the mean of one number a record, with the normal interval of a mean; without width for one record."""
    array = np.asarray(values, dtype=np.float64)
    if not array.size:
        return not_measured()
    value = float(array.mean())
    if array.size > 1:
        error = float(array.std(ddof=1)) / math.sqrt(array.size)
    else:
        error = 0.0
    half = normal_quantile(LEVEL) * error
    return Estimate(value=value, low=value - half, high=value + half, n=array.size)


def mean_rate(values: npt.ArrayLike) -> Estimate:
    """Return the mean of one probability a record, with the normal interval of a mean cut to [0, 1].

    One record, or records that are all alike, show no variance; that does not make their mean certain. They get
    Wilson's interval of as many successes as the probabilities add up to, which is too wide rather than too narrow.
    """
    array = np.clip(np.asarray(values, dtype=np.float64), 0.0, 1.0)
    if not array.size:
        return not_measured()
    if np.ptp(array) <= _ROUNDING_ERROR:
        return proportion(float(array.sum()), array.size)
    return mean(array).within(0.0, 1.0)


def mean_over_repeats(values: npt.ArrayLike, *, resolution: float = 0.0) -> Estimate:
    """Return the mean of one number a repeat (seed), with Student's t interval; n is the number of repeats.

    With one repeat there is no interval: its limits are nan. Repeats that draw their splits from one table share
    people, so they are no independent samples of a population; the interval speaks of other seeds on this table.

    Repeats that all agree show no variance, which does not make their mean certain. A repeat that differs with
    probability q is missed by all m with probability (1 - q)^m, so that q = 1 - (alpha/2)^(1/m) is still possible
    (Clopper and Pearson 1934, for none of m). The half width is never below q times the `resolution`, the least amount
    by which two repeats differ if they differ at all, such as that of one person among those drawn.
    """
    from scipy.special import stdtrit

    array = np.asarray(values, dtype=np.float64)
    if not array.size:
        return not_measured()
    if not resolution >= 0.0:
        raise InputError(f"resolution must be at least 0, got {resolution!r}.")
    value = float(array.mean())
    m = array.size
    half = math.nan
    if m > 1:
        least = resolution * (1.0 - (0.5 - LEVEL / 2) ** (1.0 / m))
        half = max(
            least, float(stdtrit(m - 1, 0.5 + LEVEL / 2)) * float(array.std(ddof=1)) / math.sqrt(m)
        )
    return Estimate(value=value, low=value - half, high=value + half, n=m)


def rate_over_repeats(values: npt.ArrayLike, *, resolution: float = 0.0) -> Estimate:
    """Return `mean_over_repeats` of rates, the interval cut to [0, 1]."""
    return mean_over_repeats(values, resolution=resolution).within(0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread(Estimate):
    """A number over seeds: mean, Student's t interval, and standard deviation between seeds, nan with fewer than two.

    The interval is `over` "seeds" if there are several; else it is that of the one seed, over "people", or nan, and
    this empty, where the one seed measured a fact without an interval. `seeds` counts those that measured something.
    """

    sd: float
    over: str
    seeds: int

    @property
    def estimate(self) -> Estimate:
        """The number and its interval alone."""
        return Estimate(value=self.value, low=self.low, high=self.high, n=self.n, level=self.level)


def summarize_seeds(
    values: Sequence[Number | None], *, least: float = -math.inf, most: float = math.inf
) -> Spread:
    """Return what was measured in some of the seeds, intervals over seeds cut to [least, most]; nan where in none."""
    measured = [value for value in values if value is not None]
    numbers = [float(value_of(value)) for value in measured]
    if len(measured) > 1:
        estimate = mean_over_repeats(numbers).within(least, most)
        sd = float(np.std(numbers, ddof=1))
        over = "seeds"
    else:
        single = measured[0] if measured else not_measured()
        over = "people" if isinstance(single, Estimate) else ""
        sd = math.nan
        if isinstance(single, Estimate):
            estimate = single
        else:
            estimate = mean_over_repeats(numbers)
    return Spread(
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        n=estimate.n,
        sd=sd,
        over=over,
        seeds=len(measured),
    )


MOST_TESTED = 17
"""Most tests that are decided together; intervals of what was picked among several are made to hold for as many."""

STRICTEST = 0.99
"""Highest level of a policy that they are made to hold at."""


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return adjusted p-values in the order given, each in [0, 1] and at least the one given."""
    m = len(p_values)
    adjusted = [0.0] * m
    largest = 0.0
    for rank, index in enumerate(sorted(range(m), key=lambda j: p_values[j])):
        largest = max(largest, min(1.0, (m - rank) * p_values[index]))
        adjusted[index] = largest
    return tuple(adjusted)


def independence_p_value(counts: npt.ArrayLike) -> float:
    """P-value of Pearson's chi-square test that rows and columns of a table of counts are independent.

    1 where a row or a column is empty. `scipy.stats.chi2_contingency` without its correction says the same, and takes a
    second to import, for which a page would wait.
    """
    from scipy.special import chdtrc

    observed = np.asarray(counts, dtype=np.float64)
    rows = observed.sum(axis=1)
    columns = observed.sum(axis=0)
    expected = np.outer(rows, columns) / observed.sum()
    if not expected.all():
        return 1.0
    statistic = ((observed - expected) ** 2 / expected).sum()
    freedom = (rows.size - 1) * (columns.size - 1)
    return float(chdtrc(freedom, statistic))


def strongest(
    estimates: Mapping[str, Estimate],
    *,
    freedom: int | None = None,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[str, Estimate]:
    """Return the largest of the values under its name, with an interval that holds although it was picked.

    What a policy asks is whether every attack keeps a limit. To call the limit kept all of them must keep it, which
    needs no correction for their number (intersection-union test, Berger 1982). With values v_j, the largest v, and
    upper half widths h_j, an interval that a policy widens by w (for its level and by Holm's correction, up to F for
    `MOST_TESTED` limits at `STRICTEST`) reaches v_j + w h_j; the half width max_j h_j - (v - v_j)/F around v reaches as
    far for every w from 1 to F. To call it broken one suffices, and with m attacks one may do so by chance: the lower
    end is the largest of the lower ends at level 1 - (1 - level)/m (Bonferroni).

    `estimates` holds at least one, all at one level; `freedom` are the degrees of freedom where the intervals are
    Student's, None for normal ones; `within` are the smallest and the largest value there can be.
    """
    name = max(estimates, key=lambda label: estimates[label].value)
    largest = estimates[name]
    reach = _stretch(len(estimates), largest.level, freedom)
    low = max(
        estimate.value - reach * (estimate.value - estimate.low) for estimate in estimates.values()
    )
    farthest = _stretch(round(MOST_TESTED * (1 - LEVEL) / (1 - STRICTEST)), largest.level, freedom)
    high = largest.value + max(
        estimate.high - estimate.value - (largest.value - estimate.value) / farthest
        for estimate in estimates.values()
    )
    return name, replace(largest, low=max(within[0], low), high=min(within[1], high))


def min_estimate(estimates: Mapping[str, Estimate]) -> tuple[str, Estimate]:
    """Return the smallest of the values under its name, and its interval: `strongest` mirrored, of normal intervals."""
    name, mirrored_largest = strongest(
        {key: _mirrored(estimate) for key, estimate in estimates.items()}
    )
    return name, _mirrored(mirrored_largest)


def _mirrored(estimate: Estimate) -> Estimate:
    return replace(estimate, value=-estimate.value, low=-estimate.high, high=-estimate.low)


def _stretch(number: int, level: float, freedom: int | None) -> float:
    """Return how much wider an interval is at Bonferroni's level for so many."""
    adjusted_level = 1 - (1 - level) / number
    if number > 1:
        return quantile(adjusted_level, freedom) / quantile(level, freedom)
    return 1.0


def quantile(level: float, freedom: int | None) -> float:
    """Return how many standard errors an interval of this level reaches: Student's with so many degrees of freedom.

    The normal one where `freedom` is None; nan where it is 0.
    """
    if freedom is None:
        return normal_quantile(level)
    from scipy.special import stdtrit

    if freedom > 0:
        return float(stdtrit(freedom, 0.5 + level / 2))
    return math.nan


_COARSE = 0.035
"""From this half width of an interval on, percentages lose their decimal."""

_MOST_DECIMALS = 8
_ZEROS = (f"{0:.8f}", f"{-0.0:.8f}")


def _decimals(estimate: Estimate) -> int:
    half = (estimate.high - estimate.low) / 2
    if math.isnan(half) or half >= _COARSE:
        return 0
    return 1


def percent(value: Number, *, decimals: int | None = None) -> str:
    """Write a rate as "82.9%"; the decimal goes when the interval is wider than ±3.5 points."""
    rate = value_of(value)
    if math.isnan(rate):
        return "n/a"
    if decimals is not None:
        places = decimals
    elif isinstance(value, Estimate):
        places = _decimals(value)
    else:
        places = 1
    return f"{number_text(100 * rate, f'.{places}f')}%"


def interval(value: Estimate) -> str:
    """Write the limits of a rate as "82.4 to 83.3%"."""
    if math.isnan(value.low):
        return "n/a"
    return f"{ends_text(100 * value.low, 100 * value.high, f'.{_decimals(value)}f')}%"


ALMOST_ALL = 0.9995
"""From here on a share reads 100.0%: as a bound it says nothing."""


def at_most(share: float, how: str, *, of: str = "") -> str:
    """Say what no attacker can exceed, and how that is known; it is conditional on the prior, and says so."""
    return f"If the prior is right, no attacker can expect more than {percent(share)}{of} ({how})."


def points(value: Number, *, decimals: int | None = None) -> str:
    """Write a difference of rates as "+7.0 points", with a true minus."""
    return f"{number_text(100 * value_of(value), f'+.{decimals or 1}f')} points"


def point_interval(value: Estimate) -> str:
    """Write the limits of a difference of rates as "+5.9 to +8.1"."""
    return ends_text(100 * value.low, 100 * value.high, "+.1f")


def gap(value: float, *, decimals: int = 3) -> str:
    """Write a signed gap as "+0.131" or "−0.079"; one that is nan as "n/a"."""
    return number_text(value, f"+.{decimals}f")


def level_text(level: float) -> str:
    """Write a level as "95%", "99.17%", and one that would round to certainty as "over 99.99%"."""
    if level > 0.9999:
        return "over 99.99%"
    return f"{100 * level:.4g}%"


def ratio(value: Estimate) -> str:
    """Write a number with its interval as "0.729 (95% CI 0.713 to 0.744)"."""
    if math.isnan(value.value):
        return "n/a"
    ends = ends_text(value.low, value.high, ".3f")
    return f"{number_text(value.value, '.3f')} ({level_text(value.level)} CI {ends})"


def count(number: int) -> str:
    """Write a count as "15,375"."""
    return f"{number:,}"


def epsilon_text(value: float) -> str:
    """Write a privacy budget as "0.1", "10" or "∞"."""
    if math.isinf(value):
        return "∞"
    return f"{value:g}"


def tolerance_text(value: float, *, limit: float | None = None) -> str:
    """Write a tolerance or an unfairness with the digits it has, four at most: "0.001", "0.0004", "0.2", "0".

    Beside a limit it has as many more as tell it from the limit: "0.00504", above "0.005".
    """
    if value == 0:
        return "0"
    if abs(value) < 5e-5:
        return "less than 0.0001"
    if limit is None:
        places = 4
    else:
        places = decimals_beside([value], limit, 4)
    return f"{value:.{places}f}".rstrip("0").rstrip(".")


def decimals_beside(values: Iterable[float], limit: float, least: int) -> int:
    """Return how many decimals, `least` or more, tell each value from a limit that it does not equal.

    Values that eight decimals cannot tell from it are taken to equal it.
    """
    distinct = [
        value
        for value in values
        if not math.isnan(value) and f"{value - limit:.{_MOST_DECIMALS}f}" not in _ZEROS
    ]
    for places in range(least, _MOST_DECIMALS):
        if all(f"{value:.{places}f}" != f"{limit:.{places}f}" for value in distinct):
            return places
    return _MOST_DECIMALS


def number_text(value: float, form: str) -> str:
    """Write a number in a form such as ".3f" or "+,.1f" with a true minus, and a zero without a sign; nan as "n/a"."""
    if math.isnan(value):
        return "n/a"
    text = f"{value:{form}}"
    if text.strip("+-0.,"):
        return text.replace("-", "−")
    return text.lstrip("+-")


def ends_text(low: float, high: float, form: str) -> str:
    """Write the ends of an interval in a form: "0.3 to 2.1"; of a change, whose form has a sign, "−0.2 to +1.2".

    All ranges of page, report and files are written by it, so that a change has a sign at both ends everywhere.
    """
    return f"{number_text(low, form)} to {number_text(high, form)}"


_MOST_CHANGE_DECIMALS = 3


def change_decimals(before: Estimate, after: Estimate, change: Number) -> int | None:
    """Return with how many decimals two rates and their change add up: 79.17% + 13.08 points = 92.25%.

    That is 1 where it suffices. None, for the decimals that each has by itself, where an interval is too wide for a
    decimal, or where the change is no difference of the rates.
    """
    if not (_decimals(before) and _decimals(after)):
        return None
    for decimals in range(1, _MOST_CHANGE_DECIMALS + 1):
        start, end, difference = (
            round(100 * rate, decimals) for rate in (before.value, after.value, value_of(change))
        )
        if math.isclose(end - start, difference, abs_tol=1e-9):
            return decimals
    return None


_UNMEASURED = "n/a"
_COARSE_PERCENT = 3.5
"""Half a unit of the last digit that is written: an interval of ±3.5 or more has no decimals."""

_UNITS = {"": (1, 0, 6), "%": (100, 0, 1), "points": (100, 1, 1), "bits": (1, 1, 1)}
"""Unit -> what a number is multiplied by, and its fewest and most decimals."""

_NO_WIDTH = 1e-9


@dataclass(frozen=True, slots=True)
class Quantity:
    """A measured number as a cell, with or without an interval; None and nan stand for what was not measured."""

    value: Number | None
    unit: str = ""
    """ "%" for a share, "points" for a difference of shares, "bits" or none."""
    signed: bool = False

    @property
    def text(self) -> str:
        """The number and its interval in its unit."""
        measured = (value_of(self.value), *ends_of(self.value))
        if math.isnan(measured[0]):
            return _UNMEASURED
        value, low, high = (_UNITS[self.unit][0] * number for number in measured)
        form = f"{'+' * self.signed},{self._digits((high - low) / 2)}"
        number_texts = [number_text(number, form) for number in (value, low, high)]
        if math.isnan(low):
            return number_texts[0]
        return f"{number_texts[0]} [{number_texts[1]}, {number_texts[2]}]"

    def _digits(self, half: float) -> str:
        """Return the format of numbers whose interval has this half width, nan without one."""
        if math.isnan(half) or half < _NO_WIDTH:
            if self.unit:
                return ".1f"
            return ".4g"
        _, least, most = _UNITS[self.unit]
        return f".{min(max(math.ceil(math.log10(_COARSE_PERCENT / half)), least), most)}f"


def share(measured: Number | None) -> Quantity:
    """Return a cell of a share, written in percent."""
    return Quantity(measured, "%")


def change(measured: Number | None) -> Quantity:
    """Return a cell of a difference of shares, written in points with its sign."""
    return Quantity(measured, "points", signed=True)


Row = Mapping[str, Any]
"""Column -> text, number, quantity or None."""

Tables = Mapping[str, Sequence[Row]]
"""Title -> rows."""

PlainRow = dict[str, str | float | int | None]


def plain_row(row: Row) -> PlainRow:
    """Return a row of plain numbers: three columns for each quantity."""
    plain_cells: PlainRow = {}
    for name, cell in row.items():
        if isinstance(cell, Quantity) and not isinstance(cell.value, float):
            plain_cells |= estimate_columns(name, cell.value)
            if isinstance(cell.value, Spread):
                plain_cells[f"{name}, sd"] = plain_number(cell.value.sd)
        else:
            plain_value: Any = cell.value if isinstance(cell, Quantity) else cell
            if isinstance(plain_value, float) and math.isnan(plain_value):
                plain_value = None
            plain_cells[name] = plain_value
    return plain_cells


def formatted_table(rows: Iterable[Row]) -> tuple[list[str], list[list[str]], list[int]]:
    """Return the header and the cells of a table in words, and which columns hold texts."""
    rows = list(rows)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    header = []
    texts = []
    for i, name in enumerate(columns):
        column = [row[name] for row in rows if name in row]
        unit = next((cell.unit for cell in column if isinstance(cell, Quantity)), "")
        if unit:
            header.append(f"{name} ({unit})")
        else:
            header.append(name)
        if all(isinstance(cell, str) for cell in column):
            texts.append(i)
    cells = [[_cell_text(row.get(name)) for name in columns] for row in rows]
    return header, cells, texts


def _cell_text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, Quantity):
        return cell.text
    if isinstance(cell, float):
        if math.isinf(cell):
            return "∞"
        return number_text(cell, ".4g")
    if isinstance(cell, int):
        return count(cell)
    return str(cell)
