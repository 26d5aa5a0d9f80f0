"""Whose records AttriGuard protects: those of an audited table, or people's ratings; no model is needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ...base.errors import DataUnavailableError
from ...base.serialize import Result
from ...datasets.dataset import AuditDataset
from ...datasets.ratings import Ratings, demo_ratings, read_ratings
from ..config import AuditConfig
from .defense import Defense, RatingsDefense, TableDefense
from .settings import AttriGuardSettings
from .table import audit_people

RATINGS = "ratings"
"""What a command calls the Google Play ratings, and a configuration any ratings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedRecords(Result):
    """A table or ratings, with the configuration that divides them and sets the seed."""

    dataset: AuditDataset | Ratings = field(repr=False)
    config: AuditConfig

    @property
    def attribute(self) -> str:
        """What the sensitive attribute is called."""
        return self.dataset.attribute if isinstance(self.dataset, Ratings) else self.dataset.roles.attribute


def defense_of(dataset: AuditDataset | Ratings, config: AuditConfig, settings: AttriGuardSettings) -> Defense:
    """Return AttriGuard set up on a table, where known are the records the audit's attacker knows, or on ratings."""
    if isinstance(dataset, Ratings):
        return RatingsDefense(dataset, settings, seed=config.seed)
    return TableDefense(audit_people(config, dataset), settings, seed=config.seed)


def google_play(folder: Path | None, seed: int) -> ProtectedRecords:
    """Return the Google Play ratings of a folder of data; DataUnavailableError where there is none."""
    if folder is None:
        raise DataUnavailableError(
            "The Google Play ratings cannot be downloaded; name their folder with --data or FAIRLEAK_DATA, or use "
            "--dataset demo_ratings."
        )
    return ratings_subject(read_ratings(folder), seed)


def synthetic(folder: Path | None, seed: int) -> ProtectedRecords:
    """Return the synthetic ratings."""
    return ratings_subject(demo_ratings(), seed)


def ratings_subject(ratings: Ratings, seed: int = 42) -> ProtectedRecords:
    """Return people's ratings, as the study takes them."""
    return ProtectedRecords(dataset=ratings, config=AuditConfig(dataset=RATINGS, seed=seed))
