"""Attribute-Reveal: recovery of attributes from exact answers, in closed form or by linear programs.

Flips. Algorithm 1 of Hamman et al. (2023) flips one person's score at a time, h_i → 1 − h_i, and solves n linear
equations whose matrix is badly conditioned (10³ to 10⁶). No system is needed. With SP_0 the base model's own gap,

    SP_i = SP_0 + (1 − 2 h_i) v_i,     Σ v_i = 0,     SP_0 = Σ h_i v_i,

so the sum of all answers is n SP_0 + 0 − 2 SP_0, whatever the base scores:

    SP_0 = Σ SP_i / (n − 2),           v_i = (SP_i − SP_0) / (1 − 2 h_i).

A base score of exactly 1/2 is its own flip: it hides its person, and its answer is SP_0. If the last answer is
missing, Σ_{i<n} SP_i = (n − 3) SP_0 − (1 − 2 h_n) v_n and Σ_{i<n} (SP_i − SP_0)/(1 − 2 h_i) = −v_n give SP_0 and v_n.

Bits, not in the paper: for k people with scores 2^−i and everybody else's 0, the answer is

    SP = (T − K) / (2^(k−1) N1) − K / (2^(k−1) N0),     T = 2^k − 1,     K = Σ 2^(k−1−i) [person i is disadvantaged],

so K = (T/N1 − 2^(k−1) SP) / (1/N1 + 1/N0), whose binary digits are the attributes. Everything is computed in exact
fractions of the doubles 1/N1 and 1/N0; what remains is the rounding of the answering party's own sums, at times a
unit of K's last place. Hence the last step: among the neighbours of K, the one whose own answer comes nearest.

Partition (theorem 4). An absolute gap does not say which group is ahead: people can be parted in two, no more. With
n questions that is possible whatever the sizes. The first asks about a model accepting person 1 alone; the answer is
1/N_α, α their group. With unequal sizes everybody else is asked about alone. With equal sizes, where 1/N_α = 1/N_β,
everybody else is asked about together with person 1: 2/N_α for those of the same group, 0 for the others. (With unequal
sizes that test would compare |1/N_α − 1/N_β| with 2/N_α, which are the same when 3 N_β = N_α.)

Linear programs, for fewer answers than people (algorithm 2). With r = 1/N1 and s_j = r − v_j, which is 0 for the
advantaged and c = 1/N0 + 1/N1 for the disadvantaged, the answers SP = H v become H s = H r − SP (the published
equation 7 has the opposite sign, which recovers nobody). The programs are solved for x = s/c, an indicator of the
disadvantaged, so that every variable and every bound is about 1:

l1             min Σ|x|             H x = η/c          the paper's decoder
nonnegative    min Σ x              the same, x >= 0
box            min Σ w x            the same, 0 <= x <= 1 and Σ x = N0
sizes_unknown  min Σ s              (mean of the row − H) s = SP, s >= 0

The first two look for the smaller group, whichever it is: they need the vector they seek to be sparse. The last needs
no group size, because Σ v = 0 makes Σ s = n r: it assumes the disadvantaged to be the fewer, and takes the sizes for
which its solution is nearest to two values. With a prior p = P(advantaged), the most probable vector maximises
Σ x log(1 − p) + (1 − x) log p, so w = log(p/(1 − p)); without one w = 1, which the sum makes a constant and which
keeps the simplex on short paths.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ...base.errors import InputError
from ...base.validation import Floats, choice, probabilities
from .gaps import (
    answer_array,
    check_sizes,
    design_scores,
    most_questions,
    score_matrix,
)

Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DecodedAttribute:
    """What a decoder makes of one repeat.

    There is no solution where no attributes give these answers, as happens with noise, where the answers are the same
    for everybody's opposite, or where the solver stopped.
    """

    values: Floats
    """(n,): the higher, the more a person looks disadvantaged: P(disadvantaged), s/c, or the recovered vector s of
    equation 7 in Hamman et al. 2023, in the unit of the answers: 0 for the advantaged and c = 1/N0 + 1/N1 for the
    disadvantaged where the recovery is right. nan for people the answers say nothing about, and without a solution."""
    threshold: float
    """From where on somebody is called disadvantaged: c/2 of s. nan without a solution."""
    recovered: Bits
    """(n,), 0 or 1: 1 = called advantaged. Without a solution the attacker's guess before any answer: by the prior,
    those at least as likely advantaged as people are at large; without one, everybody in the larger group."""


def _unsolved(recovered: Bits) -> DecodedAttribute:
    """Return the attacker's guess before any answer."""
    return DecodedAttribute(
        values=np.full(recovered.size, np.nan), threshold=math.nan, recovered=recovered
    )


