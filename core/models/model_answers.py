"""What a model takes, answers and is made of: columns, checked; answers as decisions of 0 or 1 and scores; structure.

Query access: a model answers about records put together of people's values. That is how labels alone are attacked: a
record is changed in a column at a time, to values that others have.

Structure: what a fitted model reveals by what it is made of, before anybody asks it: small leaves, records kept, size.
The idea is that of the structural attack of SACRO-ML. A leaf with few training people shows their
labels; a model of support vectors or nearest neighbours holds training records themselves; one with as many numbers as
it had records can memorise them. An ONNX file keeps records, but not how many training people a leaf holds.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..base.serialize import Result
from ..base.validation import Codes, Floats, Ints
from ..datasets.columns import as_text, is_numeric, parse_bool, quoted
from ..stats.estimates import count

if TYPE_CHECKING:
    import pandas

    from .fair import FairModel


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswers:
    """What a model said, as it said it: decisions, numbers or texts (n,), and probabilities (n, k).

    One column of these alone is the positive class's; `classes` are what they stand for, if the file says so.
    """

    labels: npt.NDArray[Any] | None
    probability: Floats | None
    classes: tuple[Any, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Takes:
    """What a model takes, as far as its file says, and what a reader should know about it (`notes`, a sentence each).

    Features are in the model's order, nameless if the file does not list them. Each must hold a "number", "whole
    number", "true or false", "text", or "any" where the file does not say; one of these stands for all where their
    number (`width`) is not known. A missing cell may be passed on if `takes_missing`, and may still be refused.
    """

    feature_names: tuple[str, ...]
    dtypes: tuple[str, ...]
    width: int | None
    takes_missing: bool
    notes: tuple[str, ...] = ()


Ask = Callable[["pandas.DataFrame"], RawAnswers]
"""Asks a model that was read and checked about records whose columns are its features in its order."""


_BEGINNING = re.compile(r"\s*(/|~[/\\]|\.\.?[/\\]|[a-z]:[/\\]|\\\\|file:|\w+://)", re.IGNORECASE)


def is_path_or_address(text: str) -> bool:
    r"""Whether a text begins like a path or an address: "/etc", "../a", "C:\a", "file:a", "https://a"."""
    return _BEGINNING.match(text) is not None


def cause(error: BaseException) -> str:
    """Return what a library says went wrong as the rest of a sentence: one line, without its own file names."""
    text = str(error).rpartition("Status Message: ")[2] or type(error).__name__
    text = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ", "", text)
    text = re.sub(r"/onnxruntime_src/\S+:\d+ .*?\)(?: \[with [^\]]*\])? ", "", text)
    text = " ".join(text.split()).rstrip(".")
    if len(text) <= 200:
        return text
    return f"{text[:199]}…"


def stack(columns: list[Any], n: int) -> Floats:
    """Return columns, or tables, of scores of n records as one table (n, k)."""
    return np.column_stack(
        [np.asarray(column, dtype=np.float64).reshape(n, -1) for column in columns]
    )


def warn_of_new_values(column: pandas.Series, training_values: Collection[Any]) -> None:
    """Warn of a column with a value, or a gap (nan), that is not among those known from training."""
    present = {value for value in training_values if value == value}
    gap = len(present) < len(training_values)
    if not {*column.dropna().unique()} <= present or (column.isna().any() and not gap):
        warnings.warn(
            f"column {quoted(str(column.name))} holds values it was not trained with", stacklevel=3
        )


def matched(
    frame: pandas.DataFrame, model: Takes, features: Sequence[str] = ()
) -> tuple[pandas.DataFrame, tuple[str, ...]]:
    """Return the model's columns of a table, and a note for everything that was not plainly so.

    `features` are columns of the table in the model's order, for a model that does not list them. Raises `InputError`
    if a column is missing, or holds what the model does not take.
    """
    import pandas as pd

    notes: list[str] = []
    if features:
        names = _listed_features(frame, model, list(features), notes)
    else:
        names = _matching_columns(frame, model, notes)
    if len(model.dtypes) == len(names):
        kinds = model.dtypes
    else:
        kinds = model.dtypes * len(names)
    columns = {
        name: _cells(frame[name], name, kind, model, notes)
        for name, kind in zip(names, kinds, strict=True)
    }
    if ignored := [str(name) for name in frame.columns if name not in columns]:
        if len(ignored) > 5:
            more = f" and {len(ignored) - 5} more"
        else:
            more = ""
        notes.append(
            f"The model does not ask for {', '.join(quoted(name) for name in ignored[:5])}{more}: ignored."
        )
    return pd.DataFrame(columns, index=frame.index), tuple(notes)


def _listed_features(
    frame: pandas.DataFrame, model: Takes, features: list[str], notes: list[str]
) -> list[str]:
    """Return the features as the user lists them."""
    if len(set(features)) < len(features):
        raise InputError(
            f"features must name each column once, got {', '.join(quoted(name) for name in features)}."
        )
    if missing := [name for name in features if name not in frame.columns]:
        raise InputError(f"features must be columns of the table, got {quoted(missing[0])}.")
    if model.width is not None and len(features) != model.width:
        raise InputError(
            f"The model takes {model.width} features, got {len(features)}; list its own, in its order."
        )
    order = ", ".join(quoted(name) for name in features[:5])
    if len(features) > 5:
        order += ", …"
    if not model.feature_names:
        notes.append(
            f"The model's file does not name its features; they are taken to be {order}, in this order."
        )
    elif tuple(features) != model.feature_names:
        notes.append(
            f"The model's features are taken to be {order}, in this order, whatever its file calls them."
        )
    return features


def _matching_columns(frame: pandas.DataFrame, model: Takes, notes: list[str]) -> list[str]:
    """Return the columns the model names; letters that exporting to ONNX replaces by "_" count as alike."""
    if not model.feature_names:
        count = "" if model.width is None else f"{model.width} "
        raise InputError(
            f"The model's file does not name its {count}features; list the table's columns it takes, in its order, "
            "as features."
        )
    columns = []
    missing = []
    for name in model.feature_names:
        similar = [
            str(column)
            for column in frame.columns
            if re.sub(r"\W", "_", str(column)) == re.sub(r"\W", "_", name)
        ]
        if name in frame.columns:
            columns.append(name)
        elif len(similar) == 1:
            columns.append(similar[0])
            notes.append(f"Column {quoted(similar[0])} is taken for the model's {quoted(name)}.")
        else:
            missing.append(name)
    if missing:
        remaining = f"{len(missing) - 1} other{'s' * (len(missing) > 2)}"
        if len(missing) > 1:
            more = f" nor {remaining} it asks for"
        else:
            more = ""
        raise InputError(
            f"The model asks for the column {quoted(missing[0])}, which the table does not have{more}; add it, or list "
            "the columns it takes, in its order, as features."
        )
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise InputError(
            f"The model asks for two features that both fit the column {quoted(twice)}; rename it."
        )
    return columns


def _cells(
    column: pandas.Series, name: str, kind: str, model: Takes, notes: list[str]
) -> pandas.Series:
    """Return a column in the form the model takes, gaps as nan, or say in one sentence why it cannot take it."""
    import pandas as pd

    def refuse(what: str) -> InputError:
        return InputError(f"Column {quoted(name)} {what}.")

    if column.dtype.kind in "mM":
        raise refuse("holds dates or times, which the model cannot take; turn it to numbers")
    if (missing := int(column.isna().sum())) and not model.takes_missing:
        raise refuse(
            f"lacks {missing:,} of {len(column):,} values, which the model cannot take; fill them or leave these "
            "records out"
        )
    numeric = is_numeric(column)
    if kind == "text":
        if numeric:
            notes.append(
                f"Column {quoted(name)} holds numbers and is given to the model as text, as it asks."
            )
        return as_text(column).astype(object).where(column.notna(), np.nan)
    if not numeric and not pd.api.types.is_bool_dtype(column):
        if kind == "any":
            return column.astype(object).where(column.notna(), np.nan)
        texts = column.dropna().astype(str)
        lowered = texts.str.casefold()
        if kind == "true or false" and lowered.isin(("true", "false")).all():
            if missing:
                return (lowered == "true").astype(object).reindex(column.index)
            return lowered == "true"
        strange = texts[pd.to_numeric(texts, errors="coerce").isna()]
        examples = strange if len(strange) else texts
        value = next(iter(examples), "")
        expected = kind if kind == "true or false" else "numbers"
        raise refuse(
            f"holds text, such as {quoted(value)}, where the model takes {expected}; correct the column or ask for its "
            "encoding"
        )
    if missing or pd.api.types.is_float_dtype(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        dtype = bool if pd.api.types.is_bool_dtype(column) else np.int64
        values = column.to_numpy(dtype=dtype)
    if np.isinf(values).any():
        raise refuse("holds infinite values, which the model cannot take; replace them")
    truths = np.isin(values, (0, 1)) | np.isnan(values)
    for expected, fits in (("whole number", values == np.round(values)), ("true or false", truths)):
        if kind == expected and not fits.all():
            plural = "whole numbers" if kind == "whole number" else kind
            raise refuse(f"must hold {plural} for this model, got {values[~fits][0]:g}")
    cells = pd.Series(values, index=column.index)
    if missing and kind == "true or false":
        return cells.map({0.0: False, 1.0: True})
    return cells


_ROUNDING = 1e-6  # scores of 32-bit floats may be this far outside of [0, 1]
_USUAL = (("0", "1"), ("-1", "1"), ("False", "True"), ("false", "true"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(Result):
    """What a model says about each of n records, and what a reader should know of it (`notes`, a sentence each).

    Labels are 1 for the positive answer; scores are its probability, in [0, 1].
    """

    labels: Codes
    scores: Floats | None
    notes: tuple[str, ...] = ()


def decide(raw: RawAnswers, *, positive: str, threshold: float) -> Answers:
    """Turn a model's own answers into decisions of 0 or 1 and scores; see `ModelFile.answers`.

    Raises `InputError` if it is not known which answer is the positive one, or a score is no probability.
    """
    notes: list[str] = []
    texts = raw.labels
    classes = _known_classes(raw)
    chosen = _positive(classes, positive)
    if positive and chosen != positive:
        notes.append(
            f"The model answers {' or '.join(classes)}; {chosen} is taken for {quoted(positive)}."
        )
    if raw.probability is None:
        scores = None
    else:
        scores = _scores(raw.probability, classes, chosen)
    if texts is not None:
        labels = (texts == chosen).astype(np.uint8)
    elif scores is not None:
        labels = (scores >= threshold).astype(np.uint8)
        notes.append(
            f"The model gives scores and no decisions: from {threshold:g} on counts as yes."
        )
    else:
        raise InputError("The model gives neither decisions nor scores; ask for a classifier.")
    if scores is None:
        notes.append("The model gives decisions and no scores, so what needs scores is not run.")
    if len(classes) > 2:
        notes.append(f"The model has {len(classes)} answers; all but {quoted(chosen)} count as no.")
    return Answers(labels=labels, scores=scores, notes=tuple(notes))


def _known_classes(raw: RawAnswers) -> tuple[str, ...]:
    """Return the answers a model can give, in the order of its columns of scores."""
    if raw.classes:
        return raw.classes
    texts = raw.labels
    if texts is None:
        return ("0", "1")
    seen = set(texts.tolist())
    for usual in (("0", "1"), ("False", "True")):
        if seen <= set(usual):
            return usual
    classes = tuple(sorted(seen))
    table = raw.probability
    if table is not None:
        if table.shape[1] == 1:  # the probability of the answer that has the higher scores
            classes = tuple(sorted(classes, key=lambda label: float(table[texts == label].mean())))
            counts = [np.count_nonzero(texts == label) for label in classes]
            likely = np.repeat(np.array(classes, dtype=object), counts)
            observed = texts[np.argsort(table[:, 0])]
        else:
            likely = np.array(classes, dtype=object)[
                np.minimum(table.argmax(axis=1), len(classes) - 1)
            ]
            observed = texts
        if len(classes) != max(table.shape[1], 2) or (likely == observed).mean() < 0.9:
            raise InputError(
                "The model's file does not say which column of scores belongs to which answer; export it with the "
                "names of its classes."
            )
    return classes


_LETTERS = ("t", "f", "y", "n")
"""Values of a label that a model answers with 0 and 1."""


def _positive(classes: tuple[str, ...], positive: str) -> str:
    if positive in classes:
        return positive
    if classes in _USUAL:
        return classes[parse_bool(positive, _LETTERS) is not False]
    listing = ", ".join(quoted(label) for label in classes[:5])
    if positive:
        raise InputError(
            f"The positive answer must be one of the model's ({listing}), got {quoted(positive)}."
        )
    raise InputError(f"The model answers {listing}; say which of them is the positive answer.")


def _scores(table: Floats, classes: tuple[str, ...], chosen: str) -> Floats:
    """Return the probability of the positive answer, after checking that it is one."""
    width = table.shape[1]
    index = classes.index(chosen)
    if width != len(classes) and (width, len(classes)) != (1, 2):
        score_count = f"{width} score{'s' * (width != 1)}"
        raise InputError(
            f"The model gives {score_count} a record for {len(classes)} answers; export one for each."
        )
    outside = ~((table >= -_ROUNDING) & (table <= 1.0 + _ROUNDING))  # also catches nan
    if outside.any():
        record = int(outside.any(axis=1).argmax())
        value = f"{table[record][outside[record]][0]:g}".replace("-", "−")
        raise InputError(
            f"The model's scores must be probabilities in [0, 1], got {value} for record {record + 1:,}; export "
            "probabilities and not margins, and fill missing numbers."
        )
    if width == 1:
        if index == len(classes) - 1:
            scores = table[:, 0]
        else:
            scores = 1.0 - table[:, 0]
    else:
        total = table.sum(axis=1)
        if (wrong := np.abs(total - 1.0) > 1e-3).any():
            raise InputError(
                f"The model's scores of record {int(wrong.argmax()) + 1:,} add up to {total[wrong][0]:g} and not to 1; "
                "export probabilities."
            )
        scores = table[:, index]
    return np.clip(scores, 0.0, 1.0)


QueryAccess = tuple[int, Callable[[Ints], Codes]]
"""A model that can be asked: how many values a record has, and what asks it.

