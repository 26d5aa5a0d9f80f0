"""A table with the roles of its columns, what several facts need of it, and the facts.

A fact bears on a verdict; its severity says how much, its repairs what can be done about it.

The evidence comes first: what scores, predictions and labels say about each other. These are plain functions on arrays.
Codes are whole numbers from 0; -1 is a missing cell. Where a column has more records than `SAMPLE`, the caller draws so
many of them with a fixed seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..base.errors import InputError
from ..base.serialize import Result
from ..base.validation import Floats, Ints, Mask, child_generator
from ..stats.estimates import Estimate, normal_quantile, percent
from .columns import as_text, finite_numbers, is_numeric, label_codes, numbers_of, text_of
from .name_patterns import ColumnContent, Content, contents_of, few_texts, is_score
from .roles import Roles, as_written, groups_of
from .splits import SETS, named_sets, one_row_a_person

if TYPE_CHECKING:
    import pandas

SAMPLE = 100_000
"""Records that correlations are computed on."""

LEVEL = 0.99
"""Of the intervals that facts rest on: of 200 models that know nothing, one is called inverted."""

_BINS = 256
_DRAWN_BINS = 12
_ROWS_PER_BIN = 40


def sample_rows(n: int) -> Ints:
    """Return all rows in random order, or of more than `SAMPLE` so many, drawn with a fixed seed.

    A table may be sorted by anything; halves of the rows in this order are like each other.
    """
    return child_generator(0, "records of the input check").permutation(n)[:SAMPLE]


def halves(n: int) -> tuple[tuple[slice, slice], ...]:
    """Return the two ways to fit on one half of n records and to evaluate on the other."""
    first = slice(0, n // 2)
    second = slice(n // 2, None)
    return (first, second), (second, first)


def mean_ranks(values: Floats) -> Floats:
    """Return the ranks from 1, equal values sharing the mean of theirs."""
    import pandas as pd

    return pd.Series(values).rank().to_numpy()


def area_under_curve(positive: Mask, scores: Floats, *, level: float = LEVEL) -> Estimate | None:
    """Area under the ROC curve, with its interval after DeLong et al. (1988); None with fewer than two of a side.

    It is how often a positive record scores higher than a negative one, ties counting half.
    """
    n_positive = int(positive.sum())
    n_negative = positive.size - n_positive
    if min(n_positive, n_negative) < 2:
        return None
    ranks = mean_ranks(scores)
    # DeLong's placements: the share of the other side that a record lies above
    above_negative = (ranks[positive] - mean_ranks(scores[positive])) / n_negative
    below_positive = 1.0 - (ranks[~positive] - mean_ranks(scores[~positive])) / n_positive
    variance = above_negative.var(ddof=1) / n_positive + below_positive.var(ddof=1) / n_negative
    area = float(above_negative.mean())
    half = normal_quantile(level) * float(np.sqrt(variance))
    return Estimate(
        value=area,
        low=max(0.0, area - half),
        high=min(1.0, area + half),
        n=positive.size,
        level=level,
    )


def disagreement(predictions: Ints, scores: Floats, groups: Ints) -> tuple[int, int]:
    """Return in how many records predictions, 0 or 1, disagree with the best cut of the scores in each group.

    First for 1 above the cut, then for 1 below it.
    """
    straight = 0
    opposite = 0
    for group in np.unique(groups):
        rows = groups == group
        straight += _fewest_errors(predictions[rows], scores[rows])
        opposite += _fewest_errors(1 - predictions[rows], scores[rows])
    return straight, opposite


def _cuts(labels: Ints, values: Floats) -> tuple[Floats, Ints, Ints]:
    """Return the thresholds, from the lowest value up to infinity, and how many ones and zeros lie below each.

    A cut may lie only between two different values, or at an end.
    """
    order = np.argsort(values, kind="stable")
    ordered = np.append(values[order], np.inf)
    ones_before = np.append(0, np.cumsum(labels[order]))
    below = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    return ordered[below], ones_before[below], below - ones_before[below]


def _errors(labels: Ints, values: Floats) -> tuple[Floats, Ints]:
    """Return the thresholds, and the errors of the rule "1 from a threshold on"."""
    thresholds, ones_below, zeros_below = _cuts(labels, values)
    return thresholds, ones_below + zeros_below[-1] - zeros_below


def _fewest_errors(labels: Ints, values: Floats) -> int:
    """Return the errors of the best rule "1 from a threshold on"."""
    return int(_errors(labels, values)[1].min())


def best_cut_accuracy(labels: Ints, values: Floats) -> tuple[float, float]:
    """Return accuracy and balanced accuracy of the best threshold on the values, in the better direction."""
    errors = min(_fewest_errors(labels, values), _fewest_errors(1 - labels, values))
    accuracy = 1.0 - errors / labels.size
    area = area_under_curve(labels == 1, values)
    if area is None:
        return accuracy, 0.0
    if area.value < 0.5:
        values = -values
    return accuracy, _balanced_cut(labels, values)


def _balanced_cut(labels: Ints, values: Floats) -> float:
    """Return the best balanced accuracy of a rule "1 from a threshold on"."""
    _, ones_below, zeros_below = _cuts(labels, values)
    return float((0.5 + (zeros_below / zeros_below[-1] - ones_below / ones_below[-1]) / 2).max())


def bin_codes(values: Floats) -> Ints:
    """Return numbers as codes of bins of about equal size, few values as they are; -1 where there is no number."""
    present = np.isfinite(values)
    codes = np.full(values.size, -1, dtype=np.int64)
    distinct = np.unique(values[present])
    n_bins = int(min(_BINS, present.sum() // _ROWS_PER_BIN))
    if n_bins > 1 and distinct.size > n_bins:
        edges = np.unique(np.quantile(values[present], np.arange(1, n_bins) / n_bins))
        codes[present] = np.searchsorted(edges, values[present], side="right")
    else:
        codes[present] = np.searchsorted(distinct, values[present])
    return codes


def explained_share(target: Floats, codes: Ints) -> float:
    """Return the share of the target's variance that the codes explain: R² of means by code, cross-fitted in halves."""
    total = float(((target - target.mean()) ** 2).sum())
    if total <= 0.0 or target.size < 4:
        return 0.0
    errors = 0.0
    for fitted, evaluated in halves(target.size):
        means = means_by_code(target[fitted], codes[fitted], int(codes.max()) + 2)
        errors += float(((target[evaluated] - means[codes[evaluated] + 1]) ** 2).sum())
    return 1.0 - errors / total


