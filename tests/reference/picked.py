"""FairPick and its control before a DP-ID3 tree without noise, attacked as published."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core.datasets import load
from core.membership import (
    CurvePoint,
    MemberPeople,
    MembershipSettings,
    Train,
    default_depth,
    fairpick_curve,
    member_people,
)
from core.membership.targets import id3_target
from core.seeds import child_generator

Points = dict[tuple[str, float], list[CurvePoint]]


def people_of(name: str, folder: Path) -> MemberPeople:
    """Return everybody in a table of the catalogue, women the first group."""
    table = load(name, data_folder=folder)
    (roles,) = [roles for roles in table.roles if roles.sensitive == "sex"]
    return member_people(table, roles)


def blind(people: MemberPeople) -> Train:
    """Return a target that gives nothing away: trained on as many people, whoever is a member."""
    train = id3_target(people, max_depth=default_depth(people))
    half = np.arange(people.n)

    def answers(rows: np.ndarray, seed: int) -> np.ndarray:
        drawn = child_generator(seed, "whoever is a member").permutation(half)[: rows.size]
        return train(np.sort(drawn), seed)

    return answers


def trials(people: MemberPeople, *, thetas: Sequence[float], repeats: int, train: Train | None = None) -> Points:
    """Return, by what was done and theta, one point a repeat."""
    settings = MembershipSettings(max_depth=default_depth(people), seed=0)
    found: Points = {}
    for point in fairpick_curve(people, settings, thetas=thetas, repeats=repeats, train=train):
        found.setdefault((point.variant, point.at), []).append(point)
    return found


def mean(points: Sequence[CurvePoint], name: str) -> float:
    """Return the mean of one quantity."""
    return float(np.mean([getattr(point, name) for point in points]))
