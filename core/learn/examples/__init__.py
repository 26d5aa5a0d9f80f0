"""Worked examples: small cases, computed by the package's own methods, and a lesson that uses them."""

from .catalogue import EXAMPLES, LESSON, example, lesson, sheet
from .example import Answer, Example, ExampleTable, Step, texts

__all__ = [
    "EXAMPLES",
    "LESSON",
    "Answer",
    "Example",
    "ExampleTable",
    "Step",
    "example",
    "lesson",
    "sheet",
    "texts",
]
