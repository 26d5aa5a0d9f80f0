"""The policies FairLeak brings along: files like any other, beside this module."""

from __future__ import annotations

from importlib.resources import files

from core.policy.limits import Policy, read_policy


def default_policy() -> Policy:
    """Return the policy of a plan that names none."""
    return read_policy(default_text(), name="default.toml")


def predictions_policy() -> Policy:
    """Return the policy for given predictions: it asks only for what predicted labels can show."""
    return read_policy(predictions_text(), name="predictions.toml")


def default_text() -> str:
    """Return the file of `default_policy`, with its comments, to be copied and changed."""
    return _shipped("default.toml")


def predictions_text() -> str:
    """Return the file of `predictions_policy`, with its comments, to be copied and changed."""
    return _shipped("predictions.toml")


def _shipped(name: str) -> str:
    return files("core.policy").joinpath(name).read_text(encoding="utf-8")