Given the row that each value is taken from, (k, columns), that returns the predicted labels, (k,).
"""


def fair_access(
    model: Callable[[], FairModel], features: Floats, sensitive: Codes, *, seed: int
) -> QueryAccess:
    """Return access to a model trained here; the sensitive attribute is the last value of a record."""
    table = np.column_stack([features, sensitive])

    def ask(rows: Ints) -> Codes:
        cells = table[rows, np.arange(table.shape[1])]
        return model().predict(cells[:, :-1], cells[:, -1].astype(np.uint8), seed=seed)

    return table.shape[1], ask


def opposite_access(access: QueryAccess) -> QueryAccess:
    """Return access that answers about the other label: 1 where the model says 0."""
    columns, ask = access
    return columns, lambda rows: 1 - ask(rows)


FEWEST_IN_LEAF = 5
"""A leaf with fewer training people is small."""

_FREE = 10
"""Fewest training records beyond the numbers a model has learned."""

_MOST_PARTS = 200_000
"""Parts of a model that are looked at."""

STORED_RECORDS = {
    "support_vectors_": "support vectors",
    "_fit_X": "nearest neighbours",
    "X_train_": "a Gaussian process",
}
"""Attribute that holds training records, row by row -> what they serve as."""

_LEARNED = ("coef_", "intercept_", "coefs_", "intercepts_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure(Result):
    """What a model is made of: leaves, those of fewer than `FEWEST_IN_LEAF` training people, records kept, numbers.

    `smallest` is the number of training people in the smallest leaf, 0 where there is none or it is not known; `rows`
    are the training records as far as the trees say it or is known otherwise, else 0.
    """

    leaves: int = 0
    small_leaves: int = 0
    smallest: int = 0
    stored_records: int = 0
    stored_as: str = ""
    parameters: int = 0
    """Numbers learned: one for each leaf, and coefficients."""
    rows: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What of this reveals training records, a sentence each."""
        sentences = []
        if self.stored_records:
            sentences.append(
                f"The model holds {count(self.stored_records)} training records themselves ({self.stored_as}): "
                "anybody with the "
                "model can read them."
            )
        if self.small_leaves:
            sentences.append(
                f"Leaves of the model with fewer than {FEWEST_IN_LEAF} training people: {count(self.small_leaves)} of "
                f"{count(self.leaves)}; in the smallest: {count(self.smallest)}. Such leaves can reveal these people's "
                "labels."
            )
        if self.rows and self.parameters > self.rows - _FREE:
            sentences.append(
                f"The model has {count(self.parameters)} learned numbers for {count(self.rows)} training records: "
                "enough to memorise them."
            )
        return tuple(sentences)


