"""What a release is worth in bits, by formula, from draws and as measured; and the most that anyone can expect.

In the linear-Gaussian picture of `Modes` a mode of weight w gains ½ w nats on average, with variance
½ w (2 − w) and third cumulant w² (3 − 2w) (half a chi-squared for w = 1; cumulants of a quadratic form). People are no
normal variables: the excess kurtosis of each adds to the variance. A gamma law, shifted, has all three cumulants.

Where few people settle, the expected gain is the formula below. Where many do, a posterior does not move by a little,
and the formula falls short. Then the release is tried out: everybody's attribute is drawn from the attacker's
posterior, published as precisely as the release will be, projected, and the gain read off.

The ceiling, the most that any attacker with a given prior can expect, stands above every attack on a card.

Without noise. People with the same label and the same predictions make a cell, and the published numbers depend on
the counts of group 1 in the cells alone. The prior is independent between people, so a cell's count follows a Poisson
binomial law, and counts of cells are independent. The exact posterior is a sum over the vectors of counts that agree
with the numbers. Given its count, a person with prior q in a cell of n people is of group 1 with probability

    q · L(c − 1) / P(c),   P(c) = q L(c − 1) + (1 − q) L(c),

with P the law of the cell's count and L that of the others'. An attacker who guesses everybody's likelier group is
correct with probability max(p, 1 − p) for each, and nobody can expect more from these numbers and this prior.

With privacy noise. One person's attribute changes the probability of any output by a factor of e^ε at most, whatever
the others' are, so also after averaging over them. With α and β the chances of the guess "group 1" for a person of
group 1 and of group 0, a guess is correct with probability q α + (1 − q)(1 − β), where α ≤ e^ε β and
1 − β ≤ e^ε (1 − α). The corners of what is possible are (0, 0), (1, 1) and (e^ε, 1)/(1 + e^ε), and (1, e^ε)/(1 + e^ε)
which is never better; so the best attacker can expect max(q, 1 − q, e^ε / (1 + e^ε)), over the noise. Randomised
response attains it. The idea of reporting a reconstruction attack beside such a ceiling is that of arXiv 2507.08158.

Both hold where the prior is right, and for attackers who know no more than it and the card.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...base.errors import InputError
from ...base.serialize import Result
from ...base.validation import Codes, Floats, Mask, binary_array, child_generator, probabilities
from ...stats.estimates import (
    LEVEL,
    Estimate,
    accuracy,
    accuracy_gain,
    balanced_accuracy,
    balanced_gain,
    certain,
    not_measured,
    quantile,
)
from .equations import Modes, modes_of, project
from .published_counts import SIZE_PARTS, part_of, value_of
from .release import Published, Release


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter(Result):
    """Bits of a release, with A, K and R as in `core.studies.model_card.equations`."""

    df_bits: float
    """tr(K (K + R)⁻¹) / (2 ln 2): the bits the attacker's log-loss is expected to fall by, in all, where few people
    settle; 0.72 for each independent number. See `core.studies.model_card.Prediction`, which holds where many settle
    too."""
    joint_bits: float
    """½ log₂ det(I + R⁻¹ K): what the numbers say about the whole vector of memberships. Where it reaches `prior_bits`,
    the numbers as a rule determine everybody: of 6 to 10 people in 7 of 10 random releases."""
    prior_bits: float
    """Σ_i H(q_i): the uncertainty before."""
    person_bits: float
    """Σ_i min(−½ log₂(1 − ρ_i²), H(q_i)), where ρ_i² = q_i(1 − q_i) a_iᵀ (K + R)⁻¹ a_i is the squared correlation of
    person i with the numbers: what is disclosed person by person."""

    @property
    def share(self) -> float:
        """joint_bits / prior_bits; from 1 on, as a rule, everybody is determined (nan: there was nothing to know)."""
        if self.prior_bits > 0:
            return self.joint_bits / self.prior_bits
        return math.nan


def meter(posterior: npt.ArrayLike, release: Release) -> Meter:
    """Return the bits of a release, at the numbers that the posterior expects.

    Linear-Gaussian: exact for the covariances, an approximation for the bits. No true attribute is used. The posterior,
    shape (n,), in [0, 1], is P(s = 1) of each person before the release.
    """
    return meter_of(modes_of(posterior, release))


def meter_of(modes: Modes) -> Meter:
    """Return the bits of a release whose modes are known."""
    values = modes.values
    q = modes.posterior
    entropy = entropy_bits(q)
    correlation = np.minimum(q * (1.0 - q) * modes.person, 1.0 - 1e-15)
    return Meter(
        df_bits=modes.df_bits,
        joint_bits=float(np.log1p(values).sum()) / (2 * math.log(2)),
        prior_bits=float(entropy.sum()),
        person_bits=float(np.minimum(-np.log1p(-correlation) / (2 * math.log(2)), entropy).sum()),
    )


def entropy_bits(probability: Floats) -> Floats:
    """Return H(p) in bits."""
    p = np.clip(probability, 1e-300, 1.0)
    rest = np.clip(1.0 - probability, 1e-300, 1.0)
    return -(probability * np.log2(p) + (1.0 - probability) * np.log2(rest))


_NAT = 1.0 / math.log(2)
"""Bits in a nat."""

_HALVINGS = 60

_TAIL = (1.0 - 0.95) / 2
"""Share of the random draws beyond a 95% interval, to either side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction(Result):
    """What a release is expected to reveal.

    The gain is over random draws of everybody's attribute from the attacker's posterior, and of the noise.
    """

    bits: Estimate
    """Expected gain in bits; its interval is that of the mean of the random draws, nan where the formula is kept."""
    draws: int = 0
    """Draws of everybody's attribute behind it; 0: the formula."""
    deviation: float
    skewness: float
    noise: bool
    """Whether there is privacy noise; without it no release loses bits."""

    @property
    def low(self) -> float:
        """Least gain of one release in the middle 95% of the random draws."""
        low = self._quantile(_TAIL, self.bits.value)
        if self.noise:
            return low
        return max(low, 0.0)

    @property
    def high(self) -> float:
        """Largest gain of one release in the middle 95% of the random draws."""
        return self._quantile(1.0 - _TAIL, self.bits.value)

    def expected(self, gain: float, n: int, *, most: float = math.inf) -> Estimate:
        """Return the expected gain with its interval, from the one gain that was measured about n people.

        Where the attribute is not as the posterior says, the mean moves. A higher mean is the systematic part of
        x = A (s − q), which adds 2 to the variance in nats² for each nat that it adds to the mean, and 6 to the third
        cumulant (noncentral chi-squared); for a lower one the law is only shifted. The interval holds the means that
        this gain does not contradict, 2.5% to either side, up to `most` bits: the uncertainty before.
        """
        if not self.deviation > 0.0:
            return certain(gain, n)
        low = self._mean_where(1.0 - _TAIL, gain)
        high = self._mean_where(_TAIL, gain)
        if not self.noise:
            low = max(low, min(0.0, gain))
        return Estimate(value=gain, low=min(low, gain), high=max(min(high, most), gain), n=n)

    def _mean_where(self, share: float, gain: float) -> float:
        """Return the mean for which this share of the random draws stays below the gain."""
        mean = self.bits.value
        shifted = mean + gain - self._quantile(share, mean)
        if shifted <= mean:
            return shifted
        low = mean
        high = mean + 1.0
        while self._quantile(share, high) < gain:
            high += 2.0 * (high - low)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._quantile(share, middle) < gain else (low, middle)
        return (low + high) / 2

    def _quantile(self, share: float, mean: float) -> float:
        from scipy.special import gammaincinv, ndtri

        if not self.deviation > 0.0:
            return mean
        more = max(mean - self.bits.value, 0.0)
        variance = self.deviation**2 + 2 * _NAT * more
        skewness = (self.skewness * self.deviation**3 + 6 * _NAT**2 * more) / variance**1.5
        if skewness < 1e-3:
            return mean + math.sqrt(variance) * float(ndtri(share))
        shape = 4.0 / skewness**2
        return mean + math.sqrt(variance / shape) * (float(gammaincinv(shape, share)) - shape)


