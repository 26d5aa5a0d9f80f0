"""Where the data of the papers lie, and the marks of tests that need them."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("FAIRLEAK_DATA", "/nowhere"))
RATINGS = FOLDER / "google_play_ratings"


def _needs(name, file):
    reason = f"{name} is not here: set FAIRLEAK_DATA to a folder with {file}"
    return pytest.mark.skipif(not (FOLDER / file).is_file(), reason=reason)


needs_adult = _needs("Adult", "adult/adult.data")
needs_compas = _needs("COMPAS", "compas/compas_two_years.csv")
needs_ratings = _needs("The Google Play ratings", "google_play_ratings/train_user.txt")
