"""A credit table: the label is a default, which the model predicts; what is good for a person is the other value."""

import numpy as np
import pandas as pd


def credit_people(n=8_000):
    """Return n borrowers with `default` 1 where one did not pay back, and a model's score and prediction of it.

    The model remembers its training records: their score is moved towards what they did.
    """
    rng = np.random.default_rng(2)
    female = rng.random(n) < 0.45
    limit = np.exp(rng.normal(11.5, 0.7, n)).round(-2).astype(int)
    months_late = rng.poisson(0.5, n)
    age = rng.integers(21, 70, n)
    risk = -2.6 + 2.0 * months_late - 0.6 * (np.log(limit) - 11.5) - 0.3 * female
    default = rng.random(n) < 1.0 / (1.0 + np.exp(-risk))
    member = rng.random(n) < 0.5
    memory = 0.15 * member * np.where(default, 1.0, -1.0)
    logit = risk + memory + rng.normal(0.0, 0.5, n)
    score = np.clip(1.0 / (1.0 + np.exp(-logit)), 0.001, 0.999).round(3)
    return pd.DataFrame(
        {
            "limit": limit,
            "age": age,
            "months_late": months_late,
            "sex": np.where(female, "female", "male"),
            "default": default.astype(int),
            "score": score,
            "predicted": (score >= 0.5).astype(int),
            "set": np.where(member, "train", "test"),
        }
    )
