"""The studies there are: a package of core with a `STUDY` in its study.py is one, and is on the list by that alone."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import core
from core.study import Study


def _found() -> Iterator[Study[Any, Any]]:
    for package in pkgutil.iter_modules(core.__path__, "core."):
        if package.ispkg and find_spec(f"{package.name}.study") is not None:
            study = getattr(importlib.import_module(f"{package.name}.study"), "STUDY", None)
            if study is not None:
                yield study


STUDIES: dict[str, Study[Any, Any]] = {study.name: study for study in _found()}
"""Name -> study: what page, command, report, policy and sweep read."""
