"""FairLeak's computations: what a model with a fairness constraint reveals about the people in its training set.

Arrays in, frozen results out. Nothing in this package imports Streamlit, prints, or reads a path it was not given.
`audit` is a whole release audit in one call, `experiment` one of many plans: ``from core import audit, experiment``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

# onnxruntime calls its vendor and keeps a device's number unless this is said before it is imported.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

if TYPE_CHECKING:
    from .cli.notebook import audit, experiment

__all__ = ["__version__", "audit", "experiment"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Return `audit` or `experiment`, whose libraries are loaded at their first use."""
    if name in ("audit", "experiment"):
        from .cli import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
