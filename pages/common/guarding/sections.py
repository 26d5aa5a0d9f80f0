"""The sections below the charts of AttriGuard: one is drawn, at the budget of the slider."""

from __future__ import annotations

from importlib import import_module

import streamlit as st

from pages.common.guarding import controls
from pages.common.guarding.work import Guarding

__all__ = ["draw"]

_FOLLOWING = ("person", "cost", "others")  # what depends on the budget


def draw(name: str, work: Guarding) -> None:
    """Draw a section by its name, which is that of its module; what tells of all attackers follows as they come."""
    grown = work.wait_for_first()
    controls.stand(controls.budget(grown.study) if name in _FOLLOWING else None)
    st.fragment(_draw)(name, work)


def _draw(name: str, work: Guarding) -> None:
    grown = work.wait_for_first()
    import_module(f"pages.common.guarding.{name}").draw(work, grown, controls.budget(grown.study))
