"""What a model reveals by what it is made of: small leaves, records kept, and as many numbers as records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from core.models import fit_model
from core.models.model_answers import Structure, structure_of
from core.models.model_files import read_model
from tests.model_samples import as_onnx, as_skops, binary, logistic, numbers

TREE = DecisionTreeClassifier(random_state=0)
STUMP = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0)
NEIGHBOURS = KNeighborsClassifier(3, algorithm="brute")


def fitted(model):
    return model.fit(numbers(), binary())


MACHINE = fitted(SVC())
VECTORS = len(MACHINE.support_vectors_)


@pytest.mark.parametrize("model", [TREE, RandomForestClassifier(4, bootstrap=False, random_state=0)])
def test_leaves_are_those_into_which_people_fall(model):
    trees = fitted(model).apply(numbers()).reshape(240, -1).T
    sizes = np.concatenate([np.unique(leaves, return_counts=True)[1] for leaves in trees])
    structure = structure_of(model)
    assert (structure.leaves, structure.smallest, structure.rows) == (sizes.size, sizes.min(), 240)
    assert structure.parameters == structure.leaves and structure.small_leaves == np.count_nonzero(sizes < 5) > 0
    assert structure.notes[0].startswith(
        f"Leaves of the model with fewer than 5 training people: {structure.small_leaves:,} of {structure.leaves:,}"
    )


@pytest.mark.parametrize("epsilon", [np.inf, 1.0])
def test_the_plain_id3_tree_shows_its_leaves_and_the_private_one_none(epsilon: float):
    features = np.arange(240).reshape(-1, 1) % 60 // [1, 5, 20] % 5
    answers = {"method": "dp_id3", "labels": binary(), "sensitive": np.arange(240) % 2}
    private = fit_model(features=features, epsilon=epsilon, domains=[5, 5, 5], **answers).estimator
    sizes = np.unique(private.tree_.leaves(features), return_counts=True)[1]
    structure, leaves = structure_of(private, rows=999), sizes.size * (epsilon == np.inf)
    assert (structure.leaves, structure.small_leaves, bool(structure.notes)) == (
        leaves,
        (sizes < 5).sum() * (leaves > 0),
        leaves > 0,
    )
    assert structure_of(private).rows == (240 if leaves else 0)


def test_other_models_are_counted_by_what_they_learned():
    boosted = fitted(HistGradientBoostingClassifier(max_iter=3, random_state=0))
    leaves = sum(tree.get_n_leaf_nodes() for (tree,) in boosted._predictors)
    assert structure_of(boosted) == Structure(leaves=leaves, smallest=20, parameters=leaves, rows=240)
    assert structure_of({"a": [logistic()]}) == Structure(parameters=4)
    assert structure_of(KBinsDiscretizer(subsample="warn")) == Structure()
    (note,) = Structure(leaves=9, small_leaves=1, smallest=4).notes
    assert note.startswith("Leaves of the model with fewer than 5 training people: 1 of 9; in the smallest: 4")


def test_as_many_learned_numbers_as_records():
    network = fitted(MLPClassifier((60,), tol=1e9, n_iter_no_change=1, random_state=0))
    structure = structure_of(network, rows=240)
    assert structure.parameters == 3 * 60 + 60 + 60 + 1
    assert structure.notes == ("The model has 301 learned numbers for 240 training records: enough to memorise them.",)
    assert replace(structure, rows=310).notes and not replace(structure, rows=311).notes
    assert structure_of(network).notes == ()  # of how many records is not known
    assert structure_of(fitted(RandomForestClassifier(20, random_state=0))).rows == 0


@pytest.mark.parametrize("least", [4, 5])
def test_a_leaf_is_small_below_five_people(least: int):
    structure = structure_of(fitted(DecisionTreeClassifier(min_samples_leaf=least, random_state=0)))
    assert structure.smallest == least and bool(structure.notes) == (least < 5)


@pytest.mark.parametrize(
    ("content", "name", "phrases"),
    [
        (as_skops(fitted(TREE)), "tree.skops", "Leaves of the model with fewer than 5 training people"),
        (as_skops(fitted(STUMP)), "stump.skops", ""),
        (as_skops(fitted(NEIGHBOURS)), "near.skops", "240 training records themselves (nearest neighbours)"),
        (as_onnx(MACHINE, numbers()[:1]), "machine.onnx", f" {VECTORS} training records themselves (support vectors)"),
        (as_onnx(fitted(NEIGHBOURS), numbers()[:1]), "near.onnx", "240 training records themselves (nearest"),
        (as_onnx(logistic(), numbers()[:1]), "line.onnx", ""),
    ],
    ids=lambda parameter: parameter if isinstance(parameter, str) and "." in parameter else "",
)
def test_a_file_that_is_opened_says_what_it_reveals(content: bytes, name: str, phrases: str):
    notes = read_model(content, name).notes
    assert len(notes) == bool(phrases) and all(phrases in note for note in notes)