def means_by_code(target: Floats, codes: Ints, size: int) -> Floats:
    """Return the mean of the target by code, from -1 on; of all records where a code has none."""
    counts = np.bincount(codes + 1, minlength=size)
    sums = np.bincount(codes + 1, target, minlength=size)
    means = np.full(size, target.mean())
    filled = counts > 0
    means[filled] = sums[filled] / counts[filled]
    return means


def accuracy_by_code(codes: Ints, labels: Ints) -> tuple[float, float]:
    """Return accuracy and balanced accuracy of the likeliest label by code, cross-fitted in halves.

    Balanced accuracy guesses the label that a code has more often than others do.
    """
    k = int(labels.max(initial=0)) + 1
    size = int(codes.max(initial=-1)) + 2
    likeliest = np.zeros(labels.size, dtype=np.int64)
    typical = np.zeros(labels.size, dtype=np.int64)
    for fitted, evaluated in halves(labels.size):
        counts = np.bincount((codes[fitted] + 1) * k + labels[fitted], minlength=size * k).reshape(
            size, k
        )
        frequencies = counts.sum(axis=0)
        empty = counts.sum(axis=1) == 0
        counts[empty] = frequencies
        likeliest[evaluated] = counts.argmax(axis=1)[codes[evaluated] + 1]
        typical[evaluated] = (counts / np.maximum(frequencies, 1)).argmax(axis=1)[
            codes[evaluated] + 1
        ]
    sizes = np.bincount(labels, minlength=k)
    right = np.bincount(labels[typical == labels], minlength=k)
    present = sizes > 0
    return float((likeliest == labels).mean()), float((right[present] / sizes[present]).mean())


