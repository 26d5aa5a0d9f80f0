"""Attacks on membership, one a file.

Each says of the judged people how much speaks for their having been trained on. A file is named as its attack and
declares it as `ATTACK`; that is all it takes to be used by page, command and audit, and to be listed in the docs.
"""

import importlib
import pkgutil
from collections.abc import Collection
from dataclasses import replace

from ..attack import Attack

__all__ = ["REGISTRY", "attacks_on"]


def _attacks_in(folders: list[str]) -> dict[str, Attack]:
    """Return the attacks that the files of this package declare, by name, the quickest first."""
    names = [file.name for file in pkgutil.iter_modules(folders)]
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    attacks: list[Attack] = [replace(module.ATTACK, name=name) for name, module in modules.items()]
    return {attack.name: attack for attack in sorted(attacks, key=lambda attack: attack.turn)}


REGISTRY = _attacks_in(list(__path__))
"""Name of an attack -> the attack, the quickest first."""


def attacks_on(
    released: str, *, shadows: bool, queries: bool = True, names: Collection[str] = ()
) -> tuple[Attack, ...]:
    """Return the attacks on "scores" or "labels", with or without shadow models and query access.

    They are those of every audit, or those of these names.
    """
    available = {"shadows": shadows, "queries": queries, "scores": released == "scores"}
    lacking = {name for name, at_hand in available.items() if not at_hand}
    chosen = [attack for attack in REGISTRY.values() if released in attack.uses]
    if names:
        chosen = [attack for attack in REGISTRY.values() if attack.name in names]
    return tuple(attack for attack in chosen if not attack.needs & lacking)
