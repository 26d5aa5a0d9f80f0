"""Features that are copies of a model's score, where its predictions do not show it."""

import numpy as np
import pandas as pd
import pytest

from core.datasets.score_copies import find_copies


@pytest.mark.parametrize("predicted", [True, False])
def test_find_copies_of_a_score_across_the_threshold(predicted):
    """Bands of the score, of which one holds people on both sides of the threshold."""
    rng = np.random.default_rng(0)
    scores = rng.random(400)
    features = pd.DataFrame({"band": np.digitize(scores, [0.3, 0.7]), "age": rng.integers(18, 70, 400)})
    predictions = (scores >= 0.5).astype(np.int64) if predicted else None
    (copy,) = find_copies(features, scores=scores, predictions=predictions, positive=rng.random(400) < scores)
    assert (copy.column, copy.of_score, copy.honest) == ("band", True, False)