UNKNOWN = Structure()
"""Of a model that was not looked at."""


def structure_of(estimator: Any, *, rows: int = 0) -> Structure:
    """Return what a fitted model of core, scikit-learn or fairlearn is made of; `rows` where they are known."""
    people = []
    roots = [0]
    sampled = False
    n_stored = 0
    kept_as = ""
    parameters = 0
    for part in _parts(estimator):
        state = getattr(part, "__dict__", {})
        share = state.get("subsample")  # a name or a number of records elsewhere
        sampled |= bool(state.get("bootstrap")) or (isinstance(share, float) and share < 1.0)
        for name, serves_as in STORED_RECORDS.items():
            if (
                (records := state.get(name)) is not None
                and np.ndim(records) == 2
                and records.shape[0] > n_stored
            ):
                n_stored = int(records.shape[0])
                kept_as = serves_as
        for name in _LEARNED:
            arrays = state.get(name, ())
            if not isinstance(arrays, list):
                arrays = [arrays]
            parameters += sum(map(np.size, arrays))
        if "leaf_people_" in state:
            people.append(state["leaf_people_"])
            roots.append(int(people[-1].sum()))
        elif hasattr(part, "n_node_samples"):
            people.append(np.asarray(part.n_node_samples)[np.asarray(part.children_left) < 0])
            roots.append(int(part.n_node_samples[0]))
        elif type(part).__name__ == "TreePredictor":
            people.append(part.nodes["count"][part.nodes["is_leaf"] == 1])
            roots.append(int(part.nodes["count"][0]))
    sizes = np.concatenate([np.empty(0, dtype=np.int64), *people])
    if not rows and not sampled:  # a tree of a forest counts the records drawn for it alone
        rows = max(roots)
    smallest = int(sizes.min()) if sizes.size else 0
    return Structure(
        leaves=sizes.size,
        small_leaves=int(np.count_nonzero(sizes < FEWEST_IN_LEAF)),
        smallest=smallest,
        stored_records=n_stored,
        stored_as=kept_as,
        parameters=parameters + sizes.size,
        rows=rows,
    )


