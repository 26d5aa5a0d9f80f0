"""All examples by name, in the order in which they are taught."""

from __future__ import annotations

from collections.abc import Callable

from core.errors import InputError
from core.examples.correction import correction_gains, correction_impossible, correction_loses
from core.examples.example import Example
from core.examples.guard_budget import guard_budget
from core.examples.guard_noise import guard_noise
from core.examples.members import fairpick_deletes, two_gaps
from core.examples.private_split import private_split
from core.examples.queries import flip_everybody, flip_one, noisy_answer

_MADE: dict[str, tuple[str, Callable[[str, str], Example]]] = {
    "correction": ("A promise that gives people away", correction_gains),
    "correction-loses": ("The same promise, and the attacker loses", correction_loses),
    "correction-impossible": ("A promise nobody can keep", correction_impossible),
    "flip": ("Two answers, one person", flip_one),
    "flips": ("One question a person", flip_everybody),
    "noise": ("An answer with noise", noisy_answer),
    "panda": ("Read as somebody from elsewhere", guard_noise),
    "budget": ("A budget of one change", guard_budget),
    "gaps": ("Who is more exposed?", two_gaps),
    "split": ("A question asked through noise", private_split),
    "fairpick": ("Leaving people out", fairpick_deletes),
}

EXAMPLES: dict[str, str] = {name: title for name, (title, _) in _MADE.items()}
"""Title of each example by its name."""


def example(name: str) -> Example:
    """Return an example, computed.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    if name not in _MADE:
        raise InputError(f"example must be one of {', '.join(_MADE)}, got {name!r}.")
    title, made = _MADE[name]
    return made(name, title)