def formula_prediction(modes: Modes) -> Prediction:
    """Return the prediction of the linear-Gaussian picture."""
    w = modes.weight
    variance = _NAT**2 * float((w * (2.0 - w)).sum()) / 2 + _kurtosis(modes)
    third = _NAT**3 * float((w**2 * (3.0 - 2.0 * w)).sum())
    skewness = third / variance**1.5 if variance > 0 else 0.0
    return Prediction(
        bits=Estimate(value=modes.df_bits, low=math.nan, high=math.nan, n=modes.release.n),
        deviation=math.sqrt(max(variance, 0.0)),
        skewness=skewness,
        noise=modes.release.epsilon is not None,
    )


def _kurtosis(modes: Modes) -> float:
    """Return what people being no normal variables adds: Σ_i (B_ii)² κ₄(q_i), B = Aᵀ(K + R)⁻¹A/(2 ln 2)."""
    spread = modes.posterior * (1.0 - modes.posterior)
    diagonal = _NAT * modes.person / 2
    return float(np.sum(diagonal**2 * spread * (1.0 - 6.0 * spread)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured(Result):
    """Before and after the release, on the same people."""

    bits: Estimate
    """Bits gained in all: Σ_i log₂ (q'_i(s_i) / q_i(s_i)). The gain itself is known; the interval is of the gain to be
    expected of such a release about as many other people like these (see `core.studies.model_card.Prediction`), nan
    where no prediction was handed in."""
    accuracy_before: Estimate
    accuracy_after: Estimate
    accuracy_gain: Estimate
    """Paired."""
    balanced_before: Estimate
    balanced_after: Estimate
    balanced_gain: Estimate
    majority: Estimate
    majority_balanced: Estimate
    """Majority-class baseline."""


def measured(
    posterior: npt.ArrayLike,
    projected: npt.ArrayLike,
    sensitive: npt.ArrayLike,
    *,
    chance: Prediction | None = None,
) -> Measured:
    """Compare the posterior (n,) and the projected one (n,) with the truth (n,); `chance` gives the bits an interval.

    Raises `InputError` if the arrays differ in length, or hold no probabilities or no 0 and 1.
    """
    s = binary_array(sensitive, name="sensitive")
    before, after = (probabilities(p, s.size, name="posterior") for p in (posterior, projected))
    gain = float(gained_bits(before, after, s).sum())
    bits = replace(not_measured(), value=gain, n=s.size)
    if chance is not None:
        cost = float(-_log2_likelihood(before, s).sum())
        entropy = float(entropy_bits(before).sum())
        bits = chance.expected(gain, s.size, most=max(cost, entropy))  # the uncertainty before
    guess = (before > 0.5).astype(np.uint8)
    now = (after > 0.5).astype(np.uint8)
    larger = np.full(s.size, int(2 * s.sum() > s.size), dtype=np.uint8)
    return Measured(
        bits=bits,
        accuracy_before=accuracy(s, guess),
        accuracy_after=accuracy(s, now),
        accuracy_gain=accuracy_gain(s, guess, now),
        balanced_before=balanced_accuracy(s, guess),
        balanced_after=balanced_accuracy(s, now),
        balanced_gain=balanced_gain(s, guess, now),
        majority=accuracy(s, larger),
        majority_balanced=balanced_accuracy(s, larger),
    )


def gained_bits(before: Floats, after: Floats, s: Codes) -> Floats:
    """Return what each person's log-loss falls by, in bits; all arrays of shape (n,)."""
    return _log2_likelihood(after, s) - _log2_likelihood(before, s)


def _log2_likelihood(probability: Floats, s: Codes) -> Floats:
    """Return the log of the probability given to the truth; never below −1000, where a certainty was wrong."""
    return np.log2(np.maximum(np.where(s == 1, probability, 1.0 - probability), 2.0**-1000))


MOST_DRAWS = 24
_FEWEST_DRAWS = 8
_CLOSE = 0.03
"""Draws end early once the standard error of their mean is this share of it, and the formula explains them."""

_EXPLAINED = 0.75
"""Share of the variance of the random draws from which on it does; their deviation is then known from few."""

_FEW_SETTLE = 0.03
"""joint_bits / prior_bits up to which the formula is kept. Adult's sex and race, 300 to 15,000 people, 1 to 50 models:
simulated over formula .97 to 1.07 up to here, to 1.16 at .06, 1.25 at .17, 1.45 beyond."""


def predict(posterior: npt.ArrayLike, release: Release, *, seed: int = 0) -> Prediction:
    """Return the expected gain of a release; no true attribute is used.

    Draws are compared with what the formula says of the same draw (`Modes.distance`), whose mean and variance are known
    exactly (a control variate). Few draws are then enough where the formula is nearly right. Draws that leave a
    published number without one of its groups are drawn again. The posterior is as for `meter`.
    """
    modes = modes_of(posterior, release)
    prediction = formula_prediction(modes)
    # where sizes are not published the formula takes equations for straight that are not
    if meter_of(modes).share > _FEW_SETTLE or not release.sizes:
        gains = _tried_out(modes, child_generator(seed, "predicted bits"))
        if gains is not None:
            mean, error, deviation, draws = gains
            half = quantile(LEVEL, draws - 2) * error
            bits = Estimate(value=mean, low=mean - half, high=mean + half, n=draws)
            deviation = math.hypot(deviation, error)
            return replace(prediction, bits=bits, draws=draws, deviation=deviation)
    return prediction


def _tried_out(modes: Modes, rng: np.random.Generator) -> tuple[float, float, float, int] | None:
    """Return mean, standard error, deviation and number of random draws; None where hardly any can be published."""
    q = modes.posterior
    gains: list[float] = []
    distances: list[float] = []
    variance = max(
        _NAT**2 * float((modes.weight**2).sum()) / 2 + _kurtosis(modes), 0.0
    )  # of the distances, exactly
    for _ in range(4 * MOST_DRAWS):
        s = (rng.random(q.size) < q).astype(np.uint8)
        try:
            published = modes.release.publish(s, rng=rng)
        except InputError:  # a group it compares is empty
            continue
        gains.append(float(gained_bits(q, project(q, published).probability, s).sum()))
        distances.append(modes.distance(s))
        if len(gains) < _FEWEST_DRAWS:
            continue
        mean, error, explained, left = _controlled(
            np.array(gains), np.array(distances), modes.df_bits, variance
        )
        enough = error <= _CLOSE * abs(mean) and explained >= _EXPLAINED * (explained + left)
        if enough or len(gains) == MOST_DRAWS:
            wider = quantile(LEVEL, len(gains) - 2) / quantile(LEVEL, 10**6)
            return mean, error, math.sqrt(explained + left * wider**2), len(gains)
    return None


def _controlled(
    gains: Floats, distances: Floats, mean: float, variance: float
) -> tuple[float, float, float, float]:
    """Return mean, standard error, variance explained and left, by least squares on distances of a known law.

    Distances that are equal but for rounding, as those of a handful of people can be, explain nothing.
    """
    off = distances - distances.mean()
    squares = float(off @ off)
    if squares <= 1e-20 * float(distances @ distances):
        squares = math.inf
    slope = float(off @ gains) / squares
    left = gains - gains.mean() - slope * off
    residual = float(left @ left) / (gains.size - 2)
    away = float(distances.mean()) - mean
    error = math.sqrt(residual * (1.0 / gains.size + away**2 / squares))
    return float(gains.mean()) - slope * away, error, slope**2 * variance, residual


MOST_PEOPLE = 400
MOST_VECTORS = 1_000_000
"""Vectors of counts that are summed over."""

_ROUNDING = 1e-9
"""What a number computed again may be off by."""


def ceiling(prior: npt.ArrayLike, published: Published) -> float | None:
    """Return the share of people that any attacker with the prior can expect to guess correctly, at most.

    Without noise it is that of the exact posterior, None where the group is too large or nothing agrees with the card;
    with noise it follows from the card's ε, over the noise. `prior`, shape (n,), is P(s_i = 1) before, independent
    between people.
    """
    epsilon = published.release.epsilon
    if epsilon is not None:
        return accuracy_under(prior, epsilon)
    posterior = exact_posterior(prior, published)
    if posterior is None:
        return None
    return float(np.maximum(posterior, 1.0 - posterior).mean())


def accuracy_under(prior: npt.ArrayLike, epsilon: float) -> float:
    """Return the largest expected accuracy under ε-differential privacy, for independent priors (n,)."""
    q = np.asarray(prior, dtype=np.float64)
    return float(np.maximum(np.maximum(q, 1.0 - q), 1.0 / (1.0 + math.exp(-epsilon))).mean())


def exact_posterior(prior: npt.ArrayLike, published: Published) -> Floats | None:
    """Return P(s_i = 1 | numbers without noise), shape (n,); None where there are too many, or none, to sum over."""
    release = published.release
    q = probabilities(prior, release.n, name="prior")
    shape = tuple(int(people) + 1 for people in release.cells.people)
    if release.n > MOST_PEOPLE or math.prod(shape) > MOST_VECTORS:
        return None
    members = [np.flatnonzero(release.cells.pattern == cell) for cell in range(len(shape))]
    laws = [_laws(q[people])[-1] for people in members]
    weight = _agreeing(published, shape).astype(np.float64)
    for law in laws:  # each law along the axis of its cell, which comes to the front in turn
        weight = np.moveaxis(weight, 0, -1) * law
    total = weight.sum()
    if not total > 0:
        return None
    posterior = np.empty(release.n)
    for cell, (people, law) in enumerate(zip(members, laws, strict=True)):
        counts = weight.sum(axis=tuple(axis for axis in range(len(shape)) if axis != cell)) / total
        posterior[people] = _given_count(q[people], law) @ counts
    return np.clip(posterior, 0.0, 1.0)


def _laws(q: Floats) -> list[Floats]:
    """Return the laws of the number of successes among the first 0, 1, ..., n."""
    laws = [np.ones(1)]
    for probability in q:
        laws.append(np.convolve(laws[-1], [1.0 - probability, probability]))
    return laws


def _given_count(q: Floats, law: Floats) -> Floats:
    """Return P(s_i = 1 | count) for each person and count, shape (n, n + 1); 0 for counts that cannot be.

    The law of the others is that of those before and after, which holds its digits in the tails, too.
    """
    n = q.size
    before = _laws(q)
    after = _laws(q[::-1])
    joint = np.zeros((n, n + 1))
    joint[:, 1:] = [
        probability * np.convolve(before[i], after[n - 1 - i]) for i, probability in enumerate(q)
    ]
    return np.divide(joint, law, out=np.zeros_like(joint), where=law > 0)


def _agreeing(published: Published, shape: tuple[int, ...]) -> Mask:
    """Return which vectors of counts agree with all numbers, one axis a cell."""
    release = published.release
    cells = published.release.cells
    axes = [
        np.arange(n).reshape([-1 if i == j else 1 for j in range(len(shape))])
        for i, n in enumerate(shape)
    ]

    def total(selected: Mask) -> Floats:
        parts = [axis for axis, included in zip(axes, selected, strict=True) if included]
        return np.asarray(sum(parts, np.zeros((1,) * len(shape))), dtype=np.float64)

    agrees = np.ones(shape, dtype=np.bool_)
    row = {name: i for i, name in enumerate(release.names)}
    for number in published.numbers:
        part = part_of(number.statistic)
        size = total(cells.inside(part))
        if number.statistic in SIZE_PARTS:
            agrees &= np.abs(size - number.value) < 0.5
            continue
        people = float(cells.size(part))
        agrees &= (size > 0) & (
            size < people
        )  # a rate of one group, too, is published where there are both
        accepted = cells.inside(part) & (cells.predictions[row[number.model]] == 1)
        positives = float(cells.people[accepted].sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            values = value_of(number.statistic, total(accepted), size, positives, people)
        agrees &= (values >= number.low - _ROUNDING) & (values <= number.high + _ROUNDING)
    return agrees
