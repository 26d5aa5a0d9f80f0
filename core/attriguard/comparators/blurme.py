"""BlurMe (Weinsberg et al. 2012): add the items that speak most against one's value.

Which items speak against a value is read off the weights of a logistic regression on the people who publish theirs. The
original knows two values; with more, the items with the lowest weight for one's own value are added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.attriguard.comparators.additions import usual_ratings, with_additions

if TYPE_CHECKING:
    from scipy import sparse

    from core.attriguard.attackers.known import Known


def blurme(
    records: sparse.csr_array, value: npt.NDArray[np.int64], known: Known, classifier: Any, *, n_added: int = 3
) -> sparse.csr_array:
    """Return the records with `n_added` items added, at the rating they usually get.

    Parameters
    ----------
    records : csr_array of shape (u, d)
    value : ndarray of shape (u,)
        Everybody's true value, which BlurMe asks for; or what a classifier takes it for.
    known : Known
        The people who publish their value.
    classifier : fitted LogisticRegression
        Of these people.
    """
    weights = classifier.coef_
    if len(weights) == 1:  # two values have one row
        weights = np.vstack([-weights, weights])
    ratings = usual_ratings(known.records)
    order = np.argsort(np.where(ratings > 0, weights, np.inf), axis=1, kind="stable")
    ending = np.take_along_axis(np.broadcast_to(ratings > 0, weights.shape), order, axis=1)
    return with_additions(records, value, np.where(ending, order, -1), ratings, n_added)
