"""Invented ratings: people who do not exist, in cities that do not exist, and the apps they would rate.

Most ratings go to apps that are liked everywhere, in proportion to how well known they are and to a taste (one of five)
that has nothing to do with the city. Each city has some apps of its own (its trams, its newspaper), which few people
elsewhere rate: through them the city shows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.datasets.ratings import Ratings, build_ratings
from core.seeds import child_generator

_CITIES = ("Ardenholm", "Belcaro", "Corvale", "Dunmere", "Estrova", "Fennick", "Galdora", "Hollin")
_CITY_SHARES = (0.20, 0.17, 0.15, 0.13, 0.11, 0.10, 0.08, 0.06)
_LOCAL = ("trams", "parking", "news", "weather", "library", "football", "radio", "markets", "cinema", "museums")
_GENERAL = ("chat", "maps", "photos", "puzzle", "racing", "music", "recipes", "budget", "running", "languages")
_TASTES = 5
_PEOPLE, _ITEMS, _TEST = 3000, 600, 300
_LOCAL_APPS = 30  # of each city
_LOCAL_SHARE = 0.12  # of a person's ratings go to her city's own apps, and as much to those of all cities
_STARS = (0.2, 0.4, 0.6, 0.8, 1.0)
_STAR_SHARES = (0.04, 0.03, 0.07, 0.18, 0.68)

Floats = npt.NDArray[np.float64]


def demo_ratings(seed: int = 2018) -> Ratings:
    """Invent 3,000 people of 8 cities and their ratings of 600 apps; 300 of them keep their city to themselves.

    Parameters
    ----------
    seed : int, default=2018
        Same seed, same ratings.
    """
    from scipy import sparse

    rng = child_generator(seed, "demo ratings")
    city = rng.choice(len(_CITIES), size=_PEOPLE, p=_CITY_SHARES)
    taste = rng.integers(_TASTES, size=_PEOPLE)
    weights = _weights(city, taste, _appeal(rng))
    wanted = np.minimum(8 + rng.geometric(1 / 9, size=_PEOPLE), 80)
    # the apps with the largest (log weight + Gumbel noise) are a draw without replacement
    keys = np.log(weights) + rng.gumbel(size=weights.shape)
    order = np.argsort(-keys, axis=1)[:, : wanted.max()]
    rows = np.repeat(np.arange(_PEOPLE), wanted)
    columns = np.concatenate([order[i, :count] for i, count in enumerate(wanted)])
    stars = rng.choice(_STARS, size=rows.size, p=_STAR_SHARES)
    people = sparse.csr_array((stars, (rows, columns)), shape=(_PEOPLE, _ITEMS))
    labels = [_CITIES[i] for i in city]
    return build_ratings(
        (people[_TEST:], people[:_TEST]),
        (labels[_TEST:], labels[:_TEST]),
        title="Invented ratings",
        source="Synthetic: people, cities and ratings invented for demonstrations; there is no real person in it.",
        attribute="city",
        items=_item_names(),
        synthetic=True,
    )


def _appeal(rng: np.random.Generator) -> Floats:
    """Return how well known each app is among people of each taste, (tastes, items): few are, most are not."""
    known = 1.0 / (3.0 + rng.permutation(_ITEMS))
    group = rng.integers(_TASTES, size=_ITEMS)
    return np.asarray(known * np.where(group == np.arange(_TASTES)[:, None], 9.0, 0.4))


def _weights(city: npt.NDArray[np.int64], taste: npt.NDArray[np.int64], appeal: Floats) -> Floats:
    """Return how likely each person rates each app, up to scale, (people, items)."""
    local = np.arange(_ITEMS) // _LOCAL_APPS
    local[local >= len(_CITIES)] = -1
    everywhere = np.where(local < 0, appeal[taste], 0.0)
    everywhere /= everywhere.sum(axis=1, keepdims=True)
    fame = np.where(local >= 0, 1.0 / (1.0 + np.arange(_ITEMS) % _LOCAL_APPS), 0.0)
    own = np.where(local == city[:, None], fame, 0.0)
    own /= own.sum(axis=1, keepdims=True)
    anybody = fame / fame.sum()
    return np.asarray((1 - 2 * _LOCAL_SHARE) * everywhere + _LOCAL_SHARE * (own + anybody) + 1e-12)


def _item_names() -> list[str]:
    """Return a name an app: a city's own by the city, the others by what they do."""
    names = []
    for i in range(_ITEMS):
        city, place = divmod(i, _LOCAL_APPS)
        if city < len(_CITIES):
            again, kind = divmod(place, len(_LOCAL))
            names.append(f"{_CITIES[city]} {_LOCAL[kind]}{f' {again + 1}' if again else ''}")
        else:
            again, kind = divmod(i - len(_CITIES) * _LOCAL_APPS, len(_GENERAL))
            names.append(f"{_GENERAL[kind]} {again + 1}")
    return names
