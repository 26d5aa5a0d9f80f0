"""Synthetic records with outputs that leak nothing about a group, or much, and what the attack of core gains of them.

Of a planted leak the law is known, so that the best attacker's gain can be computed.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.adversaries import Outputs, attack_released, known_records, train_imputation
from core.base.validation import decimals_of
from core.stats.estimates import Estimate, accuracy_gain, balanced_gain

Array = np.ndarray[Any, Any]
N_ATTACKED = 3_000
NOISE = 0.5


@dataclass(frozen=True, kw_only=True)
class Draw:
    """Records, the first `n_known` of which have a known group; x ends with the true label."""

    x: Array
    categorical: Array
    sensitive: Array
    n_groups: int
    n_training: int
    labels: Array
    scores: Array | None
    answered: Array | None = None
    prior: Array | None = None
    """Log-odds of group 1 from features, where the law is known."""
    ratio: Array | None = None
    """Log-likelihood ratio of the outputs, where the law is known."""
    balanced: bool = False
    """Whether the leak is measured in balanced accuracy."""

    @property
    def training(self) -> Array:
        """Rows whose group the attacker knows."""
        return np.arange(self.n_training)

    @property
    def attacked(self) -> Array:
        """Rows that are attacked."""
        return np.arange(self.n_training, self.sensitive.size)


def sigmoid(z: Array) -> Array:
    """Return 1 / (1 + exp(-z))."""
    return 1.0 / (1.0 + np.exp(-z))


def generator(*names: object) -> np.random.Generator:
    """Return the generator of a draw of this name."""
    return np.random.default_rng(zlib.crc32(repr(names).encode()))


def _codes(n: int, rng: np.random.Generator, n_codes: int, n_groups: int = 2) -> tuple[Array, Array, Array]:
    """Return records of one column of many codes, each with group shares of its own, and three numbers."""
    shares = rng.dirichlet(np.full(n_groups, 0.3), n_codes)
    code = rng.integers(0, n_codes, n)
    sensitive = (rng.random((n, 1)) > shares[code].cumsum(axis=1)).sum(axis=1).clip(0, n_groups - 1)
    x = np.column_stack([code, rng.normal(size=(n, 3)) + 0.2 * (sensitive == 1)[:, None]])
    return x, np.array([True, False, False, False]), sensitive


def _numbers(n: int, rng: np.random.Generator, n_columns: int) -> tuple[Array, Array, Array]:
    """Return records of numbers, all of which say a little about the group."""
    x = rng.normal(size=(n, n_columns))
    odds = x @ rng.normal(size=n_columns) * 2.5 / np.sqrt(n_columns)
    return x, np.zeros(n_columns, bool), (rng.random(n) < sigmoid(odds)).astype(int)


def _uneven(n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return records of which one in twenty is in group 1."""
    sensitive = (rng.random(n) < 0.05).astype(int)
    x = np.column_stack([rng.normal(size=(n, 5)) + 0.5 * sensitive[:, None], rng.integers(0, 12, n)])
    return x, np.arange(6) == 5, sensitive


_TABLES: dict[str, tuple[Callable[..., tuple[Array, Array, Array]], dict[str, int], int]] = {
    "60 codes": (_codes, {"n_codes": 60}, 2),
    "60 codes, five groups": (_codes, {"n_codes": 60, "n_groups": 5}, 5),
    "40 numbers": (_numbers, {"n_columns": 40}, 2),
    "95/5": (_uneven, {}, 2),
}


