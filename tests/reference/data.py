"""Where the data of the papers lie, the marks of tests that need them, and Adult by sex, audited at tolerance 0."""

import os
from functools import cache
from pathlib import Path

import pytest

from core.datasets import build_dataset, load
from core.studies.correction import run
from core.studies.subject import AuditConfig, subject_of
from tests.zhang_protocol import member_people

FOLDER = Path(os.environ.get("FAIRLEAK_DATA", "/nowhere"))
RATINGS = FOLDER / "google_play_ratings"


def _needs(name, file):
    reason = f"{name} is not here: set FAIRLEAK_DATA to a folder with {file}"
    return pytest.mark.skipif(not (FOLDER / file).is_file(), reason=reason)


needs_adult = _needs("Adult", "adult/adult.data")
needs_compas = _needs("COMPAS", "compas/compas_two_years.csv")
needs_ratings = _needs("The Google Play ratings", "google_play_ratings/train_user.txt")

CONFIG = AuditConfig(dataset="adult", tolerance=0.0, seed=42)


@cache
def table_of(name):
    return load(name, data_folder=FOLDER)


@cache
def members_of(name):
    """Return everybody in a table of the catalogue, women the first group."""
    return member_people(table_of(name), table_of(name).roles[0])


@cache
def adult_by_sex():
    return build_dataset(table_of("adult"), table_of("adult").roles[0])


@cache
def adult_subject():
    return subject_of(CONFIG, adult_by_sex())


@cache
def adult_findings():
    return run(CONFIG, dataset=adult_by_sex())