def rank_correlation(first: Floats, second: Floats) -> float:
    """Return Spearman's rank correlation; 0 where one of them is constant."""
    first_ranks = mean_ranks(first)
    second_ranks = mean_ranks(second)
    if first_ranks.min() == first_ranks.max() or second_ranks.min() == second_ranks.max():
        return 0.0
    return float(np.corrcoef(first_ranks, second_ranks)[0, 1])


def ordered_intervals(codes: Ints, scores: Floats) -> tuple[float, float]:
    """Return accuracy and balanced accuracy with which cuts of the score tell the codes, each an interval of scores.

    The codes stand in the order of their median scores; the cut between two neighbours is the best one for all codes
    below it against all above it.
    """
    k = int(codes.max(initial=-1)) + 1
    present = [code for code in range(k) if (codes == code).any()]
    order = sorted(present, key=lambda code: float(np.median(scores[codes == code])))
    rank_of_code = np.zeros(k, dtype=np.int64)
    rank_of_code[order] = np.arange(len(order))
    ranks = rank_of_code[codes]
    guess = np.zeros(codes.size, dtype=np.int64)
    for cut in range(1, len(order)):
        thresholds, errors = _errors((ranks >= cut).astype(np.int64), scores)
        guess += scores >= thresholds[errors.argmin()]
    sizes = np.bincount(ranks, minlength=len(order))
    right = np.bincount(ranks[guess == ranks], minlength=len(order))
    return float((guess == ranks).mean()), float((right / sizes).mean())


_MOST_SPELLINGS = 20
"""Distinct cells up to which a column may hold two values as text."""

FEWEST_ORDERED = 10
"""Records of either value a column must have to be taken for the prediction by the order of the scores: of 20 records,
10 with each value, chance orders one column in 92,378 like that."""


def is_ordered(column: pandas.Series, score: pandas.Series) -> bool:
    """Whether a column has two values, and all scores of one are at most those of the other."""
    if column.head(1_000).nunique() > _MOST_SPELLINGS:
        return False
    codes, texts = text_codes(column)
    if len(texts) != 2:
        return False
    return divides(codes, numbers_of(score))


def divides(codes: Ints, scores: Floats) -> bool:
    """Whether all scores of one of two codes are at most those of the other; missing codes and scores count not."""
    valid = (codes >= 0) & ~np.isnan(scores)
    low = scores[valid & (codes == 0)]
    high = scores[valid & (codes == 1)]
    if min(low.size, high.size) < FEWEST_ORDERED:
        return False
    if low.mean() > high.mean():
        low, high = high, low
    return bool(low.max() <= high.min() and np.median(low) < np.median(high))


def text_codes(column: pandas.Series) -> tuple[Ints, tuple[str, ...]]:
    """Return a column's cells as codes of their texts, by first appearance, -1 where one is missing; and the texts."""
    import pandas as pd

    try:
        codes, cells = column.factorize()
    except TypeError:  # lists and the like, which no file holds
        codes, cells = column.map(str).factorize()
    as_texts = as_text(pd.Series(cells))
    places, texts = as_texts.factorize()
    return np.where(codes >= 0, np.append(places, -1)[codes], -1), tuple(map(str, texts))


def numbers_or_codes(column: pandas.Series) -> Floats:
    """Return a column's numbers, nan where one is missing or infinite; of other columns the codes of their texts."""
    if is_numeric(column):
        return finite_numbers(column)
    return text_codes(column)[0].astype(np.float64)


