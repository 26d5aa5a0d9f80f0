"""Examples to teach with: small cases, computed by the package's own methods, every step with its numbers."""

from core.examples.catalogue import EXAMPLES, example, sheet
from core.examples.example import Answer, Example, ExampleTable, Step, texts

__all__ = ["EXAMPLES", "Answer", "Example", "ExampleTable", "Step", "example", "sheet", "texts"]
