"""Small tables of made-up people and their splits, for tests of membership attacks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.datasets import Roles, Table
from core.fingerprint import fingerprint_frame
from core.membership import MemberPeople, MembershipSplit, member_people, member_split

ROLES = Roles(label="hired", positive="yes", sensitive="origin", group=("north",))


def frame(n: int = 400, *, seed: int = 0) -> pd.DataFrame:
    """Return n people with a number, gaps in it, three texts and a label that follows the number a little."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(size=n).round(2)
    return pd.DataFrame(
        {
            "skill": np.where(rng.random(n) < 0.1, np.nan, skill),
            "town": rng.choice(["hill", "lake", "port"], n),
            "guild": rng.choice(["", "smith", "cook"], n, p=[0.2, 0.4, 0.4]),
            "origin": np.where(rng.random(n) < 0.4, "north", "south"),
            "hired": np.where(skill + rng.normal(size=n) > 0, "yes", "no"),
        }
    ).replace({"guild": {"": None}})


def table(n: int = 400, *, seed: int = 0) -> Table:
    """Return these people as a table."""
    people = frame(n, seed=seed)
    return Table(
        name="village",
        title="Village",
        frame=people,
        source="Made.",
        fingerprint=fingerprint_frame(people),
        roles=(ROLES,),
    )


def villagers(n: int = 400, *, seed: int = 0) -> MemberPeople:
    """Return these people, ready for an audit."""
    return member_people(table(n, seed=seed), ROLES)


def half(n: int, *, seed: int = 0) -> MembershipSplit:
    """Return a split that knows 30 % and judges 50 %."""
    return member_split(n, seed=seed, known_share=0.3, judged_share=0.5)


def remembered(split: MembershipSplit, n: int, *, seed: int = 0, share: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """Return answers and labels of a model that is sure of this share of its members, and of few others."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n).astype(np.uint8)
    sure = rng.random(n) < np.where(np.isin(np.arange(n), split.members), share, 0.2)
    told = np.where(sure, 0.95, 0.6)
    return np.where(labels == 1, told, 1 - told), labels