def filled_with_median(numbers: Floats) -> Floats:
    """Return numbers with their median where one is missing; zeros where all are."""
    finite = np.isfinite(numbers)
    median = np.median(numbers[finite]) if finite.any() else 0.0
    return np.where(finite, numbers, median)


def value_counts(codes: Ints, texts: Sequence[str]) -> Counter[str]:
    """Return how many cells of a column hold each value."""
    sizes = np.bincount(codes[codes >= 0], minlength=len(texts)).tolist()
    return Counter(dict(zip(texts, sizes, strict=True)))


_TRIED_ROWS = 5_000
_MOST_TRIED = 2
_MOST_PREDICTORS = 40
_ALL_OF_IT = 0.99
"""Share of the variance of a column's ranks from which on another one is the same in other units."""
_TOGETHER = 0.6
"""Share of what the best one leaves open above which a column may be a function of all others, as a score is.

Measured are 0.97 of a logistic regression's scores, 0.64 where a column that it reads is not in the table, and 0.78 of
a forest that remembers labels; of rates, shares and normalised numbers that are no functions of the others at most 0.
"""


def unnamed_scores(
    frame: pandas.DataFrame, label: str, without: Collection[str]
) -> dict[str, ColumnContent]:
    """Columns that behave like a model's score and are not called so.

    Such a column holds numbers between 0 and 1 of two decimals or more and tells the label. What the column that tells
    it best leaves open, all others tell together: a model is a function of what it reads. The label is one of these, as
    a model may remember it of some. The two columns that tell the label best are tried, on 5,000 records at most.
    """
    sample = frame.iloc[sample_rows(len(frame))[:_TRIED_ROWS]]
    if len(few_texts(sample[label])) < 2:
        return {}
    areas = {
        name: label_area(finite_numbers(sample[name]), sample[label])
        for name in frame.columns
        if name != label and name not in without and _is_fine_share(sample[name])
    }
    best = sorted((name for name in areas if areas[name]), key=lambda name: -areas[name])
    contents = {}
    for name in best[:_MOST_TRIED]:
        share, best_column = _told_share(sample, name)
        if share > _TOGETHER:
            contents[name] = ColumnContent(
                content=Content.SCORE,
                certain=False,
                rank=0,
                reason="may be a model's answer, as other columns together tell it",
                evidence=f"What {text_of(best_column)} alone leaves open of its ranks, all other columns together "
                f"explain to {percent(share)}, as they do of a model's score.",
            )
    return contents


def _is_fine_share(column: pandas.Series) -> bool:
    """Whether a column holds numbers between 0 and 1 of two decimals or more."""
    return is_score(column) and bool((column.round(1) != column)[column.notna()].any())


def label_area(numbers: Floats, label: pandas.Series) -> float:
    """Return how far from one half the AUC of numbers is for the label's value that they tell best; 0 if for none."""
    codes, texts = text_codes(label)
    present = np.isfinite(numbers) & (codes >= 0)
    best = 0.0
    for code in range(len(texts)):
        area = area_under_curve(codes[present] == code, numbers[present])
        if area is not None and not area.low <= 0.5 <= area.high:
            best = max(best, abs(area.value - 0.5))
    return best


