"""A scikit-learn classifier from a skops file: looked through before it is loaded, then asked as it is.

skops trusts scikit-learn's estimators, numpy's and scipy's elementary functions, and plain data; a few more of
scikit-learn's types are let in here. Refused are ways to build an object that name a method or a call of the file's
choice. What else a made-up file may do, it does to the process it is opened in. Answers are exactly those of the
estimator's own `predict` and `predict_proba`.
"""

from __future__ import annotations

import io
import json
import warnings
import zipfile
import zlib
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import InputError
from ..datasets.columns import quoted
from .model_answers import (
    STORED_RECORDS,
    Ask,
    RawAnswers,
    Takes,
    cause,
    is_path_or_address,
    stack,
    structure_of,
    warn_of_new_values,
)

if TYPE_CHECKING:
    import pandas

ALLOWED_TYPES = (
    "builtins.slice",
    "collections.OrderedDict",
    "numpy.dtype",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.multiclass._ConstantPredictor",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
)
"""Types beyond those that skops trusts; fully qualified names, as a skops file writes them."""

REFUSED_LOADERS = {
    "ConstructorFromReduceNode": "a call of",
    "MethodNode": "a method of",
    "OperatorFuncNode": "the operator",
    "PartialNode": "the call",
}
"""Ways to build an object that run what the file chooses, and what to call them."""

REFUSED_TYPES = ("sklearn.svm._classes.NuSVC", "sklearn.svm._classes.SVC")
"""Support vector machines with a kernel: libsvm writes where the sizes in the file say."""

REQUIRED_VALUES = {"input": ("content",), "memory": (None,)}
"""Setting of an estimator -> the values it may have: with others it would open files that cells or settings name."""

FUNCTION_SETTINGS = ("func", "inverse_func", "score_func")
"""Settings of an estimator that may be a function, one of those that skops trusts."""


def _ask(frame: pandas.DataFrame, *, estimator: Any, feature_names: tuple[str, ...]) -> RawAnswers:
    """Return an estimator's answers for records whose columns are its features in its order."""
    import joblib

    for index, categories in _encoded(estimator, list(range(frame.shape[1])), list(feature_names)):
        warn_of_new_values(frame.iloc[:, index], categories)
    inputs: Any = frame.set_axis(list(feature_names), axis=1) if feature_names else frame.to_numpy()
    with joblib.parallel_config("sequential"):  # however many workers the file asks for
        labels = np.asarray(estimator.predict(inputs))
        if hasattr(estimator, "predict_proba"):
            table = estimator.predict_proba(inputs)
        else:
            table = None
    if labels.ndim != 1 or len(labels) != len(frame):
        raise ValueError("it does not give one answer a record")
    probability = None if table is None else stack([table], len(frame))
    return RawAnswers(
        labels=labels,
        probability=probability,
        classes=tuple(np.asarray(estimator.classes_).tolist()),
    )


def open_skops(content: bytes, name: str) -> tuple[Takes, Ask]:
    """Read and check a skops file.

    Raises `InputError` if it is damaged, holds a type that is not on the list, or is no fitted classifier.
    """
    import skops.io

    try:
        kept_as = _look_through(content, name)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            unknown = skops.io.get_untrusted_types(data=content)
            foreign = sorted(set(unknown) - set(ALLOWED_TYPES))
            if foreign and kept_as:
                raise InputError(
                    f"The file {quoted(name)} is refused because it stores training records themselves ({kept_as}), in "
                    f"the type {quoted(foreign[0], 80)}: anybody with the file can read them; ask for another kind of "
                    "model, or for its answers as a column of the table."
                )
            if foreign:
                raise _refused(name, f"the type {quoted(foreign[0], 80)}")
            estimator = skops.io.loads(
                content, trusted=[type_name for type_name in ALLOWED_TYPES if type_name in unknown]
            )
            names, kinds = _features(estimator, name)
            reveals = structure_of(estimator).notes
    except (InputError, MemoryError):
        raise
    except Exception as error:  # skops, scikit-learn and numpy, on a file made to break them
        reason = cause(error)
        raise InputError(
            f"The skops file {quoted(name)} is damaged or made up: {reason}; ask for it again."
        ) from None
    takes = Takes(
        feature_names=names,
        dtypes=kinds,
        width=len(kinds),
        takes_missing=True,
        notes=(*_version_notes(warned), *reveals),
    )
    return takes, partial(_ask, estimator=estimator, feature_names=names)


def _look_through(content: bytes, name: str) -> str:
    """Refuse an archive that is no skops file, or that holds what runs code of its author's choice.

    Returns what training records inside serve as, one of `KEPT`'s values, "" where none are seen.
    """
    kept_as = ""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if "schema.json" not in archive.namelist():
                raise InputError(
                    f"The file {quoted(name)} is a zip archive but not skops: it must hold a schema.json."
                )
            waiting = [json.loads(archive.read("schema.json"))]
    except (zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError):
        raise ValueError("it cannot be unpacked") from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError("its description is no JSON") from None
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            title = f"{part.get('__module__')}.{part.get('__class__')}"
            what = "the type" if title in REFUSED_TYPES else ""
            what = REFUSED_LOADERS.get(str(part.get("__loader__")), what)
            if what:
                raise _refused(name, f"{what} {quoted(title, 80)}")
            _check_settings(part, name)
            kept_as = next(
                (serves_as for attribute, serves_as in STORED_RECORDS.items() if attribute in part),
                kept_as,
            )
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
    return kept_as


