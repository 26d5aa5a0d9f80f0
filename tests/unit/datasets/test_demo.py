"""The built-in demo: reproducible, and with enough in it for every page to show something."""

import numpy as np
import pandas as pd
import pytest

from core.datasets import demo
from core.datasets.build import build_dataset
from core.datasets.dataset import AuditDataset
from core.datasets.demo import DEMO_FILE, DEMO_ROLES, demo_table
from core.datasets.splits import split
from core.errors import DataUnavailableError
from tests.oracles.demo_people import make_demo

SEX, ORIGIN, AGE = DEMO_ROLES


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return make_demo()


@pytest.fixture(scope="module")
def by_sex(frame) -> AuditDataset:
    return build_dataset(demo_table(frame), SEX)


@pytest.fixture(scope="module")
def by_origin(frame) -> AuditDataset:
    return build_dataset(demo_table(frame), ORIGIN)


def halves(dataset: AuditDataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features with the label, and the rows the attacker learns from and is judged on."""
    rows = np.random.default_rng(0).permutation(dataset.n)
    known = np.column_stack([dataset.features, dataset.labels])
    return known, rows[: dataset.n // 2], rows[dataset.n // 2 :]


def test_the_kept_table_is_what_the_generator_makes(frame):
    pd.testing.assert_frame_equal(pd.read_csv(DEMO_FILE), frame)
    assert demo_table().fingerprint == demo_table(frame).fingerprint
    assert DEMO_FILE.stat().st_size < 1_200_000


def test_the_table_says_that_nobody_is_real():
    table = demo_table()
    assert table.synthetic
    assert not table.uploaded
    assert table.source.startswith("Synthetic") and "no real person" in table.source


def test_a_missing_file_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "DEMO_FILE", tmp_path / "none.csv")
    with pytest.raises(DataUnavailableError, match=r"demo_loans\.csv is missing"):
        demo_table()


def test_sizes_shares_and_missing_cells(frame, by_sex, by_origin):
    assert frame.shape == (12_000, 17)
    assert by_sex.n == by_origin.n == 12_000
    assert by_sex.features.shape[1] == 15
    assert by_sex.groups()[0].share == pytest.approx(1 / 3, abs=0.01)
    assert 0.10 <= by_origin.groups()[0].share <= 0.13
    missing = frame.isna().mean()
    assert sorted(missing[missing > 0].index) == ["savings", "sector", "years_at_address"]
    assert missing[missing > 0].between(0.015, 0.06).all()


def test_labels_are_biased_against_both_groups(by_sex, by_origin):
    for dataset in (by_sex, by_origin):
        first, others = dataset.groups()
        assert others.label_rate.value - first.label_rate.value > 0.12
    assert 0.4 < by_sex.labels.mean() < 0.6


def test_a_strong_attack_predicts_sex(by_sex):
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.metrics import accuracy_score

    known, learn, judge = halves(by_sex)
    truth = by_sex.sensitive
    strong = HistGradientBoostingClassifier(random_state=0).fit(known[learn], truth[learn])
    published = RandomForestClassifier(class_weight="balanced", max_depth=6, min_samples_split=10, random_state=0).fit(
        known[learn], truth[learn]
    )
    accuracy = accuracy_score(truth[judge], strong.predict(known[judge]))
    weaker = accuracy_score(truth[judge], published.predict(known[judge]))
    assert 0.79 <= accuracy <= 0.84
    assert 0.72 <= weaker <= 0.78
    assert weaker < accuracy - 0.03


def test_a_model_learns_is_unfair_and_memorises(by_sex):
    from sklearn.tree import DecisionTreeClassifier

    splits = split(by_sex)
    features, labels = by_sex.features, by_sex.labels
    tree = DecisionTreeClassifier(max_depth=8, random_state=0).fit(features[splits.train], labels[splits.train])
    seen, unseen = (tree.score(features[rows], labels[rows]) for rows in (splits.train, splits.test))
    accepted = tree.predict(features[splits.train])
    women = by_sex.sensitive[splits.train] == 1
    gap = max(abs(accepted.mean() - accepted[side].mean()) for side in (women, ~women))
    assert 0.75 <= unseen <= 0.85
    assert seen - unseen > 0.05
    assert 0.06 <= gap <= 0.12
