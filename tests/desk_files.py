"""Files for the query desk's tests: a test set, and predictions for it."""

import io

import numpy as np

N = 400


def _columns():
    rng = np.random.default_rng(5)
    sexes = np.where(rng.random(N) < 0.6, "Male", "Female")
    return {
        "person": [f"p{k}" for k in rng.permutation(N)],
        "sex": sexes.tolist(),
        "repaid": np.where(rng.random(N) < 0.5, "yes", "no").tolist(),
    }


def scores(seed=1):
    """Return predictions with a gap of about 0.3, in the order of the test set's file."""
    rng = np.random.default_rng([9, seed])
    return np.round(0.3 * (np.array(_columns()["sex"]) == "Male") + 0.7 * rng.random(N), 3)


def test_set():
    columns = _columns()
    return "\n".join([",".join(columns), *map(",".join, zip(*columns.values(), strict=True)), ""]).encode()


test_set.__test__ = False  # not a test, whatever pytest makes of the name


def test_set_parquet():
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.table(_columns()), file)
    return file.getvalue()


test_set_parquet.__test__ = False


def predictions(seed=1):
    """Return predictions as CSV, in another order than the test set."""
    lines = [f"{person},{value:.6g}" for person, value in zip(_columns()["person"], scores(seed), strict=True)]
    return "\n".join(["person,score", *reversed(lines), ""]).encode()
