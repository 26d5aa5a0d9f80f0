"""Which configurations a sweep measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from core.config import AuditConfig
from core.errors import InputError

TOLERANCES = (
    0.0, 0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.125, 0.15, 0.175, 0.2,
)  # fmt: skip
"""Trained tolerances of the default curve: 18 values in [0, 0.2], denser near 0."""

PAPER_TOLERANCES = (
    0.0, 0.0005, 0.001, 0.0015, 0.002, 0.0025, 0.003, 0.004, 0.005, 0.006, 0.007, 0.0075, 0.008, 0.009, 0.01,
    0.0125, 0.015, 0.0175, 0.02, 0.0225, 0.025, 0.0275, 0.03, 0.035, 0.04, 0.045, 0.05, 0.055, 0.06, 0.065, 0.07,
    0.075, 0.08, 0.085, 0.09, 0.095, 0.1, 0.11, 0.12, 0.125, 0.13, 0.14, 0.15, 0.16, 0.17, 0.175, 0.18, 0.19, 0.2,
)  # fmt: skip
"""49 trained tolerances in [0, 0.2], denser near 0, as many and as far as in Ferry et al. (2023, IV-B3).

The paper prints their number and range, not the values. These hold all of `TOLERANCES`, so that a long sweep goes
on from a short one.
"""

SWEPT_METHODS = ("exponentiated_gradient",)
"""Methods that can be asked for a tolerance; each of the others is one point, at tolerance 0."""


def tolerance_configs(config: AuditConfig, tolerances: Sequence[float] = TOLERANCES) -> list[AuditConfig]:
    """Return the same audit at each trained tolerance."""
    return [replace(config, tolerance=float(t)) for t in tolerances]


def grid(
    base: AuditConfig,
    *,
    tolerances: Sequence[float] = TOLERANCES,
    methods: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
) -> list[AuditConfig]:
    """Return every combination of the values, seed by seed, each once.

    Raises `InputError` if a sequence is empty or a value breaks its rule.

    Parameters
    ----------
    base : AuditConfig
        Everything else; its epsilon is the private tree's alone.
    tolerances : sequence of float in [0, 1]
        Used by the methods that can be asked for a tolerance (`SWEPT_METHODS`); the others appear once for each
        metric and seed, with tolerance 0.
    """
    methods = (base.method,) if methods is None else methods
    metrics = (base.metric,) if metrics is None else metrics
    seeds = (base.seed,) if seeds is None else seeds
    for name, values in (("tolerances", tolerances), ("methods", methods), ("metrics", metrics), ("seeds", seeds)):
        if not len(values):
            raise InputError(f"{name} must hold at least one value, got none.")
    found = [
        replace(
            base,
            method=method,
            metric=metric,
            seed=seed,
            tolerance=float(tolerance),
            epsilon=base.epsilon if method == "dp_id3" else math.inf,
        )
        for seed, method, metric in product(seeds, methods, metrics)
        for tolerance in (tolerances if method in SWEPT_METHODS else (0.0,))
    ]
    return list(dict.fromkeys(found))