def null_draw(table: str, n_training: int, outputs: str, seed: int) -> Draw:
    """Return records whose outputs are drawn by chance, are all equal, or follow the features."""
    make, settings, n_groups = _TABLES[table]
    rng = generator("null", table, n_training, outputs, seed)
    n = n_training + N_ATTACKED
    x, categorical, sensitive = make(n, rng, **settings)
    labels_true = (rng.random(n) < sigmoid(0.8 * x[:, -1] / max(1.0, x[:, -1].std()))).astype(np.uint8)
    if outputs == "coin":
        scores = rng.random(n).round(4)
    elif outputs == "constant":
        scores = np.full(n, 0.3)
    else:  # of numbers and of a code's number as a model without the attribute may use them
        scaled = (x - x.mean(axis=0)) / x.std(axis=0)
        scores = sigmoid(scaled @ rng.normal(size=x.shape[1]) / np.sqrt(x.shape[1]) * 2.0).round(4)
    return Draw(
        x=np.column_stack([x, labels_true]).astype(np.float64),
        categorical=np.append(categorical, False),
        sensitive=sensitive,
        n_groups=n_groups,
        n_training=n_training,
        labels=(scores > 0.5).astype(np.uint8),
        scores=scores,
    )


_Outputs = tuple[Array | None, Array | None, Array | None, Array]
"""Labels, scores and who has an answer, None where they follow or everybody has one; log ratio."""


def _coin_ratio(agrees: Array, strength: float) -> Array:
    """Return the log ratio of a sign that is the group's with probability (1 + strength) / 2."""
    odds = np.log1p(strength) - np.log(max(1.0 - strength, 1e-9))
    return np.where(agrees, odds, -odds)


