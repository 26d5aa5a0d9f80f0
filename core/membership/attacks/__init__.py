"""Attacks on membership, one a file; each says of the judged people how much speaks for their having been trained on.

A file is named as its attack and declares it as `ATTACK`; that is all it takes to be attacked by it, to be listed, and
to be reported.
"""

import importlib
import pkgutil

from core.membership.attack import Attack

__all__ = ["ATTACKS", "ATTACK_TITLES", "FOUND", "found_in"]


def found_in(folders: list[str]) -> dict[str, Attack]:
    """Return the attacks that the files of this package declare, by name, the quickest first."""
    names = [file.name for file in pkgutil.iter_modules(folders)]
    attacks: list[Attack] = [importlib.import_module(f"{__name__}.{name}").ATTACK for name in names]
    return {attack.name: attack for attack in sorted(attacks, key=lambda attack: attack.turn)}


FOUND = found_in(list(__path__))
"""Name of an attack -> the attack."""

ATTACKS = tuple(name for name, attack in FOUND.items() if attack.studied)
"""Attacks of a membership audit, in the order they finish; a release audit has others beside them."""

ATTACK_TITLES = {name: attack.title for name, attack in FOUND.items()}
"""Name of an attack -> what it is called."""
