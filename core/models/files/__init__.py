"""Models that somebody else trained, brought as ONNX or skops files; pickles and their like are refused."""

from core.models.files.allowed_types import ALLOWED_TYPES
from core.models.files.answers import Answers
from core.models.files.given import AnsweredTable, with_answers
from core.models.files.kinds import KINDS, MAX_BYTES
from core.models.files.model_file import ModelFile, read_model

__all__ = [
    "ALLOWED_TYPES",
    "KINDS",
    "MAX_BYTES",
    "AnsweredTable",
    "Answers",
    "ModelFile",
    "read_model",
    "with_answers",
]