SAME = 1e-12  # answers do not distinguish scores nearer than this


def reveal_double(answers: tuple[float, float], scores: tuple[float, float]) -> int:
    """Return the attribute of the one person on whom two models differ (example 2).

    The answers are the gaps of the two models, the scores, in [0, 1], what either gives that person.
    """
    step = float(np.diff(score_matrix(scores, n=2)[0])[0])
    if abs(step) < SAME:
        raise InputError(
            f"scores of the two models must differ for the person asked about, got {scores[0]} twice."
        )
    alone = (
        answers[1] - answers[0]
    ) / step  # the gap of a model that accepts that person alone (example 1)
    if not math.isfinite(alone) or alone == 0.0:
        raise InputError(
            f"answers must be 1/N1 or -1/N0 apart for each unit of score, got {alone!r}."
        )
    return int(alone > 0.0)


def recover_flips(base_scores: npt.ArrayLike, answers: npt.ArrayLike) -> DecodedAttribute:
    """Recover everybody's attribute from the gaps of n models, the i-th flipping person i (algorithm 1).

    People with a base score of 1/2 have the value nan. They are given the attribute the sizes leave for them where all
    of them must share one, and otherwise that of most of them. Raises `InputError` if there are fewer than two people,
    or neither n nor n - 1 answers.

    Parameters
    ----------
    base_scores : array-like of shape (n,), in [0, 1]
        The base model's scores; its own gap is not needed.
    answers : array-like of shape (n,) or (n - 1,)
        The gaps; the last person's may be missing.
    """
    rows = score_matrix(base_scores)
    sp = answer_array(answers)
    n = rows.shape[1]
    if len(rows) != 1 or n < 2:
        raise InputError(
            f"base_scores must have one score for each of two people or more, got shape {rows.shape}."
        )
    if sp.size not in (n, n - 1):
        raise InputError(f"answers must be {n} or {n - 1} for {n} people, got {sp.size}.")
    v = _gap_weights(rows[0], sp)
    if np.isnan(v).all():
        # the flips cancel out: the answers are the same for every attribute
        return _unsolved(np.ones(n, np.uint8))
    return _read(v)


def _gap_weights(h: Floats, sp: Floats) -> Floats:
    """Return v, nan for people who stay hidden."""
    n = h.size
    m = sp.size
    d = 1.0 - 2.0 * h
    seen = np.abs(d) > SAME
    if n == 2:
        turn = 1.0 - h.sum()  # SP_1 = turn v_1 = -SP_2
        v_first = sp[0] / turn if abs(turn) > SAME else np.nan
        return np.array([v_first, -v_first])
    if m == n:
        base = sp.sum() / (n - 2)
    else:
        base = _base_without_last(d, sp)
    v = np.full(n, np.nan)
    mask = seen[:m]
    v[:m][mask] = (sp[mask] - base) / d[:m][mask]
    if m < n and seen[-1]:
        v[-1] = ((n - 3) * base - sp.sum()) / d[-1]
    if np.isnan(v).sum() == 1:
        v[np.isnan(v)] = -np.nansum(v)
    return v


def _base_without_last(d: Floats, sp: Floats) -> float:
    """Return SP_0 from n - 1 answers; nan where they leave it open."""
    first = d[:-1]
    last = d[-1]
    n = d.size
    hidden = np.abs(first) <= SAME
    if hidden.any():
        return float(sp[hidden].mean())
    denominator = n - 3 - last * (1.0 / first).sum()
    if abs(denominator) > SAME * n:
        return float((sp.sum() - last * (sp / first).sum()) / denominator)
    return math.nan


