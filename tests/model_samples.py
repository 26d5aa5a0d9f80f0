"""People, models of them made on the spot, and the files these are saved as."""

import functools
import io
import json
import warnings
import zipfile

import numpy as np
import pandas as pd
import skops.io
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

NUMBERS = ["age", "income", "hours"]


@functools.cache
def people():
    """Return 240 people, never to be changed."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 240),
            "income": rng.normal(30, 8, 240).round(1),
            "hours": rng.normal(38, 5, 240).round(),
            "work": rng.choice(["office", "shop", "farm"], 240),
        }
    )
    wealthy = frame["income"] + 0.2 * frame["age"] + 4 * (frame["work"] == "office") + rng.normal(0, 3, 240)
    frame["approved"] = np.where(wealthy > wealthy.median(), "yes", "no")
    return frame


def numbers():
    return people()[NUMBERS].to_numpy(dtype=np.float32)


def binary():
    return (people()["approved"] == "yes").to_numpy().astype(np.int64)


@functools.cache
def pipeline(texts=True):
    """Return a tree on scaled numbers and one-hot categories, with its answers as texts or as 0 and 1."""
    prepared = ColumnTransformer([("n", StandardScaler(), NUMBERS), ("c", OneHotEncoder(), ["work"])])
    answers = people()["approved"] if texts else binary()
    return make_pipeline(prepared, DecisionTreeClassifier(max_depth=4, random_state=0)).fit(
        people()[[*NUMBERS, "work"]], answers
    )


@functools.cache
def logistic(texts=False):
    """Return a logistic regression fitted on an array without names."""
    return LogisticRegression().fit(numbers(), people()["approved"].to_numpy(dtype=object) if texts else binary())


def as_onnx(model, sample, **settings):
    """Return a model as ONNX; settings are skl2onnx's options for the classifier."""
    from skl2onnx import to_onnx

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter
        exported = to_onnx(model, sample, options={id(model): settings} if settings else None)
    return exported.SerializeToString()


def as_skops(model):
    return skops.io.dumps(model)


def opened(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop("schema.json")), members


def closed(schema, members=None, *, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr("schema.json", schema if isinstance(schema, (str, bytes)) else json.dumps(schema))
        for name, content in (members or {}).items():
            archive.writestr(name, content)
    return buffer.getvalue()


def node(loader, kind, content=None, **more):
    module, _, name = kind.rpartition(".")
    return {"__class__": name, "__module__": module, "__loader__": loader, "content": content, **more}


def text_node(value):
    return node("JsonNode", "builtins.str", json.dumps(value), is_json=True)


def several(*values):
    return node("TupleNode", "builtins.tuple", [text_node(value) for value in values])


def nodes_of(part, kind):
    matches = [part] if isinstance(part, dict) and part.get("__class__") == kind else []
    inside = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return matches + [descendant for item in inside for descendant in nodes_of(item, kind)]


def graph(nodes, *, inputs=(("x", 1, [None, 2]),), outputs=(("p", 1, None),), **more):
    """Return a graph of operators as an ONNX file; inputs and outputs are name, type and shape."""
    from onnx import helper

    onnx_graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(*tensor) for tensor in inputs],
        [helper.make_tensor_value_info(*tensor) for tensor in outputs],
        more.pop("initializer", []),
        sparse_initializer=more.pop("sparse", None),
    )
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3), *more.pop("domains", [])]
    return helper.make_model(onnx_graph, opset_imports=domains, ir_version=8, **more).SerializeToString()