def _logits(x: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the logits of scores that say nothing of the group, and the noise in them."""
    noise = NOISE * rng.normal(size=len(x))
    return x[:, 0] - 0.5 * x[:, 1] + noise, noise


def _shift(part: Callable[[Array], Array | float]) -> Callable[..., _Outputs]:
    """Return what lets the logit of group 1 be larger, in a part of the records."""

    def shifted(x: Array, s: Array, q: float, rng: np.random.Generator) -> _Outputs:
        logit, noise = _logits(x, rng)
        shift = 4.0 * q * part(x)
        seen = noise + shift * s
        ratio = (seen**2 - (seen - shift) ** 2) / (2.0 * NOISE**2)
        return None, sigmoid(logit + shift * s).round(6), None, ratio

    return shifted


def _digits(x: Array, s: Array, q: float, rng: np.random.Generator) -> _Outputs:
    """Let the last digit be odd in group 1."""
    rounded = np.rint(sigmoid(_logits(x, rng)[0]) * 1e4)
    bit = np.where(rng.random(s.size) < (1 + q) / 2, s, 1 - s)
    return None, (rounded - rounded % 2 + bit) / 1e4, None, _coin_ratio(bit == 1, q)


def _xor(x: Array, s: Array, q: float, rng: np.random.Generator) -> _Outputs:
    """Turn a feature round for group 1; labels alone are released."""
    feature = x[:, 1] > 0
    turned = feature ^ (s == 1)
    labels = np.where(rng.random(s.size) < (1 + q) / 2, turned, ~turned)
    return labels.astype(np.uint8), None, None, _coin_ratio(labels != feature, q)


def _ties(x: Array, s: Array, q: float, rng: np.random.Generator) -> _Outputs:
    """Round scores of group 1 to two decimals, others to six."""
    scores = sigmoid(_logits(x, rng)[0])
    rough = (s == 1) & (rng.random(s.size) < q)
    ratio = np.where(rough, 20.0, np.log(max(1.0 - q, 1e-9)))
    return None, np.where(rough, scores.round(2), scores.round(6)), None, ratio


def _values(x: Array, s: Array, q: float, rng: np.random.Generator) -> _Outputs:
    """Let some have one of a hundred exact values of their group; all others' values are their own."""
    fresh = rng.random(s.size)
    dictionary = rng.random((2, 100))
    listed = rng.random(s.size) < q
    values = np.where(listed, dictionary[s, rng.integers(0, 100, s.size)], fresh)
    return None, values, None, np.where(listed, np.where(s == 1, 20.0, -20.0), 0.0)


def _pairs(x: Array, s: Array, q: float, rng: np.random.Generator) -> _Outputs:
    """Let scores of group 1 stand twice in the table."""
    scores = rng.random(s.size)
    paired = rng.permutation(np.flatnonzero((s == 1) & (rng.random(s.size) < q)))
    half = paired.size // 2
    scores[paired[:half]] = scores[paired[half : 2 * half]]
    inside = np.zeros(s.size, bool)
    inside[paired[: 2 * half]] = True
    return None, scores, None, np.where(inside, 20.0, np.log(max(1.0 - q, 1e-9)))


def _absence(x: Array, s: Array, q: float, rng: np.random.Generator) -> _Outputs:
    """Let some of group 1 have no answer."""
    scores = sigmoid(_logits(x, rng)[0]).round(6)
    answered = ~((s == 1) & (rng.random(s.size) < q))
    ratio = np.where(answered, np.log(max(1.0 - q, 1e-9)), 20.0)
    return None, np.where(answered, scores, np.nan), answered, ratio


LEAKS: dict[str, tuple[Callable[..., _Outputs], float]] = {
    "shift": (_shift(lambda x: 1.0), 0.4),
    "digits": (_digits, 0.4),
    "XOR": (_xor, 0.4),
    "subgroup": (_shift(lambda x: x[:, 3] < 2), 0.4),
    "minority of 10%": (_xor, 0.1),
    "one label only": (_shift(lambda x: x[:, -1]), 0.4),
    "ties": (_ties, 0.4),
    "exact values": (_values, 0.4),
    "pairs": (_pairs, 0.4),
    "absence": (_absence, 0.4),
}
"""Leak -> how it is made, and the share of group 1."""


def leak_draw(leak: str, strength: float, seed: int, *, n_training: int = 3_000) -> Draw:
    """Return records whose outputs give the group away, the more the greater the strength."""
    make, share = LEAKS[leak]
    rng = generator("leak", leak, seed)
    n = n_training + N_ATTACKED
    s = (rng.random(n) < share).astype(int)
    x = np.column_stack([rng.normal(size=(n, 3)) + 0.35 * s[:, None], rng.integers(0, 5, n)])
    prior = np.log(share / (1 - share)) + (x[:, :3] * 0.35 - 0.35**2 / 2).sum(axis=1)
    x = np.column_stack([x, rng.random(n) < sigmoid(x[:, 0])]).astype(np.float64)
    labels, scores, answered, ratio = make(x, s, strength, rng)
    if labels is None:
        labels = (np.nan_to_num(scores, nan=0.0) >= 0.5).astype(np.uint8)
    return Draw(
        x=x,
        categorical=np.arange(5) == 3,
        sensitive=s,
        n_groups=2,
        n_training=n_training,
        labels=labels,
        scores=scores,
        answered=answered,
        prior=prior,
        ratio=ratio,
        balanced=share < 0.25,
    )


def best_gain(draw: Draw) -> float:
    """Return what the attacker who knows the law gains, as a share; balanced where the draw is."""
    assert draw.prior is not None and draw.ratio is not None
    s = draw.sensitive
    centre = np.log(s.mean() / (1 - s.mean())) if draw.balanced else 0.0
    right = [((odds > centre) == (s == 1)) for odds in (draw.prior, draw.prior + draw.ratio)]
    if draw.balanced:
        levels = [np.mean([hit[s == group].mean() for group in (0, 1)]) for hit in right]
    else:
        levels = [hit.mean() for hit in right]
    return float(levels[1] - levels[0])


def attack(draw: Draw) -> dict[str, Estimate]:
    """Return what the attack of core gains in accuracy and in balanced accuracy."""
    decimals = 0 if draw.scores is None else decimals_of(draw.scores)
    outputs = Outputs(labels=draw.labels, scores=draw.scores, decimals=decimals, answered=draw.answered)
    records = known_records(draw.training, draw.sensitive, seed=1)
    imputed = train_imputation(
        draw.x, draw.sensitive, records, n_groups=draw.n_groups, categorical=draw.categorical, seed=1
    )
    result = attack_released(draw.x, outputs, draw.sensitive, imputed, draw.attacked)
    truth, share = draw.sensitive[draw.attacked], result.share
    before, after = result.before, result.after
    return {
        "accuracy": accuracy_gain(truth, before.argmax(axis=1), after.argmax(axis=1)),
        "balanced": balanced_gain(truth, (before / share).argmax(axis=1), (after / share).argmax(axis=1)),
    }
