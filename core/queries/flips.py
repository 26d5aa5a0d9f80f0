"""Recovery by models that differ for one person: single query, double query, and algorithm 1 in closed form.

Algorithm 1 of Hamman et al. (2023) flips one person's score at a time, h_i → 1 − h_i, and solves n linear equations
whose matrix is badly conditioned (10³ to 10⁶). No system is needed. With SP_0 the base model's own gap,

    SP_i = SP_0 + (1 − 2 h_i) v_i,     Σ v_i = 0,     SP_0 = Σ h_i v_i,

so the sum of all answers is n SP_0 + 0 − 2 SP_0, whatever the base scores:

    SP_0 = Σ SP_i / (n − 2),           v_i = (SP_i − SP_0) / (1 − 2 h_i).

A base score of exactly 1/2 is its own flip: it hides its person, and its answer is SP_0. If the last answer is
missing, Σ_{i<n} SP_i = (n − 3) SP_0 − (1 − 2 h_n) v_n and Σ_{i<n} (SP_i − SP_0)/(1 − 2 h_i) = −v_n give SP_0 and v_n.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.queries.checks import Floats, answer_array, score_matrix
from core.queries.recovery import Recovery, RecoveryStatus

SAME = 1e-12  # scores nearer than this cannot be told apart by their answers


def reveal_single(answer: float) -> int:
    """Return the attribute of the only person a model accepts, from its gap: 1/N1 or −1/N0 (example 1)."""
    if not math.isfinite(answer) or answer == 0.0:
        raise InputError(f"answer must be 1/N1 or -1/N0 for a model that accepts one person, got {answer!r}.")
    return int(answer > 0.0)


def reveal_double(answers: tuple[float, float], scores: tuple[float, float]) -> int:
    """Return the attribute of the one person about whom two models differ (example 2).

    Parameters
    ----------
    answers : tuple of 2 floats
        The gaps of the two models.
    scores : tuple of 2 floats in [0, 1]
        What either gives that person.
    """
    step = float(np.diff(score_matrix(scores, n=2)[0])[0])
    if abs(step) < SAME:
        raise InputError(f"scores of the two models must differ for the person asked about, got {scores[0]} twice.")
    return reveal_single((answers[1] - answers[0]) / step)


def reveal_flips(base_scores: npt.ArrayLike, answers: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    """Return the attribute recovered by algorithm 1, shape (n,), 1 = advantaged: `recover_flips` without the rest."""
    return recover_flips(base_scores, answers).recovered


def recover_flips(base_scores: npt.ArrayLike, answers: npt.ArrayLike) -> Recovery:
    """Recover everybody's attribute from the gaps of n models, the i-th flipping person i (algorithm 1).

    Parameters
    ----------
    base_scores : array-like of shape (n,), in [0, 1]
        The base model's scores; its own gap is not needed.
    answers : array-like of shape (n,) or (n - 1,)
        The gaps; the last person's may be missing.

    Returns
    -------
    Recovery
        People with a base score of 1/2 have the value nan. They are given the attribute the sizes leave for them where
        all of them must share one, and otherwise that of most of them.

    Raises
    ------
    InputError
        If there are fewer than two people, or neither n nor n - 1 answers.
    """
    rows, sp = score_matrix(base_scores), answer_array(answers)
    n = rows.shape[1]
    if len(rows) != 1 or n < 2:
        raise InputError(f"base_scores must have one score for each of two people or more, got shape {rows.shape}.")
    if sp.size not in (n, n - 1):
        raise InputError(f"answers must be {n} or {n - 1} for {n} people, got {sp.size}.")
    v = _gap_weights(rows[0], sp)
    if np.isnan(v).all():
        told = "These flips cancel out: the answers are the same whoever is advantaged."
        return Recovery(
            values=None, threshold=None, recovered=np.ones(n, np.uint8), status=RecoveryStatus.UNDETERMINED, reason=told
        )
    return _read(v)


def _gap_weights(h: Floats, sp: Floats) -> Floats:
    """Return v, nan for whoever stays hidden."""
    n, told = h.size, sp.size
    d = 1.0 - 2.0 * h
    seen = np.abs(d) > SAME
    if n == 2:
        turn = 1.0 - h.sum()  # SP_1 = turn v_1 = -SP_2
        v_first = sp[0] / turn if abs(turn) > SAME else np.nan
        return np.array([v_first, -v_first])
    base = sp.sum() / (n - 2) if told == n else _base_without_last(d, sp)
    v = np.full(n, np.nan)
    known = seen[:told]
    v[:told][known] = (sp[known] - base) / d[:told][known]
    if told < n and seen[-1]:
        v[-1] = ((n - 3) * base - sp.sum()) / d[-1]
    if np.isnan(v).sum() == 1:
        v[np.isnan(v)] = -np.nansum(v)
    return v


def _base_without_last(d: Floats, sp: Floats) -> float:
    """Return SP_0 from n - 1 answers; nan where they leave it open."""
    first, last, n = d[:-1], d[-1], d.size
    hidden = np.abs(first) <= SAME
    if hidden.any():
        return float(sp[hidden].mean())
    denominator = n - 3 - last * (1.0 / first).sum()
    return float((sp.sum() - last * (sp / first).sum()) / denominator) if abs(denominator) > SAME * n else math.nan


def _read(v: Floats) -> Recovery:
    """Turn v into s = 1/N1 - v and the attribute, with what the sizes say about the hidden."""
    n, hidden = v.size, np.isnan(v)
    sizes = [1.0 / np.median(side) for side in (v[v > 0], -v[v < 0]) if side.size]
    n_adv = sizes[0] if (v > 0).any() else n - sizes[0] if sizes else n / 2
    n_adv = min(max(round(float(n_adv)), 1), n - 1)
    c = 1.0 / n_adv + 1.0 / (n - n_adv)
    recovered = (v > 0).astype(np.uint8)
    left = n_adv - int(recovered.sum())  # the advantaged among the hidden
    recovered[hidden] = 2 * left >= hidden.sum()
    alike = left in (0, int(hidden.sum()))
    reason = "" if alike or not hidden.any() else f"{hidden.sum()} people have a score of 1/2, which hides them."
    return Recovery(
        values=1.0 / n_adv - v, threshold=c / 2, recovered=recovered, status=RecoveryStatus.RECOVERED, reason=reason
    )
