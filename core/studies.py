"""The studies there are: a package of core with a `STUDY` in its study.py is one, and is on the list by that alone."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import core
from core.study import Study


def _found() -> Iterator[Study[Any, Any]]:
    for file in sorted(Path(core.__path__[0]).glob("*/study.py")):
        study = getattr(importlib.import_module(f"core.{file.parent.name}.study"), "STUDY", None)
        if study is not None:
            yield study


STUDIES: dict[str, Study[Any, Any]] = {study.name: study for study in _found()}
"""Name -> study: what page, command, report, policy and sweep read."""
