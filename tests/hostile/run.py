"""One hostile file tried as the product would: read, and asked about people if it is a model."""

from __future__ import annotations

from core.datasets import read_table
from core.errors import InputError
from core.models.model_files import read_model
from tests.hostile.models import MODELS
from tests.hostile.tables import TABLES
from tests.model_samples import NUMBERS, people

__all__ = ["tried"]


def tried(kind: str, content: bytes | None = None) -> str:
    """Return the sentence a file is refused with, or "" if it is read or answers."""
    name, made = {**MODELS, **TABLES}[kind]
    content = made() if content is None else content
    try:
        if kind in TABLES:
            read_table(content, name)
            return ""
        model = read_model(content, name)
        model.answers(people(), features=() if model.feature_names else NUMBERS[: model.width or 1])
    except InputError as error:
        told = str(error)
        assert told.endswith(".") and "\n" not in told and len(told) < 420, told
        return told
    return ""
