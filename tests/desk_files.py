"""Files for the query desk's tests: a test set, and predictions for it."""

import numpy as np
import pandas as pd

N = 400


def _people():
    rng = np.random.default_rng(5)
    sexes = np.where(rng.random(N) < 0.6, "Male", "Female")
    ids = [f"p{k}" for k in rng.permutation(N)]
    return pd.DataFrame({"person": ids, "sex": sexes, "repaid": np.where(rng.random(N) < 0.5, "yes", "no")})


def scores(seed=1):
    """Return predictions with a gap of about 0.3, in the order of the test set's file."""
    rng = np.random.default_rng([9, seed])
    return np.round(0.3 * (_people()["sex"].to_numpy() == "Male") + 0.7 * rng.random(N), 3)


def test_set():
    return _people().to_csv(index=False).encode()


def test_set_parquet():
    return _people().to_parquet(index=False)


def predictions(seed=1):
    """Return predictions as CSV, in another order than the test set."""
    answers = _people()[["person"]].assign(score=scores(seed))
    return answers[::-1].to_csv(index=False).encode()