def _read(v: Floats) -> DecodedAttribute:
    """Turn v into s = 1/N1 - v and the attribute, with what the sizes say about the hidden."""
    n = v.size
    hidden = np.isnan(v)
    sizes = [1.0 / np.median(side) for side in (v[v > 0], -v[v < 0]) if side.size]
    if (v > 0).any():
        estimate = float(sizes[0])
    elif sizes:
        estimate = float(n - sizes[0])
    else:
        estimate = n / 2
    n_adv = min(max(round(estimate), 1), n - 1)
    c = 1.0 / n_adv + 1.0 / (n - n_adv)
    recovered = (v > 0).astype(np.uint8)
    left = n_adv - int(recovered.sum())  # the advantaged among the hidden
    recovered[hidden] = 2 * left >= hidden.sum()
    return DecodedAttribute(values=1.0 / n_adv - v, threshold=c / 2, recovered=recovered)


NEIGHBOURS = sorted(range(-16, 17), key=abs)


def reveal_bits(answers: npt.ArrayLike, n: int, *, n_advantaged: int, n_disadvantaged: int) -> Bits:
    """Recover the attribute from the gaps of the "bits" design, shape (n,), 1 = advantaged.

    People nobody asked about are given the larger group. Raises `InputError` if there are more answers than questions,
    an answer is not finite, or the sizes do not sum to n.

    Parameters
    ----------
    answers : array-like of shape (m,)
        At most one for every 50 people; exact, or the last people of each fifty drown.
    n : int
        Number of people.
    n_advantaged, n_disadvantaged : int
        Group sizes, summing to n.
    """
    sizes = check_sizes(n_advantaged, n_disadvantaged, n)
    sp = answer_array(answers)
    most = most_questions("bits", n) or 1
    if not 1 <= sp.size <= most:
        raise InputError(f"answers must be 1 to {most} for {n} people, got {sp.size}.")
    scores = design_scores("bits", np.zeros(n), sp.size, rng=np.random.default_rng(0))
    subsets = [np.flatnonzero(row) for row in scores]
    r, q = (Fraction(1.0 / size) for size in sizes)
    numbers = []  # K of the module's docstring, to the nearest
    for people, answer in zip(subsets, sp.tolist(), strict=True):
        k = people.size
        numbers.append(round((((1 << k) - 1) * r - (1 << (k - 1)) * Fraction(answer)) / (r + q)))
    tried = np.full((len(NEIGHBOURS), n), sizes[0] >= sizes[1], dtype=np.uint8)
    for attribute, step in zip(tried, NEIGHBOURS, strict=True):
        for people, number in zip(subsets, numbers, strict=True):
            digits = min(max(number + step, 0), (1 << people.size) - 1)
            attribute[people] = [1 - (digits >> bit & 1) for bit in reversed(range(people.size))]
    weights = np.where(tried == 1, 1.0 / sizes[0], -1.0 / sizes[1])
    away = np.array(
        [np.abs(scores @ v - sp) for v in weights]
    )  # a product at a time, as `statistical_parity_gap`
    recovered = tried[0].copy()
    for people, nearest in zip(subsets, away.argmin(axis=0), strict=True):
        recovered[people] = tried[nearest, people]
    return recovered


INTEGER_TOLERANCE = 1e-6  # how far 1/answer may lie from a whole number, relative to it


def partition_absolute(ask: Callable[[Floats], npt.ArrayLike], n: int) -> Bits:
    """Part n people, at least 2, by group with n absolute gaps: 1 for the larger group, shape (n,).

    With equal sizes 1 is for the first person's. `ask` takes scores of shape (k, n) and returns the k absolute gaps; it
    is called twice, for n rows in all. Raises `InputError` if n is below 2 or an answer cannot be an exact absolute
    gap.
    """
    if n < 2:
        raise InputError(f"n must be at least 2, got {n}.")
    alone = np.eye(n)
    first = float(_answers(ask(alone[:1]), 1)[0])
    size = _size(first, n)
    rest = alone[1:]
    if 2 * size == n:
        rest[:, 0] = 1.0
    answers = _answers(ask(rest), n - 1)
    same, different = (2 / size, 0.0) if 2 * size == n else (1 / size, 1 / (n - size))
    like_first = np.append(True, np.abs(answers - same) < np.abs(answers - different))
    return (like_first == (2 * size >= n)).astype(np.uint8)


