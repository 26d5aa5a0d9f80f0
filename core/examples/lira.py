"""LiRA on eight people with three shadow models each way: the likelihood ratio by hand (Carlini et al. 2022).

A high score of the target model says little by itself: some people are easy for every model. LiRA compares the score
with what models trained with and without this person say of the same person.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.estimates import accuracy_gain
from core.examples.example import Example, compose, number, numbers, signed
from core.membership import REGISTRY, Evidence, MembershipSplit
from core.membership.evidence import Shadows

_Floats = npt.NDArray[np.float64]

_TARGET = np.array([4.0, 3.5, 2.0, -1.0, 2.0, 2.5, 4.0, 1.0])
_INSIDE = np.array([4.0, 3.5, 2.0, 1.5, 3.0, 2.5, 4.0, 1.0])
_OUTSIDE = np.array([4.0, 3.0, -1.0, -1.5, 2.0, 0.5, 4.0, -0.5])
_AROUND = np.array([[-0.5, 0.0, 0.5], [0.5, -0.5, 0.0], [0.0, 0.5, -0.5]])
"""Score φ of the target model, and of shadow models with and without a person: a mean, and how they lie around it."""

_MEMBERS = np.array([2, 5, 6, 7])  # counted from 0
_MOST = 4


def likelihood_ratio(name: str) -> Example:
    """Return the case of eight people, four of them members."""
    member = np.isin(np.arange(8), _MEMBERS)
    scores, shown = evidence(), shadow_scores()
    ratio = REGISTRY["lira"].judge(scores).score
    lira = np.round(ratio, 9) > 0
    confident = np.isin(_TARGET, np.sort(_TARGET)[-_MOST:])
    shadows = scores.shadow_models
    (inside, deviation), (outside, _) = (shadows.normal(used, False) for used in (shadows.inside, ~shadows.inside))
    gain = accuracy_gain(member, confident, lira)
    words = ("non-member", "member")
    rows = [
        (
            i + 1,
            number(_TARGET[i]),
            number(inside[i]),
            number(outside[i]),
            signed(float(ratio[i])),
            words[int(lira[i])],
            words[int(confident[i])],
            words[int(member[i])],
        )
        for i in range(8)
    ]
    return compose(
        name,
        {
            "target": float(_TARGET[2]),
            "inside": numbers(shown[0][2]),
            "inside_mean": float(inside[2]),
            "outside": numbers(shown[1][2]),
            "outside_mean": float(outside[2]),
            "variance": float(deviation[0] ** 2),
            "twice": float(2 * deviation[0] ** 2),
            "hard": float(ratio[2]),
            "easy": float(ratio[0]),
            "probability": float(1 / (1 + np.exp(-_TARGET[2]))),
            "members": numbers(_MEMBERS + 1.0),
            "flagged": numbers(np.flatnonzero(lira) + 1.0),
            "most": numbers(np.flatnonzero(confident) + 1.0),
            **_rates("lira", lira, member),
            **_rates("confident", confident, member),
            "low": gain.low * 100,
            "high": gain.high * 100,
        },
        right="Person 3",
        table=(
            ("Person", "Target model", "Shadows trained with the person", "Shadows trained without"),
            ((i + 1, number(_TARGET[i]), numbers(shown[0][i]), numbers(shown[1][i])) for i in range(8)),
        ),
        tables={
            3: (("Person", "φ", "μ with", "μ without", "ln Λ", "LiRA", "Highest scores", "Truth"), rows),
        },
        marked=np.flatnonzero(lira != confident).tolist(),
    )


def shadow_scores() -> tuple[_Floats, _Floats]:
    """Return the scores φ of three shadow models with each person, and of three without, shape (8, 3) each."""
    around = _AROUND[np.arange(8) % 3]
    return _INSIDE[:, None] + around, _OUTSIDE[:, None] + around[:, ::-1]


def evidence() -> Evidence:
    """Return the eight people as the attack takes them: six shadow models, every person in three of them."""
    own = 1 / (1 + np.exp(-np.hstack(shadow_scores()).T))
    trained = np.repeat([[True], [False]], 3, axis=0) & np.ones(8, bool)
    everybody, nobody = np.arange(8), np.empty(0, dtype=np.int64)
    split = MembershipSplit(
        members=_MEMBERS,
        outsiders=np.setdiff1d(everybody, _MEMBERS),
        unseen=nobody,
        known_rows=nobody,
        judged_rows=everybody,
    )
    shadows = Shadows(n_judged=8, own=own, trained=trained, online=True)
    released = 1 / (1 + np.exp(-_TARGET))
    return Evidence(labels=np.ones(8, np.uint8), split=split, released=released, memo={"shadows": shadows})


def _rates(name: str, verdict: npt.NDArray[np.bool_], member: npt.NDArray[np.bool_]) -> dict[str, float]:
    """Return true-positive rate, false-positive rate and membership advantage of a verdict."""
    tpr, fpr = float(verdict[member].mean()), float(verdict[~member].mean())
    return {f"{name}_tpr": tpr, f"{name}_fpr": fpr, f"{name}_advantage": tpr - fpr}