_ROOMS = ("sklearn", "fairlearn", "core")


def _parts(estimator: Any) -> Iterator[Any]:
    """Yield an estimator and the fitted parts inside it, each once."""
    waiting: list[Any] = [estimator]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_PARTS:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple)):
            waiting.extend(part)
        elif isinstance(part, np.ndarray) and part.dtype == object:
            waiting.extend(np.ravel(part))
        elif type(part).__module__.partition(".")[0] in _ROOMS:
            yield part
            waiting.extend(getattr(part, "__dict__", {}).values())
        elif type(part).__module__.startswith("pandas") and hasattr(part, "tolist"):
            waiting.extend(part.tolist())  # fairlearn keeps its trees in a series


def onnx_structure(graph: Any) -> Structure:
    """Return what a graph, as `core.models.onnx_format.read_graph` reads it, keeps of training records."""
    vectors = 0
    operators = set()
    for node in graph.node:
        operators.add(node.op_type)
        vectors += sum(
            sum(attribute.ints)
            for attribute in node.attribute
            if attribute.name == "vectors_per_class"
        )
    if vectors:
        return Structure(stored_records=vectors, stored_as="support vectors")
    tables = [int(tensor.dims[0]) for tensor in graph.initializer if len(tensor.dims) == 2]
    if "TopK" in operators and tables:  # the nearest of these rows
        return Structure(stored_records=max(tables), stored_as="nearest neighbours")
    return UNKNOWN
