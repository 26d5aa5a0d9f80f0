"""One seed, many independent generators: each use of chance has a name, and its own child of the seed.

Two uses never share numbers because their names differ, and adding a third changes neither.
"""

from __future__ import annotations

import hashlib

import numpy as np

from .validation import seed_value


def _child(seed: int, name: str) -> np.random.SeedSequence:
    digest = hashlib.sha256(name.encode()).digest()
    entropy = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.SeedSequence([seed_value(seed), *entropy])


def child_generator(seed: int, name: str) -> np.random.Generator:
    """Return the generator of this name under a seed; same seed and name, same numbers."""
    return np.random.default_rng(_child(seed, name))


def child_seed(seed: int, name: str) -> int:
    """Return the seed of this name under a seed, in [0, 2**32 - 1], for libraries that want a number."""
    return int(_child(seed, name).generate_state(1)[0])
