"""What it costs to ask a model file in a process of its own."""

import time

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from core.models import model_files as opened
from core.models.model_answers import decide, matched
from core.models.model_files import _raw, read_model
from tests.benchmarks.measuring import seconds, verdicts
from tests.model_samples import as_onnx, as_skops


def _people(rows):
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(rows, 8)).round(3), columns=[f"feature {j}" for j in range(8)])


def _files():
    train = _people(5_000)
    label = (train.sum(axis=1) > 0).to_numpy().astype(int)
    linear = make_pipeline(StandardScaler(), LogisticRegression()).fit(train, label)
    forest = RandomForestClassifier(60, max_depth=12, random_state=0).fit(train, label)
    plain = LogisticRegression().fit(train.to_numpy(np.float32), label)
    return {
        "linear.skops": as_skops(linear),
        "forest.skops": as_skops(forest),
        "linear.onnx": as_onnx(plain, train.to_numpy(np.float32)[:1], zipmap=False),
    }


def main():
    print("A model file's answers, in this process and in one of its own")
    for name, content in _files().items():
        for rows in (240, 60_000, 500_000):
            frame = _people(rows)
            features = list(frame.columns) if name.endswith("onnx") else []
            model = read_model(content, name)  # the warm process is warm

            def in_this_process(content=content, name=name, frame=frame, features=features, model=model):
                opening = {"content": content, "name": name, "kind": name.rpartition(".")[2]}
                columns, _ = matched(frame, model, features)
                response, table = opened.answer(lambda *_: None, columns=columns, batch=10_000, **opening)
                decide(_raw(response, table), positive="", threshold=0.5)

            def in_a_child(content=content, name=name, frame=frame, features=features):
                read_model(content, name).answers(frame, features=features)

            local, child = (seconds(work, 3, clock=time.perf_counter) for work in (in_this_process, in_a_child))
            verdicts((f"s, {name}, {rows:,} people", child, max(1.3 * local, local + 0.3)))
