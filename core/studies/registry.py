"""Registry of the studies: a folder beside this file with a `STUDY` in its study.py is one."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .study import Study


def _discover() -> Iterator[Study[Any, Any]]:
    for file in sorted(Path(__file__).parent.glob("*/study.py")):
        module = importlib.import_module(f"{__package__}.{file.parent.name}.study")
        study = getattr(module, "STUDY", None)
        if study is not None:
            yield study


STUDIES: dict[str, Study[Any, Any]] = {
    study.name: study for study in sorted(_discover(), key=lambda study: study.name)
}
"""Name -> study: what page, command, report, policy and experiment read."""