def _size(answer: float, n: int) -> int:
    """Return the whole number `answer` is one over (remark 4)."""
    if 0.0 < answer <= 1.0 + INTEGER_TOLERANCE:
        size = round(1.0 / answer)
    else:
        size = 0
    if not 1 <= size < n or abs(answer * size - 1.0) > INTEGER_TOLERANCE:
        raise InputError(
            f"The answer to a model that accepts one of {n} people must be one over a group's size, got {answer!r}."
        )
    return size


def _answers(answers: npt.ArrayLike, k: int) -> Floats:
    gaps = answer_array(answers)
    if gaps.size != k:
        raise InputError(f"ask must return one answer for each of {k} questions, got {gaps.size}.")
    return gaps


TOLERANCE = 1e-6  # of a row, relative to its size; HiGHS works to 1e-7


def solve_program(
    cost: Floats,
    matrix: Floats,
    low: Floats,
    high: Floats,
    *,
    upper: float = np.inf,
    time_limit: float = 60.0,
) -> Floats | None:
    """Return the x (n,) of least cost · x with low <= matrix x <= high (m,) and 0 <= x <= upper.

    None where there is none, or none was found within the limit in seconds. HiGHS' dual simplex, without the presolve
    that takes as long as solving these dense programs. The matrix is passed as sparse: scipy turns dense ones over with
    all warnings made errors, in every thread of the process. A solution is handed on only after its rows and bounds
    were recomputed.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csc_array

    optimum = milp(  # without whole-numbered variables HiGHS solves the linear program itself
        cost,
        constraints=LinearConstraint(csc_array(matrix), low, high),
        bounds=Bounds(0.0, upper),
        options={"presolve": False, "time_limit": time_limit},
    )
    if optimum.status != 0 or optimum.x is None:
        return None
    x = np.clip(optimum.x, 0.0, upper)
    reached = matrix @ x
    room = TOLERANCE * (1.0 + np.abs(matrix) @ np.abs(x))
    if ((reached < low - room) | (reached > high + room)).any():
        return None
    return x


RECOVERY_METHODS = ("l1", "nonnegative", "box", "sizes_unknown")
SURE = 1e-9  # a prior nearer to 0 or 1 counts as this, so that its weight is finite


def recover_compressed(
    scores: npt.ArrayLike,
    answers: npt.ArrayLike,
    *,
    n_advantaged: int | None = None,
    n_disadvantaged: int | None = None,
    method: str = "l1",
    prior: npt.ArrayLike | None = None,
    slack: float = 0.0,
) -> DecodedAttribute:
    """Recover everybody's attribute from the statistical parity gaps of m models.

    Raises `InputError` if lengths differ, a value is out of its range, or the sizes are missing or do not sum to n.

    Parameters
    ----------
    scores : array-like of shape (m, n), in [0, 1]
        The models that were asked about; for equal opportunity, the columns of the people with label 1.
    answers : array-like of shape (m,)
        Their gaps, exact or not.
    n_advantaged, n_disadvantaged : int, at least 1, summing to n
        Group sizes; a question that accepts one person reveals them (remark 4). "sizes_unknown" does not look at them.
    method : str
        One of `RECOVERY_METHODS`.
    prior : array-like of shape (n,), in [0, 1]
        P(advantaged) before any answer; for "box" only.
    slack : float, at least 0
        Answers are known to within plus or minus this: half a step of rounding.
    """
    choice(method, RECOVERY_METHODS, name="method")
    h = score_matrix(scores)
    sp = answer_array(answers)
    if not (slack >= 0.0 and math.isfinite(slack)):
        raise InputError(f"slack must be at least 0, got {slack!r}.")
    if sp.size != len(h):
        raise InputError(
            f"answers must have one value for each of {len(h)} questions, got {sp.size}."
        )
    if prior is not None and method != "box":
        raise InputError(f"A prior needs the method box, got {method}.")
    if method == "sizes_unknown":
        return _without_sizes(h, sp, slack)
    if n_advantaged is None or n_disadvantaged is None:
        raise InputError(
            "n_advantaged and n_disadvantaged are needed, except with the method sizes_unknown."
        )
    n_adv, n_dis = sizes = check_sizes(n_advantaged, n_disadvantaged, h.shape[1])
    if prior is None:
        p = None
    else:
        p = np.clip(probabilities(prior, h.shape[1], name="prior"), SURE, 1.0 - SURE)
    c = 1.0 / n_dis + 1.0 / n_adv
    target = (h.sum(axis=1) / n_adv - sp) / c
    before = _before(sizes, p)
    if method == "box":
        return _recovery(_box(h, target, slack / c, n_dis, p), c, before=before)
    return _recovery(_sparse(h, target, slack / c, sizes, method), c, before=before)


def _box(
    h: Floats, target: Floats, room: float, n_disadvantaged: int, prior: Floats | None
) -> Floats | None:
    """Solve for 0 <= x <= 1 with the known sum."""
    if prior is None:
        weight = np.ones(h.shape[1])
    else:
        weight = np.log(prior) - np.log1p(-prior)
    matrix = np.vstack([h, np.ones(h.shape[1])])
    low = np.append(target - room, n_disadvantaged)
    high = np.append(target + room, n_disadvantaged)
    return solve_program(weight, matrix, low, high, upper=1.0)


def _sparse(
    h: Floats, target: Floats, room: float, sizes: tuple[int, int], method: str
) -> Floats | None:
    """Solve for the sparsest x, or for the sparsest 1 - x when the advantaged are the fewer."""
    n_advantaged, n_disadvantaged = sizes
    turned = n_advantaged < n_disadvantaged
    if turned:
        target = h.sum(axis=1) - target
    n = h.shape[1]
    signed = method == "l1"
    matrix = np.hstack([h, -h]) if signed else h
    x = solve_program(np.ones(matrix.shape[1]), matrix, target - room, target + room)
    if x is None:
        return None
    if signed:
        x = x[:n] - x[n:]
    if turned:
        return 1.0 - x
    return x


def _without_sizes(h: Floats, sp: Floats, room: float) -> DecodedAttribute:
    """Solve for s in the unit 1/n, then read the sizes off it."""
    n = h.shape[1]
    x = solve_program(
        np.ones(n), h.mean(axis=1)[:, np.newaxis] - h, n * (sp - room), n * (sp + room)
    )
    everybody = np.ones(n, dtype=np.uint8)
    if x is None:
        return _recovery(None, 1.0, before=everybody)
    s = x / n
    c = _nearest_two_values(s)
    return _recovery(s / c, c, before=everybody)


def _nearest_two_values(s: Floats) -> float:
    """Return c = 1/N0 + 1/N1 of the sizes for which s is nearest, relatively, to N0 times c and N1 times 0."""
    n = s.size
    n_dis = np.arange(1, n)
    c = 1.0 / n_dis + 1.0 / (n - n_dis)
    ideal = np.where(np.arange(n) < n_dis[:, np.newaxis], c[:, np.newaxis], 0.0)
    away = np.abs(np.sort(s)[::-1] - ideal).sum(axis=1) / (c * n_dis)
    return float(c[away.argmin()])


def _recovery(x: Floats | None, c: float, *, before: Bits) -> DecodedAttribute:
    if x is None:
        return _unsolved(before)
    return DecodedAttribute(values=x * c, threshold=c / 2, recovered=(x <= 0.5).astype(np.uint8))


def _before(sizes: tuple[int, int], prior: Floats | None) -> Bits:
    """Return what the attacker says without an answer: more likely advantaged than people are at large, or not."""
    if prior is not None:
        return (prior >= sizes[0] / sum(sizes)).astype(np.uint8)
    return np.full(sum(sizes), sizes[0] >= sizes[1], dtype=np.uint8)
