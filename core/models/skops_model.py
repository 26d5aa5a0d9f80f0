"""A scikit-learn classifier from a skops file: looked through before it is loaded, then asked as it is.

skops trusts scikit-learn's estimators, numpy's and scipy's elementary functions, and plain data; a few more of
scikit-learn's types are let in here. Refused are ways to build an object that name a method or a call of the file's
choice, and estimators whose compiled code writes where the sizes in the file say. Answers are exactly those of the
estimator's own `predict` and `predict_proba`.
"""

from __future__ import annotations

import io
import json
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from core.datasets.columns import quoted
from core.errors import InputError
from core.models.runtime import RawAnswers, Runtime, cause

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
"""Support vector machines with a kernel: libsvm takes the sizes in the file on trust."""


_ENCODERS = ("OneHotEncoder", "OrdinalEncoder", "TargetEncoder")
_PASSES_ON = ("FeatureUnion", "SimpleImputer", "MissingIndicator", "SelectFromModel", "VarianceThreshold")
_COMMITTEES = (
    "AdaBoostClassifier",
    "BaggingClassifier",
    "CalibratedClassifierCV",
    "FrozenEstimator",
    "StackingClassifier",
    "VotingClassifier",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkopsModel(Runtime):
    """An estimator with what it takes; see `core.models.runtime.Runtime`."""

    estimator: Any = field(repr=False)

    def ask(self, frame: pandas.DataFrame) -> RawAnswers:
        """Return the answers for records whose columns are the model's features in its order."""
        given: Any = frame if self.feature_names else frame.to_numpy()
        if self.feature_names:
            given = frame.set_axis(list(self.feature_names), axis=1)
        labels = np.asarray(self.estimator.predict(given))
        table = self.estimator.predict_proba(given) if hasattr(self.estimator, "predict_proba") else None
        if labels.ndim != 1 or len(labels) != len(frame):
            raise ValueError("it does not give one answer a record")
        return RawAnswers(
            labels=labels,
            probability=None if table is None else np.asarray(table, dtype=np.float64).reshape(len(frame), -1),
            classes=tuple(np.asarray(self.estimator.classes_).tolist()),
        )


def open_skops(content: bytes, name: str) -> SkopsModel:
    """Read and check a skops file.

    Raises `InputError` if it is damaged, holds a type that is not on the list, or is no fitted classifier.
    """
    import skops.io

    try:
        _look_through(content, name)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            unknown = skops.io.get_untrusted_types(data=content)
            if foreign := sorted(set(unknown) - set(ALLOWED_TYPES)):
                raise _refused(name, f"the type {quoted(foreign[0], 80)}")
            estimator = skops.io.loads(content, trusted=[one for one in ALLOWED_TYPES if one in unknown])
            for encoder in _parts(estimator, "OneHotEncoder"):
                _check_columns(encoder)
            _check_classifier(estimator)
        _on_one_thread(estimator)
        names, kinds, examples = _features(estimator)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # skops, scikit-learn and numpy, on a file made to break them
        reason = cause(error)
        raise InputError(f"The skops file {quoted(name)} is damaged or made up: {reason}; ask for it again.") from None
    return SkopsModel(
        feature_names=names,
        dtypes=kinds,
        width=len(kinds),
        takes_missing=True,
        examples=examples,
        notes=_version_notes(warned),
        estimator=estimator,
    )


def _look_through(content: bytes, name: str) -> None:
    """Refuse an archive that is no skops file, or that holds what runs code of its author's choice."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if "schema.json" not in archive.namelist():
                raise InputError(f"The file {quoted(name)} is a zip archive but not skops: it must hold a schema.json.")
            waiting = [json.loads(archive.read("schema.json"))]
    except (zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError):
        raise ValueError("it cannot be unpacked") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise ValueError("its description is no JSON") from None
    except RecursionError:
        raise ValueError("its description is nested too deeply") from None
    if not isinstance(waiting[0], dict):
        raise ValueError("its description names no model")
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            title = f"{part.get('__module__')}.{part.get('__class__')}"
            if what := REFUSED_LOADERS.get(str(part.get("__loader__"))):
                raise _refused(name, f"{what} {quoted(title, 80)}")
            if title in REFUSED_TYPES:
                raise _refused(name, f"the type {quoted(title, 80)}")
        items = part.values() if isinstance(part, dict) else part
        waiting.extend(item for item in items if isinstance(item, (list, dict)))


def _refused(name: str, what: str) -> InputError:
    return InputError(
        f"The file {quoted(name)} is refused because it holds {what}, which is not on the list of types that are "
        "loaded; ask for the model as ONNX."
    )


def _parts(model: Any, title: str = "") -> Iterator[Any]:
    """Return every object inside a loaded model once, or those of one type."""
    waiting, seen = [model], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, (str, bytes, int, float, type(None), np.generic, np.dtype, type)):
            continue
        seen.add(id(part))
        if not title or type(part).__name__ == title:
            yield part
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple, set)):
            waiting.extend(part)
        elif isinstance(part, np.ndarray):
            waiting.extend(part.ravel().tolist() if part.dtype == object else ())
        else:
            waiting.extend(vars(part).values() if hasattr(part, "__dict__") else ())


def _check_columns(encoder: Any) -> None:
    """Refuse an encoder that announces fewer columns than it fills: the rest would be written beyond its table."""
    if not hasattr(encoder, "categories_"):
        return
    widths = encoder._compute_n_features_outs()
    rare = getattr(encoder, "_default_to_infrequent_mappings", None) or [None] * len(widths)
    dropped = encoder._drop_idx_after_grouping is not None
    fits = all(
        mapping is None or (np.min(mapping) >= 0 and np.max(mapping) < width + dropped)
        for mapping, width in zip(rare, widths, strict=True)
    )
    if not fits or list(encoder._n_features_outs) != list(widths):
        raise ValueError("an encoder fills other columns than it announces")


def _check_classifier(estimator: Any) -> None:
    from sklearn.base import is_classifier
    from sklearn.utils.validation import check_is_fitted

    if not is_classifier(estimator):
        raise ValueError(f"it holds a {type(estimator).__name__} and no classifier")
    check_is_fitted(estimator)
    if np.ndim(estimator.classes_) != 1 or len(estimator.classes_) < 2:
        raise ValueError("it does not choose between two answers")


def _on_one_thread(estimator: Any) -> None:
    """Take back the number of threads and the printing that the file asks for; neither changes an answer."""
    for part in _parts(estimator):
        settings = getattr(part, "__dict__", {})
        if "n_jobs" in settings:
            settings["n_jobs"] = None
        if "verbose" in settings:
            settings["verbose"] = 0


def _version_notes(warned: list[warnings.WarningMessage]) -> tuple[str, ...]:
    """Return a note if the model was saved by another version of scikit-learn."""
    import sklearn

    versions = {
        str(one.message.original_sklearn_version) for one in warned if hasattr(one.message, "original_sklearn_version")
    }
    if not versions:
        return ()
    return (
        f"The model was saved with scikit-learn {', '.join(sorted(versions))} and is asked with {sklearn.__version__}: "
        "its answers can differ from those it gave there.",
    )


def _features(estimator: Any) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    """Return the names of the features (none if it was fitted without), what each must hold, and a value it may."""
    width = int(estimator.n_features_in_)
    if not 0 < width <= 100_000:
        raise ValueError("it takes no features")
    names = tuple(str(one) for one in getattr(estimator, "feature_names_in_", ()))
    if names and len(names) != width:
        raise ValueError("it names other features than it takes")
    kinds, examples = ["any"] * width, [0.0] * width
    _tell(estimator, list(range(width)), list(names), kinds, examples)
    return names, tuple(kinds), tuple((one,) for one in examples)


def _tell(part: Any, places: list[int], names: list[str], kinds: list[str], examples: list[Any]) -> None:
    """Fill in what the columns at `places` must hold, as far as the first step says it, and the first category."""
    title = type(part).__name__
    if title == "Pipeline":
        steps = [step for _, step in part.steps if step not in (None, "passthrough")]
        first = next((step for step in steps if type(step).__name__ not in _PASSES_ON), None)
        if first is not None:
            _tell(first, places, names, kinds, examples)
    elif title == "ColumnTransformer":
        for _, inner, chosen in part.transformers_:
            if not isinstance(inner, str):
                _tell(inner, _places(chosen, places, names), names, kinds, examples)
    elif title in _ENCODERS:
        for place, categories in zip(places, part.categories_, strict=True):
            kinds[place] = "text" if all(isinstance(one, str) or one != one for one in categories) else "any"
            examples[place] = categories[0]
    elif title not in _PASSES_ON and title not in _COMMITTEES:
        for place in places:
            kinds[place] = "number"


def _places(chosen: Any, places: list[int], names: list[str]) -> list[int]:
    """Return the positions of the columns a transformer is given: by name, by number, by slice or by mask."""
    if isinstance(chosen, (str, int)):
        chosen = [chosen]
    if isinstance(chosen, slice):
        return places[chosen]
    told = list(chosen)
    if told and all(isinstance(one, (bool, np.bool_)) for one in told):
        return [place for place, taken in zip(places, told, strict=True) if taken]
    return [names.index(one) if isinstance(one, str) else places[int(one)] for one in told]
