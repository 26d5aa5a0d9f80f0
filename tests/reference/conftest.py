"""Adult by sex and its audit at tolerance 0, made once for all tests of the papers' tables."""

import pytest

from core.datasets import build_dataset, load
from core.studies.correction import run
from core.studies.subject import AuditConfig, subject_of
from tests.reference.data import FOLDER


@pytest.fixture(scope="session")
def adult():
    table = load("adult", data_folder=FOLDER)
    return build_dataset(table, table.roles[0])


CONFIG = AuditConfig(dataset="adult", tolerance=0.0, seed=42)


@pytest.fixture(scope="session")
def subject(adult):
    return subject_of(CONFIG, adult)


@pytest.fixture(scope="session")
def findings(adult):
    return run(CONFIG, dataset=adult)
