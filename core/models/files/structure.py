"""What compiled code would take on trust from a loaded scikit-learn model, checked before anything is predicted.

A file can be made of allowed types only and still hold a tree whose nodes point outside the tree, or back to
themselves; scikit-learn follows them unchecked, into foreign memory or forever. So every object of the model is visited
once: each node's children must come after it, each feature must be one the model was given, and the columns an encoder
announces must be those it fills.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["check_structure", "parts_of"]

_MOST_FEATURES = 1_000_000


def parts_of(model: Any) -> Iterator[Any]:
    """Return every object inside a loaded model once: estimators, their parts, and what lists and dicts hold."""
    waiting, seen = [model], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, (str, bytes, int, float, type(None), np.generic, np.dtype, type)):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple, set)):
            waiting.extend(part)
        elif isinstance(part, np.ndarray):
            waiting.extend(part.ravel().tolist() if part.dtype == object else ())
        else:
            waiting.extend(vars(part).values() if hasattr(part, "__dict__") else ())


def check_structure(model: Any) -> None:
    """Refuse a model that compiled code would follow astray.

    Raises
    ------
    ValueError
        With what is wrong, as the rest of a sentence.
    """
    for part in parts_of(model):
        fitted, check = _CHECKS.get(type(part).__name__, ("", None))
        if check and (not fitted or hasattr(part, fitted)):  # what is not fitted cannot predict
            check(part)


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


def _whole(value: Any, what: str) -> int:
    _check(isinstance(value, (int, np.integer)) and not isinstance(value, bool), f"{what} is no whole number")
    return int(value)


def _check_nodes(
    leaf: npt.NDArray[np.bool_], left: Any, right: Any, feature: npt.NDArray[np.integer[Any]], n_features: int
) -> None:
    """Refuse nodes with a child that does not come after them, or with a feature the model is not given."""
    count = leaf.size
    _check(count > 0, "a tree has no nodes")
    inner = np.flatnonzero(~leaf)
    for child in (left, right):
        follows = child[inner].astype(np.int64)
        _check(bool(((follows > inner) & (follows < count)).all()), "a tree's node leads out of the tree or back up")
    asked = feature[inner].astype(np.int64)
    _check(bool(((asked >= 0) & (asked < n_features)).all()), "a tree asks for a feature the model is not given")


def _tree(tree: Any) -> None:
    """Check scikit-learn's own tree; its arrays are as long as what was stored, not as the count that is claimed."""
    _check(tree.n_outputs == 1 and 0 < tree.n_features <= _MOST_FEATURES, "a tree has other than one output")
    left = tree.children_left
    _check(len(left) == tree.node_count == tree.capacity, "a tree miscounts its nodes")
    _check_nodes(left == -1, left, tree.children_right, tree.feature, tree.n_features)


def _decision_tree(estimator: Any) -> None:
    stored = estimator.tree_
    _check(type(stored).__name__ == "Tree", "a decision tree has no nodes")
    width = _whole(getattr(estimator, "n_features_in_", None), "a tree's number of features")
    _check(width == getattr(stored, "n_features", -1), "a tree was made for another number of features")


def _boosting(estimator: Any) -> None:
    """Check that every tree of a boosted sum takes the same features and adds to the one column there is."""
    steps = np.asarray(estimator.estimators_)
    _check(steps.ndim == 2 and steps.size > 0, "boosting holds no table of trees")
    _check(steps.shape[1] == 1, "boosting over more than two classes is not read")
    _check(_whole(getattr(estimator, "n_trees_per_iteration_", None), "trees a step") == 1, "boosting lacks a column")
    width = _whole(getattr(estimator, "n_features_in_", None), "boosting's number of features")
    for tree in steps.ravel():
        _check(type(tree).__name__ == "DecisionTreeRegressor", "boosting adds up something other than trees")
        _check(getattr(tree, "n_features_in_", None) == width, "a tree was made for another number of features")


def _histogram_boosting(estimator: Any) -> None:
    """Check the nodes of histogram boosting; splits by category are not read, as they index sets of bits unchecked."""
    width = _whole(getattr(estimator, "n_features_in_", None), "boosting's number of features")
    _check(0 < width <= _MOST_FEATURES and not getattr(estimator, "_in_fit", False), "boosting was stored half trained")
    _check(
        getattr(estimator, "_preprocessor", 0) is None and not np.any(getattr(estimator, "is_categorical_", None)),
        "histogram boosting with categories of its own is not read, only with encoded columns",
    )
    binning = getattr(estimator, "_bin_mapper", None)
    kinds = np.asarray(getattr(binning, "is_categorical_", ()))
    _check(kinds.shape == (width,) and not kinds.any(), "boosting's bins are for another number of features")
    for step in estimator._predictors:
        for predictor in step:
            _check(type(predictor).__name__ == "TreePredictor", "boosting adds up something other than trees")
            nodes = predictor.nodes
            _check(isinstance(nodes, np.ndarray) and nodes.ndim == 1, "a tree's nodes are no array")
            _check(not nodes["is_categorical"].any(), "histogram boosting with categories of its own is not read")
            leaf = nodes["is_leaf"].astype(bool)
            _check_nodes(leaf, nodes["left"], nodes["right"], nodes["feature_idx"], width)


def _one_hot(encoder: Any) -> None:
    """Count again the columns an encoder makes, and check that what groups and drops categories stays within them."""
    sizes = [len(categories) for categories in encoder.categories_]
    before = list(sizes)
    if getattr(encoder, "_infrequent_enabled", False):
        for j, (mapping, rare) in enumerate(
            zip(encoder._default_to_infrequent_mappings, encoder._infrequent_indices, strict=True)
        ):
            _check((mapping is None) == (rare is None), "an encoder groups categories it does not name")
            if mapping is None:
                continue
            before[j] = sizes[j] - len(rare) + 1
            told = np.asarray(mapping)
            _check(told.shape == (sizes[j],) and told.dtype.kind == "i", "an encoder's groups are not one a category")
            _check(bool(((told >= 0) & (told < before[j])).all()), "an encoder's groups are not among its columns")
            _check(bool((np.asarray(rare) < sizes[j]).all()), "an encoder groups categories it does not have")
    dropped = encoder._drop_idx_after_grouping
    after = list(before)
    if dropped is not None:
        _check(len(dropped) == len(sizes), "an encoder drops categories of columns it does not have")
        for j, index in enumerate(dropped):
            if index is not None:
                _check(0 <= _whole(index, "a dropped category") < before[j], "an encoder drops a category it lacks")
                after[j] -= 1
    _check(list(encoder._n_features_outs) == after, "an encoder fills other columns than it announces")


def _random_state(state: Any) -> None:
    place = state.get_state(legacy=False)["state"]["pos"]
    _check(0 <= place <= 624, "a random state stands outside its sequence")


_CHECKS = {
    "Tree": ("", _tree),
    "DecisionTreeClassifier": ("tree_", _decision_tree),
    "DecisionTreeRegressor": ("tree_", _decision_tree),
    "ExtraTreeClassifier": ("tree_", _decision_tree),
    "GradientBoostingClassifier": ("estimators_", _boosting),
    "HistGradientBoostingClassifier": ("_predictors", _histogram_boosting),
    "OneHotEncoder": ("categories_", _one_hot),
    "RandomState": ("", _random_state),
}
