"""A model file that has answered about the session's own table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.datasets.dataset import Table

if TYPE_CHECKING:
    from core.models.files import ModelFile

__all__ = ["OwnModel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnModel:
    """A model file, the table it was asked about, and where its answers stand.

    Attributes
    ----------
    model_file : ModelFile
    name : str
        The file's name.
    asked : Table
        Without the model's answers.
    prediction, score : str
        What the columns of its answers are called in the session's table.
    threshold : float
    features : tuple of str
        The columns it takes, where its file does not name them.
    positive : str
        The answer that counts as 1.
    """

    model_file: ModelFile = field(repr=False)
    name: str
    asked: Table = field(repr=False)
    prediction: str
    score: str
    threshold: float
    features: tuple[str, ...]
    positive: str
