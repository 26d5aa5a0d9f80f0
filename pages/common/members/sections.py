"""The sections below the charts of membership inference: one is drawn, for the model of the controls."""

from __future__ import annotations

from importlib import import_module

from pages.common.members.work import Grown, Membership

__all__ = ["draw"]


def draw(name: str, work: Membership, grown: Grown) -> None:
    """Draw a section by its name, which is that of its module."""
    import_module(f"pages.common.members.{name}").draw(work, grown)