def _told_share(sample: pandas.DataFrame, name: str) -> tuple[float, str]:
    """Return the share of what the best other column leaves open of a column's ranks that trees of all explain.

    And that other column; 0 where it leaves nothing open.
    """
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.model_selection import cross_val_predict

    sample = sample[sample[name].notna()]
    ranks = mean_ranks(sample[name].to_numpy(dtype=np.float64))
    inputs: dict[str, Floats] = {}
    codes: dict[str, Ints] = {}
    for column in sample.columns.drop(name):
        if is_numeric(sample[column]):
            inputs[column] = finite_numbers(sample[column])
            codes[column] = bin_codes(inputs[column])
        else:
            codes[column] = text_codes(sample[column])[0]
            inputs[column] = codes[column].astype(np.float64)
    shares = {column: explained_share(ranks, codes[column]) for column in codes}
    chosen = sorted(shares, key=lambda column: -shares[column])[:_MOST_PREDICTORS]
    best = chosen[0]
    if shares[best] > _ALL_OF_IT:
        return 0.0, best
    left = ranks - means_by_code(ranks, codes[best], int(codes[best].max()) + 2)[codes[best] + 1]
    trees = HistGradientBoostingRegressor(max_iter=50, learning_rate=0.2, random_state=0)
    matrix = np.column_stack([inputs[column] for column in chosen])
    guess = cross_val_predict(trees, matrix, left, cv=2)
    return float(1.0 - ((left - guess) ** 2).mean() / left.var()), best


MOST_REPAIRS = 10
"""Repairs of a fact that are offered."""


class Severity(StrEnum):
    """What a fact asks of the user, the most urgent first."""

    BLOCKING = "blocking"
    """Nothing is audited until it is repaired, or confirmed as right."""
    QUESTION = "question"
    """It has no default, and nothing is audited until the user answers it."""
    CAUTION = "caution"
    """It holds nothing up, but may be a mistake."""
    GUESS = "guess"
    """It is taken to be so, by the evidence said with it, and an answer of the user's changes it."""
    NOTE = "note"
    """It is said, and nothing is asked."""


REFUSED = (Severity.BLOCKING, Severity.QUESTION)
"""Severities without whose answer nothing is audited."""


