"""A scikit-learn classifier from a skops file: looked through, loaded, looked through again, and asked.

Before loading, every node of the file must be on the list of `core.models.files.allowed_types`; after it, what compiled
code would trust is checked (`core.models.files.structure`). Answers are exactly those of the estimator's own `predict`
and `predict_proba`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from core.datasets.columns import quoted
from core.errors import InputError
from core.models.files.allowed_types import ALLOWED_TYPES
from core.models.files.archive import read_schema
from core.models.files.runtime import RawAnswers, Runtime, cause
from core.models.files.structure import check_structure, parts_of

if TYPE_CHECKING:
    import pandas

__all__ = ["SkopsModel", "open_skops"]

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
    """An estimator with what it takes; see `core.models.files.runtime.Runtime`."""

    estimator: Any = field(repr=False)

    def ask(self, frame: pandas.DataFrame) -> RawAnswers:
        """Return the answers for records whose columns are the model's features in its order."""
        given: Any = frame if self.feature_names else frame.to_numpy()
        if self.feature_names:
            given = frame.set_axis(list(self.feature_names), axis=1)
        labels = np.asarray(self.estimator.predict(given))
        table = self.estimator.predict_proba(given) if hasattr(self.estimator, "predict_proba") else None
        classes = tuple(np.asarray(self.estimator.classes_).tolist())
        if labels.ndim != 1 or len(labels) != len(frame):
            raise ValueError("it does not give one answer a record")
        return RawAnswers(
            labels=labels,
            probability=None if table is None else np.asarray(table, dtype=np.float64).reshape(len(frame), -1),
            classes=classes,
        )


def open_skops(content: bytes, name: str) -> SkopsModel:
    """Read and check a skops file.

    Raises
    ------
    InputError
        If it is damaged, holds a type that is not on the list, or is no fitted classifier.
    """
    import skops.io

    schema = read_schema(content, name)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            unknown = skops.io.get_untrusted_types(data=content)
            if foreign := sorted(set(unknown) - set(ALLOWED_TYPES)):
                raise InputError(
                    f"The file {quoted(name)} is refused because it holds the type {quoted(foreign[0], 80)}, which is "
                    "not on the list of types that are loaded; ask for the model as ONNX."
                )
            estimator = skops.io.loads(content, trusted=[one for one in ALLOWED_TYPES if one in unknown])
            check_structure(estimator)
            _check_classifier(estimator)
        _on_one_thread(estimator)
        names, kinds, examples = _features(estimator)
    except InputError:
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
        notes=_version_notes(warned, schema),
        estimator=estimator,
    )


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
    for part in parts_of(estimator):
        settings = getattr(part, "__dict__", {})
        if "n_jobs" in settings:
            settings["n_jobs"] = None
        if "verbose" in settings:
            settings["verbose"] = 0


def _version_notes(warned: list[warnings.WarningMessage], schema: dict[str, Any]) -> tuple[str, ...]:
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
