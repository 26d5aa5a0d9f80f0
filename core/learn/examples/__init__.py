"""Worked examples: small cases, computed by the package's own methods, and a lesson that uses them."""

from core.learn.examples.catalogue import EXAMPLES, LESSON, example, lesson, sheet
from core.learn.examples.example import Answer, Example, ExampleTable, Step, texts

__all__ = ["EXAMPLES", "LESSON", "Answer", "Example", "ExampleTable", "Step", "example", "lesson", "sheet", "texts"]