Changes = Mapping[str, str | bool | float | tuple[str, ...] | tuple[float, ...] | None]
"""Fields of `core.datasets.Roles` with their new values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair(Result):
    """A change of the roles that removes a fact.

    `title` is what a button says, `result` the sentence that holds after it. A repair that changes nothing but
    `confirmed` says that the user takes the data to be right as they are.
    """

    title: str
    changes: Changes
    result: str = ""

    @property
    def confirms(self) -> bool:
        """Whether the roles stay as they are."""
        return set(self.changes) == {"confirmed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresByLabel(Result):
    """Scores of people with the positive label and of all others, as shares of each in bins of equal width.

    `area` is the area under the ROC curve.
    """

    positive_label: str
    negative_label: str
    positive: tuple[float, ...]
    negative: tuple[float, ...]
    area: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Result):
    """Something measured in a table that bears on the verdict.

    Attributes
    ----------
    kind : str
        Its name, such as "reversed_score"; the word by which a plan confirms it.
    severity : Severity
    point, more : str
        What is so in one sentence; and its evidence: what was measured, in how many records.
    key : str
        The plan's key that answers it, such as "data.favourable".
    columns : tuple of str
        The columns it is about.
    repairs : tuple of Repair
        What can be done, the likeliest first.
    scores : ScoresByLabel or None
        Evidence that is drawn.
    value : str
        The value of the label that it is about.
    """

    kind: str
    severity: Severity
    point: str
    more: str = ""
    key: str = ""
    columns: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = field(default=())
    scores: ScoresByLabel | None = None
    value: str = ""

    @property
    def text(self) -> str:
        """All of it."""
        return f"{self.point} {self.more}".rstrip()

    @property
    def confirmations(self) -> frozenset[str]:
        """What confirms it: its kind, or its kind with one of its columns, or with its value."""
        about = (*self.columns, self.value) if self.value else self.columns
        return frozenset({self.kind, *(f"{self.kind}:{name}" for name in about)})

    def is_confirmed(self, roles: Roles) -> bool:
        """Whether the roles confirm it."""
        return not self.confirmations.isdisjoint(roles.confirmed)


@dataclass(frozen=True, kw_only=True)
class CheckedTable:
    """A table with its roles, and what several facts need of it; each is read once.

    `crossed` are the two columns that the sensitive attribute crosses, empty where it does not; `guesses` the roles
    that nobody has answered yet; and `settings` is whether facts also say what is answered or certain.
    """

    frame: pandas.DataFrame
    input_roles: Roles
    crossed: tuple[str, ...]
    guesses: tuple[str, ...]
    settings: bool = False

    @cached_property
    def roles(self) -> Roles:
        """The roles, values as the table writes them."""
        return as_written(self.frame, self.input_roles)

    def has(self, column: str) -> bool:
        """Whether a role names a column of the table."""
        return bool(column) and column in self.frame.columns

    @cached_property
    def label(self) -> tuple[Ints, tuple[str, ...]]:
        """Codes and texts of the label; no texts without one."""
        if not self.has(self.roles.label):
            return np.full(len(self.frame), -1), ()
        return text_codes(self.frame[self.roles.label])

    @cached_property
    def positive(self) -> Mask:
        """Who has the positive label."""
        codes, texts = self.label
        if self.roles.positive in texts:
            return codes == texts.index(self.roles.positive)
        return np.zeros(codes.size, bool)

    @cached_property
    def grouping(self) -> tuple[Ints, tuple[str, ...]]:
        """Groups of the attribute, -1 where it is missing, and their names; all 0, nameless, if they break a rule."""
        try:
            codes, names, _ = groups_of(self.frame[self.roles.sensitive], self.roles)
        except (InputError, TypeError, ValueError, KeyError):
            return np.zeros(len(self.frame), dtype=np.int64), ()
        return codes.to_numpy(dtype=np.float64, na_value=-1.0).astype(np.int64), names

    @property
    def groups(self) -> Ints:
        """Groups of the attribute."""
        return self.grouping[0]

    @cached_property
    def audited(self) -> Mask:
        """Records with a label, once a column is it, and a group, which are those of an audit."""
        if not self.has(self.roles.label):
            return self.groups >= 0
        return (self.label[0] >= 0) & (self.groups >= 0)

    @cached_property
    def used(self) -> Mask:
        """Records that an audit would use: of the audited ones, one of each person where a column says who is who."""
        roles = self.roles
        if not self.has(roles.person):
            return self.audited
        rows = np.flatnonzero(self.audited)
        persons = text_codes(self.frame[roles.person])[0][rows]
        ranks = None
        if self.has(roles.sets):
            codes, texts = text_codes(self.frame[roles.sets])
            sets = named_sets(texts, roles.sets, roles.training_value)
            order = [SETS.index(sets[text]) if sets[text] in SETS else len(SETS) for text in texts]
            ranks = np.array([*order, len(SETS)])[codes[rows]]
        used = np.zeros(len(self.frame), dtype=bool)
        used[rows[one_row_a_person(persons, ranks)[0]]] = True
        return used

    @cached_property
    def rows(self) -> Ints:
        """The records that correlations are computed on, in random order."""
        audited = np.flatnonzero(self.audited)
        return audited[sample_rows(audited.size)]

    @property
    def sampled(self) -> str:
        """What says that not every record was looked at."""
        if int(self.audited.sum()) > SAMPLE:
            return f" (of {SAMPLE:,} records drawn)"
        return ""

    @cached_property
    def scores(self) -> Floats | None:
        """Scores, nan where there is none; None without a column of numbers."""
        if not self.has(self.roles.score) or not is_numeric(self.frame[self.roles.score]):
            return None
        return finite_numbers(self.frame[self.roles.score])

    @cached_property
    def predictions(self) -> Ints | None:
        """Predicted labels, 1 for the positive value, -1 where there is none; None without readable ones."""
        if self.roles.prediction:
            if not self.has(self.roles.prediction):
                return None
            codes, texts = text_codes(self.frame[self.roles.prediction])
            meanings = label_codes(
                texts,
                self.label[1],
                self.roles.positive,
                meaning=self.roles.prediction_positive,
            )
            values = [meanings[text] for text in texts]
            if not values or None in values:
                return None
            return np.array([*values, -1], dtype=np.int64)[codes]
        if self.scores is None:
            return None
        answered = ~np.isnan(self.scores)
        return np.where(answered, self.scores >= self.roles.threshold, -1).astype(np.int64)

    @cached_property
    def area(self) -> Estimate | None:
        """Area under the ROC curve of the scores for the positive label; None without scores or two labels."""
        if self.scores is None:
            return None
        rows = self.rows[~np.isnan(self.scores[self.rows])]
        return area_under_curve(self.positive[rows], self.scores[rows])

    @cached_property
    def scores_by_label(self) -> ScoresByLabel | None:
        """The scores of both labels, to be drawn; None without an area."""
        if self.scores is None or self.area is None:
            return None
        rows = self.rows[~np.isnan(self.scores[self.rows])]
        scores = self.scores[rows]
        positive = self.positive[rows]
        limits = (float(scores.min()), float(scores.max()))
        if limits[0] == limits[1]:
            return None
        shares = [
            np.histogram(scores[chosen], _DRAWN_BINS, limits)[0] / chosen.sum()
            for chosen in (positive, ~positive)
        ]
        negative_labels = [value for value in self.label[1] if value != self.roles.positive]
        if len(negative_labels) == 1:
            negative_label = negative_labels[0]
        else:
            negative_label = "others"
        return ScoresByLabel(
            positive_label=self.roles.positive,
            negative_label=negative_label,
            positive=tuple(map(float, shares[0])),
            negative=tuple(map(float, shares[1])),
            area=self.area.value,
        )

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Columns that would be features, but for those that are set aside by themselves."""
        roles = self.roles
        taken = {roles.label, roles.sensitive, *self.crossed, *roles.excluded, *roles.auxiliary}
        return tuple(name for name in self.frame.columns if name not in taken)

    @cached_property
    def contents(self) -> dict[str, ColumnContent]:
        """What columns without a role of their own hold by name and values; scores without a name, if none is known."""
        roles = self.roles
        without = (roles.sensitive, *self.crossed)
        label = roles.label if self.has(roles.label) else ""
        contents = contents_of(self.frame, label=label, without=without)
        if label and not self.answers:
            contents |= unnamed_scores(self.frame, label, (*without, *contents))
        return contents

    @property
    def answers(self) -> tuple[str, ...]:
        """The columns of a model's answers."""
        return tuple(column for column in (self.roles.prediction, self.roles.score) if column)

    def confirms(self, name: str) -> bool:
        """Whether the user has confirmed a fact by its name."""
        return name in self.input_roles.confirmed

    def fact(
        self,
        kind: str,
        severity: Severity,
        point: str,
        more: str = "",
        *,
        key: str = "",
        columns: tuple[str, ...] = (),
        repairs: Iterable[Repair] = (),
        scores: ScoresByLabel | None = None,
        confirm: str = "It is right so",
        by_column: bool = False,
    ) -> Fact:
        """Return a fact, a note where it is confirmed; `confirm` is the title of that repair, "" where none can."""
        if by_column:
            names = [f"{kind}:{column}" for column in columns]
        else:
            names = [kind]
        if confirm and severity is not Severity.NOTE:
            if all(map(self.confirms, names)):
                return Fact(
                    kind=kind,
                    severity=Severity.NOTE,
                    point=point,
                    more=f"{more} This is confirmed.".lstrip(),
                    key=key,
                    columns=columns,
                )
            changes = {"confirmed": (*self.input_roles.confirmed, *names)}
            repairs = (*repairs, Repair(title=confirm, changes=changes))
        return Fact(
            kind=kind,
            severity=severity,
            point=point,
            more=more,
            key=key,
            columns=columns,
            repairs=tuple(repairs),
            scores=scores,
        )
