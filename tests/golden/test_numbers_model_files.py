"""What model files take and answer is as it was: columns, classes, scores, blame and notes.

The models are made of a few lines, so that what is around them is seen: what is asked, in which order, and what of it
is told.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from core.datasets import Roles, Table
from core.models import model_answers, model_files, onnx_model, skops_model
from core.models.model_answers import RawAnswers, Takes
from tests.golden.numbers import NamedValues, compare_numbers, refused


def _raw(labels: Any = None, probability: Any = None, classes: Any = None) -> RawAnswers:
    label_array = None if labels is None else np.array(list(labels), dtype=object)
    return RawAnswers(
        labels=label_array,
        probability=None if probability is None else np.array(probability, dtype=float),
        classes=classes,
    )


def deciding() -> NamedValues:
    two, three = [[0.7, 0.3], [0.5, 0.5], [0.2, 0.8]], [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25], [0.2, 0.6, 0.2]]
    raws = {
        "numbers": _raw("010", two),
        "words": _raw(["no", "yes", "no"], two, ("no", "yes")),
        "signs": _raw(["1", "-1", "1"], None, ("-1", "1")),
        "truth": _raw(["True", "True", "True"], [[0.9], [1.0], [1 + 1e-7]]),
        "scores": _raw(None, [[0.5], [0.49], [-1e-7]]),
        "scores of two": _raw(None, two),
        "three": _raw("acb", three, ("a", "b", "c")),
        "three unnamed": _raw("cab", three),
        "unlike": _raw("bca", three),
        "nothing": _raw(),
        "too wide": _raw("011", three),
        "margins": _raw("011", [[0.5, 0.5], [1.5, -0.5], [0, 1]]),
        "above": _raw("011", [[0.5], [1.1], [0.2]]),
        "no sum": _raw("011", [[0.5, 0.5], [0.4, 0.5], [0.4, 0.6009]]),
        "almost": _raw("011", [[0.5, 0.5], [0.5, 0.5009], [0.4, 0.6]]),
        "nan": _raw("011", [[0.5, 0.5], [math.nan, 0.5], [0.4, 0.6]]),
        "one class": _raw(["a", "a", "a"], None),
    }
    for (name, raw), positive, threshold in product(raws.items(), ("", "yes", "b", "no"), (0.5, 0.25)):
        if threshold == 0.5 or name.startswith("scores"):
            decision = refused(model_answers.decide, raw, positive=positive, threshold=threshold)
            yield f"{name} {positive} {threshold}", decision
    yield "stack", model_answers.stack([[1, 2], np.ones((2, 2)), [[3], [4]]], 2)
    for text in ("[ONNXRuntimeError] : 2 : INVALID : Status Message: bad  shape.", "x" * 201, "x" * 200, ""):
        yield (
            f"cause {len(text)}",
            [model_answers.cause(ValueError(text + end)) for end in ("", "Status Message: " + text)],
        )


def _takes(*names: str, kinds: tuple[str, ...] = ("any",), width: int | None = None, missing: bool = False) -> Takes:
    return Takes(feature_names=names, dtypes=kinds, width=width, takes_missing=missing)


def matching() -> NamedValues:
    frame = pd.DataFrame(
        {
            "a b": [1, 2, 3],
            "a-b": [1.0, 2.5, np.nan],
            "text": ["x", None, "TRUE"],
            "flag": ["true", "False", "TRUE"],
            "truth": [True, False, True],
            "maybe": pd.array([True, None, False], dtype="boolean"),
            "when": pd.to_datetime(["2020-01-01"] * 3),
            "infinite": [1.0, math.inf, 0.0],
            "bits": [0, 1, 1],
            "digits": ["1", "2", "x"],
        }
    )
    for column, kind, missing in product(
        frame, ("any", "number", "whole number", "true or false", "text"), (True, False)
    ):
        matched = refused(model_answers.matched, frame, _takes(column, kinds=(kind,), missing=missing))
        if isinstance(matched, str):
            yield f"{column} as {kind}, {missing}", matched
        else:
            values = [str(cell) for cell in matched[0][column]]
            yield f"{column} as {kind}, {missing}", f"{values} {matched[0][column].dtype} {len(matched[1])}"
    for name, takes, features in (
        ("by name", _takes("bits", "a b"), ()),
        ("alike", _takes("a_b"), ()),
        ("alike once", _takes("tex_t", "text"), ()),
        ("none", _takes(), ()),
        ("none of 2", _takes(width=2), ()),
        ("missing", _takes("x", "y", "bits"), ()),
        ("twice", _takes("bits", "bits"), ()),
        ("given", _takes(width=2), ("bits", "truth")),
        ("renamed", _takes("x", "y"), ("bits", "truth")),
        ("as named", _takes("bits", "truth"), ("bits", "truth")),
        ("given twice", _takes(), ("bits", "bits")),
        ("given unknown", _takes(), ("bits", "z")),
        ("given too few", _takes(width=3), ("bits",)),
        ("given many", _takes(kinds=("any",)), ("a b", "bits", "truth", "flag", "digits", "infinite")),
    ):
        small = frame.drop(columns=["infinite"] if len(features) < 6 else []).replace(math.inf, 3.0)
        matched = refused(model_answers.matched, small, takes, features)
        yield name, matched if isinstance(matched, str) else (list(matched[0].columns), matched[1])


class _Model:
    """Answers yes where the sum of a record is above 2; some values break it, and it may draw or warn."""

    def __init__(self, kind: str) -> None:
        self.kind, self.count = kind, 0

    def ask(self, frame: pd.DataFrame) -> RawAnswers:
        self.count += 1
        if frame.isin([13]).any().any() or (self.kind == "breaks" and len(frame) > 2):
            raise ValueError("unlucky " * 40)
        if self.kind == "warns":
            warnings.warn(f"far away, {self.count}", stacklevel=1)
        total = frame.sum(axis=1).to_numpy(dtype=float) + (self.kind == "draws") * (self.count % 2)
        score = np.clip(total / 6, 0, 1)
        labels: Any = np.where(total > 2, "yes", "no") if self.kind != "floats" else np.where(total > 2, 1.0, 0.5)
        return RawAnswers(
            labels=None if self.kind == "scores" else labels.astype(object),
            probability=None if self.kind == "labels" else np.column_stack([1 - score, score]),
            classes=("no", "yes") if self.kind in ("plain", "draws") else None,
        )


def _note(progress: list[tuple[int, int]], done: int, of: int) -> None:
    progress.append((done, of))


def _note_nothing(*_: int) -> None:
    pass


def answering() -> NamedValues:
    rng = np.random.default_rng(47)
    frame = pd.DataFrame(rng.integers(0, 3, (11, 3)), columns=["a", "b", "c"])
    unlucky = frame.copy()
    unlucky.iloc[7, 1] = 13
    text = Table(
        name="t",
        title="T",
        frame=frame.assign(**{"got": ["y", "n"] * 5 + ["y"], "model score": 1}),
        source="Made.",
    )
    roles = Roles(label="got", positive="y", favourable="y", sensitive="a")
    for kind, batch in product(("plain", "draws", "warns", "floats", "scores", "labels", "breaks"), (4, 100)):
        progress: list[tuple[int, int]] = []

        def answer(function: str, *_: Any, kind: str = kind, progress: Any = progress, **more: Any) -> Any:
            callables = [candidate for candidate in _ if callable(candidate)]
            report = callables[0] if callables else lambda *arguments: None
            more = {name: value for name, value in more.items() if name in ("columns", "batch")}
            return getattr(model_files, function)(report, content=b"", name="m", kind=kind, **more)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(model_files, "_opened", lambda _, __, kind: _Model(kind))
            patch.setattr(model_files, "_ask", answer)
            model = model_files.ModelFile(
                kind="onnx",
                name="m.onnx",
                fingerprint="f" * 64,
                content=b"",
                feature_names=("a", "b", "c"),
                dtypes=("number",),
                width=3,
                takes_missing=False,
            )
            ask = partial(model.answers, batch=batch, positive="yes", threshold=0.4, report=partial(_note, progress))
            yield f"{kind} {batch}", (refused(ask, frame), progress[-2:])
            yield f"{kind} {batch}, unlucky", refused(ask, unlucky)
            yield f"{kind} {batch}, nobody", refused(ask, frame[:0])
            if kind == "plain":
                answered = model_files.with_answers(text, model, roles, positive="yes")
                yield (
                    f"added {batch}",
                    (answered.prediction, answered.score, list(answered.table.frame), answered.table.source),
                )
                yield (
                    f"added {batch}, values",
                    [answered.table.frame[name].tolist() for name in (answered.prediction, answered.score)],
                )
                access = model_files.file_access(model, frame, positive="yes", threshold=0.5, features=())
                yield f"access {batch}", (access.columns, access.ask(rng.integers(0, 11, (9, 3))))
    for most in (1, 2):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(model_files, "_opened", lambda _, __, kind: _Model(kind))
            patch.setattr(model_files, "_MOST_ANSWERS", most)
            more = {"columns": frame, "batch": 9, "content": b"", "name": "m", "kind": "plain"}
            yield f"at most {most}", refused(lambda more=more: model_files.answer(_note_nothing, **more)[0])
    for rows, first in ((unlucky, 0), (unlucky[5:], 5), (frame, 0), (unlucky[7:8], 7)):
        yield f"blame {first} {len(rows)}", model_files._blame(_Model("plain"), rows, first)
    yield "texts", [model_files._text(value) for value in (1.0, 0.5, "a", True, 3, np.float64(2))]
    first_answers = _raw("ab", [[0.1, math.nan], [0.3, 0.7]])
    for second_answers in (
        first_answers,
        _raw("aa"),
        _raw("ab", [[0.1, math.nan], [0.3, 0.7 + 1e-16]]),
        _raw("bb", [[0.2, 1], [0.3, 0.7]]),
    ):
        yield "differing", model_files._differing(first_answers, second_answers)
    for content, name in product(
        (b"", b"PK\x03\x04abc", b"abcdefg"), ("m.onnx", "M.SKOPS", "m.pkl", "m.h5", "m", "m.pt")
    ):
        yield f"kind {content!r} {name}", refused(model_files.kind_of, content, name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_files, "MAX_BYTES", 7)
        yield "large", refused(model_files.kind_of, b"abcdefgh", "m.onnx")


def encoded() -> NamedValues:
    frame = pd.DataFrame({"n": [1.0, 2.0, 3.0, 4.0], "t": list("abab"), "f": [True, False, True, True]})
    one_hot = ColumnTransformer(
        [("n", StandardScaler(), ["n"]), ("t", OneHotEncoder(), ["t"]), ("f", OrdinalEncoder(), ["f"])]
    )
    filled = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    y = np.array([0, 1, 0, 1])
    for name, model, data in (
        ("transformed", make_pipeline(one_hot, LogisticRegression()), frame),
        ("filled", make_pipeline(filled, LogisticRegression()), frame[["t"]]),
        ("filled later", make_pipeline(OneHotEncoder(), SimpleImputer(), LogisticRegression()), frame[["t"]]),
        ("plain", LogisticRegression(), frame[["n"]]),
        ("array", make_pipeline(OneHotEncoder(), LogisticRegression()), frame[["t", "f"]].to_numpy()),
    ):
        model.fit(data, y)
        yield name, skops_model._features(model, "m.skops")
        encodings = skops_model._encoded(model, [0, 1, 2], list(frame.columns))
        yield f"{name}.known", [(index, [str(value) for value in categories]) for index, categories in encodings]
        columns = pd.DataFrame(data).columns
        runtime = skops_model.SkopsModel(
            feature_names=tuple(columns) if name != "array" else (),
            dtypes=("any",) * len(columns),
            width=len(columns),
            takes_missing=True,
            estimator=model,
        )
        yield f"{name}.answers", runtime.ask(pd.DataFrame(data)).labels
        yield f"{name}.scores", np.round(runtime.ask(pd.DataFrame(data)).probability, 3)
    yield "no classifier", _broken(skops_model._features, LinearRegression().fit(frame[["n"]], y), "m.skops")
    single = LogisticRegression().fit(frame[["n"]], y)
    single.classes_ = np.array([1])
    yield "one class", _broken(skops_model._features, single, "m.skops")
    for values, categories in product((["a"], ["a", "b"], ["a", None], []), (["a"], ["a", np.nan], ["a", "b", "c"])):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            model_answers.warn_of_new_values(pd.Series(values, dtype=object), categories)
        yield f"new {values} {categories}", bool(warned)
    for chosen in (slice(1, None), [True, False, True], ["c"], "b", 2, [0, -1], [], np.array([1])):
        yield f"places {chosen}", skops_model._places(chosen, [5, 6, 7], ["a", "b", "c"])


def _broken(work: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return work(*arguments)
    except ValueError as error:
        return str(error)


def graphs() -> NamedValues:
    def tensor(name: str, kind: str, *shape: Any) -> SimpleNamespace:
        return SimpleNamespace(name=name, type=kind, shape=list(shape))

    def session(inputs: Any = (), outputs: Any = ()) -> SimpleNamespace:
        return SimpleNamespace(get_inputs=lambda: list(inputs), get_outputs=lambda: list(outputs))

    table, column = tensor("x", "tensor(float)", None, 3), tensor("a", "tensor(int64)", "N", 1)
    for name, inputs in {
        "table": [table],
        "any width": [tensor("x", "tensor(double)", "N", "D")],
        "columns": [column, tensor("b", "tensor(string)", None)],
        "one column": [column],
        "mixed": [column, table],
        "fixed rows": [tensor("x", "tensor(float)", 1, 3)],
        "cube": [tensor("x", "tensor(float)", None, 3, 3)],
        "no shape": [tensor("x", "tensor(float)")],
        "complex": [tensor("x", "tensor(complex64)", None, 3)],
        "sequence": [tensor("x", "seq(tensor(float))", None, 3)],
        "nothing": [],
    }.items():
        input_form = refused(onnx_model._inputs, session(inputs), "m")
        yield f"inputs {name}", input_form if isinstance(input_form, str) else str(input_form)
    label, text = tensor("label", "tensor(int64)", None), tensor("label", "tensor(string)", None)
    prob, margin = tensor("probabilities", "tensor(float)", None, 2), tensor("margin", "tensor(float)", None, 2)
    for name, outputs in {
        "label": [label],
        "label and scores": [label, prob],
        "scores": [prob],
        "two scores": [label, margin, prob],
        "two margins": [label, margin, tensor("more", "tensor(double)", None)],
        "dictionaries": [text, tensor("p", "seq(map(string,tensor(float)))"), prob],
        "two labels": [label, text],
        "a wide label": [tensor("label", "tensor(int64)", None, 1, 1), prob],
        "nothing": [],
    }.items():
        for classes in (None, ("a", "b"), (0, 1), (0, 1, 2)):
            output_form = refused(onnx_model._outputs, session((), outputs), classes, "m")
            yield f"outputs {name} {classes}", output_form

    def node(kind: str, **attributes: Any) -> SimpleNamespace:
        entries = [
            SimpleNamespace(name=k, ints=v, strings=[]) for k, v in attributes.items() if not isinstance(v[0], bytes)
        ]
        entries += [
            SimpleNamespace(name=k, ints=[], strings=v) for k, v in attributes.items() if isinstance(v[0], bytes)
        ]
        return SimpleNamespace(op_type=kind, attribute=entries)

    for name, nodes in {
        "texts": [node("Tree", classlabels_strings=[b"a", b"b"]), node("X", other=[1, 2])],
        "numbers": [node("Tree", classlabels_int64s=[0, 1]), node("Zip", classlabels_int64s=[0, 1])],
        "two lists": [node("Tree", classlabels_int64s=[0, 1]), node("Zip", classlabels_int64s=[1, 0])],
        "one": [node("Tree", classlabels_int64s=[3])],
        "missing": [node("Tree", nodes_missing_value_tracks_true=[0, 0, 1])],
        "not missing": [node("Tree", nodes_missing_value_tracks_true=[0, 0])],
        "imputed": [node("Imputer")],
    }.items():
        yield (
            f"nodes {name}",
            (onnx_model._classes(nodes), [onnx_model._takes_missing(graph_node) for graph_node in nodes]),
        )
    frame = pd.DataFrame({"a": [1, 300], "b": [1.5, 2.5], "c": np.array([True, math.nan], dtype=object)})
    for j, dtype in product((0, 1, 2), ("uint8", np.float32, "int64", np.bool_)):
        yield f"column {j} {np.dtype(dtype).name}", _broken(onnx_model._column, frame, j, dtype)
    for text in ("std::bad_alloc", "Failed to allocate memory", "other"):
        yield f"memory {text}", type(onnx_model._memory_or(RuntimeError(text))).__name__
    scores = [np.array([[0.3], [0.6]]), np.array([[0.7], [0.4]])]
    for name, names, results, label_name in (
        ("columns", ("a", "b"), [np.array([[0], [1]]), *scores], "label"),
        ("table", (), scores[:1], ""),
        ("labels", (), [np.array([1, 0])], "label"),
        ("dictionaries", (), [np.array([1, 0]), [{"x": 0.2, "y": 0.8}, {"x": 0.9, "y": 0.1}]], "label"),
    ):
        fed: list[Any] = []
        model = onnx_model.OnnxModel(
            feature_names=names,
            dtypes=("number",) * 2,
            width=2,
            takes_missing=False,
            session=SimpleNamespace(
                run=lambda output_names, feed, fed=fed, results=results: (
                    fed.append((output_names, feed)) or list(results)
                )
            ),
            inputs=(("a", np.float32, 2), ("b", np.float64, 1)) if names else (("x", np.float64, 2),),
            label=label_name,
            scores=("p", "q")[: len(results) - bool(label_name)],
            classes=(0, 1),
            encoder_values={},
        )
        yield f"asked {name}", (model.ask(frame[["a", "b"]]), fed)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(onnx_model, "_MOST_SCORES", 1)
            yield f"asked {name}, one score", _broken(lambda model=model: model.ask(frame[["a", "b"]]).labels)


CASES: dict[str, Callable[[], NamedValues]] = {
    "deciding": deciding,
    "matching": matching,
    "answering": answering,
    "encoded": encoded,
    "graphs": graphs,
}


@pytest.mark.parametrize("case", CASES)
def test_numbers(case: str) -> None:
    compare_numbers(f"model_files_{case}", CASES[case]())