def _check_settings(part: dict[str, Any], name: str) -> None:
    """Refuse an object of which a setting names a file, an address, or a function to call."""
    content = part.get("content")
    if isinstance(content, dict):
        attributes = content.get("content")
    else:
        attributes = None
    if not str(part.get("__module__")).startswith("sklearn.") or not isinstance(attributes, dict):
        return
    title = str(part.get("__class__"))
    for setting, node in attributes.items():
        if not isinstance(node, dict):
            continue
        loader = node.get("__loader__")
        is_function = loader == "FunctionNode" and setting not in FUNCTION_SETTINGS
        is_type = loader == "TypeNode" and setting != "dtype"
        if is_function or is_type:
            raise _setting_refused(name, title, setting, "a function to call")
        if loader == "JsonNode":
            value = json.loads(node["content"])
        else:
            value = ...
        if setting in REQUIRED_VALUES and value not in REQUIRED_VALUES[setting]:
            raise _setting_refused(name, title, setting, "files to open")
        if isinstance(value, str) and is_path_or_address(value):
            raise _setting_refused(name, title, setting, "a file or an address")


def _setting_refused(name: str, title: str, setting: str, what: str) -> InputError:
    return InputError(
        f"The file {quoted(name)} is refused because {quoted(setting, 40)} of its {quoted(title, 40)} names {what}; "
        "ask for the model without it, or as ONNX."
    )


def _refused(name: str, what: str) -> InputError:
    return InputError(
        f"The file {quoted(name)} is refused because it holds {what}, which is not on the list of types that are "
        "loaded; ask for the model as ONNX."
    )


def _version_notes(warned: list[warnings.WarningMessage]) -> tuple[str, ...]:
    """Return a note if the model was saved by another version of scikit-learn."""
    import sklearn

    versions = {
        str(warning.message.original_sklearn_version)
        for warning in warned
        if hasattr(warning.message, "original_sklearn_version")
    }
    if not versions:
        return ()
    return (
        f"The model was saved with scikit-learn {', '.join(sorted(versions))} and is asked with {sklearn.__version__}: "
        "its answers can differ from those it gave there.",
    )


def _features(estimator: Any, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a fitted classifier's features (none if it was fitted without), and what each must hold."""
    from sklearn.base import is_classifier
    from sklearn.utils.validation import check_is_fitted

    if not is_classifier(estimator):
        raise _no_classifier(estimator, name)
    check_is_fitted(estimator)
    if np.ndim(estimator.classes_) != 1 or len(estimator.classes_) < 2:
        raise ValueError("it does not choose between two answers")
    width = int(estimator.n_features_in_)
    names = tuple(str(feature) for feature in getattr(estimator, "feature_names_in_", ()))
    if not 0 < width <= 100_000 or len(names) not in (0, width):
        raise ValueError("it names other features than it takes")
    kinds = dict.fromkeys(range(width), "any")
    for index, categories in _encoded(estimator, list(range(width)), list(names)):
        for kind, types in (("true or false", (bool, np.bool_)), ("text", str)):
            if all(isinstance(category, types) or category != category for category in categories):
                kinds[index] = kind
    return names, tuple(kinds[index] for index in range(width))


def _no_classifier(estimator: Any, name: str) -> InputError:
    from sklearn.base import is_regressor

    title = type(estimator).__name__
    if is_regressor(estimator):
        return InputError(
            f"The model in {quoted(name)} predicts a number ({title}), and FairLeak audits classifiers; ask for the "
            "classifier that decides about people."
        )
    return InputError(
        f"The file {quoted(name)} holds a {title} and no classifier; ask for the model that decides about people."
    )


_ENCODERS = ("OneHotEncoder", "OrdinalEncoder", "TargetEncoder")


def _encoded(part: Any, places: list[int], names: list[str]) -> list[tuple[int, list[Any]]]:
    """Return those of the columns at `places` that the first step, an encoder, takes, with the values it knows.

    A gap is known to an encoder after an imputer.
    """
    title = type(part).__name__
    if title == "Pipeline":
        steps = [step for _, step in part.steps if step not in (None, "passthrough")]
        first = next((step for step in steps if type(step).__name__ != "SimpleImputer"), None)
        gap = [np.nan for step in steps[:1] if type(step).__name__ == "SimpleImputer"]
        return [(index, categories + gap) for index, categories in _encoded(first, places, names)]
    if title == "ColumnTransformer":
        parts = [
            _encoded(inner, _places(chosen, places, names), names)
            for _, inner, chosen in part.transformers_
        ]
        return [column for columns in parts for column in columns]
    if title not in _ENCODERS:
        return []
    return [
        (index, list(categories))
        for index, categories in zip(places, part.categories_, strict=False)
    ]


def _places(chosen: Any, places: list[int], names: list[str]) -> list[int]:
    """Return the positions of the columns a transformer is given: by name, by number, by slice or by mask."""
    if isinstance(chosen, slice):
        return places[chosen]
    if isinstance(chosen, (str, int)):
        selectors = [chosen]
    else:
        selectors = list(chosen)
    if selectors and all(isinstance(selector, (bool, np.bool_)) for selector in selectors):
        return [index for index, taken in zip(places, selectors, strict=True) if taken]
    return [
        names.index(selector) if isinstance(selector, str) else places[int(selector)]
        for selector in selectors
    ]


def rehearse() -> None:
    """Load and ask a small model of our own: a confined child cannot import what libraries put off until then."""
    import pandas as pd
    import skops.io
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    frame = pd.DataFrame({"number": [0.0, 1.0] * 20, "word": ["a", "b"] * 20})
    encoded = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["word"]), remainder="passthrough"
    )
    fitted = make_pipeline(encoded, HistGradientBoostingClassifier(max_iter=1)).fit(
        frame, frame["word"]
    )
    _, ask = open_skops(skops.io.dumps(fitted), "rehearsal.skops")
    ask(frame)
