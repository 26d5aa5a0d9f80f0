"""Small people and classifiers for PANDA: fitted classifiers made of given weights, and strategies that draw them.

No drawn person sits on a border between two values: which of them a classifier reads there is the last bit of a sum,
and that bit depends on the machine and on how many records are read together.
"""

from types import SimpleNamespace

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from scipy import sparse

from core.studies.attriguard.panda import POLICIES


def classifier_of(weights, offsets, *, multinomial):
    """Return a classifier of scikit-learn as if it had been fitted to these weights (m, d); one row for two values."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    classifier = LogisticRegression() if multinomial else LinearSVC()
    classifier.coef_, classifier.intercept_ = np.array(weights, dtype=float), np.array(offsets, dtype=float)
    classifier.classes_ = np.arange(max(2, len(classifier.coef_)))
    classifier.n_features_in_ = classifier.coef_.shape[1]
    return classifier


@st.composite
def cases(draw, *, values=(2, 3, 4, 7), steps=(1.0,)):
    """Draw people, the defender's classifier, and how to search; whole weights make many ties."""
    m, d, u = draw(st.sampled_from(values)), draw(st.integers(1, 9)), draw(st.integers(1, 4))
    rows = 1 if m == 2 else m
    weight = st.one_of(
        st.integers(-3, 3).map(float), st.floats(-3, 3, allow_subnormal=False).map(lambda w: round(w, 3))
    )
    weights = draw(st.lists(st.lists(weight, min_size=d, max_size=d), min_size=rows, max_size=rows))
    offsets = draw(st.lists(weight, min_size=rows, max_size=rows))
    ratings = st.lists(st.sampled_from((0.0, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0)), min_size=d, max_size=d)
    public = np.array(draw(st.lists(ratings, min_size=u, max_size=u)))
    multinomial = draw(st.booleans())
    classifier = classifier_of(weights, offsets, multinomial=multinomial)
    assume(off_the_border(public, classifier))
    settings = {
        "policy": draw(st.sampled_from(tuple(POLICIES))),
        "step": draw(st.sampled_from(steps)),
        "margin": draw(st.sampled_from((0.0, 0.0, 0.5, 3.0))),
    }
    records = sparse.csr_array(public) if draw(st.booleans()) else public
    search = {"policy": settings["policy"], "settings": settings}
    return SimpleNamespace(public=public, records=records, classifier=classifier, centred=multinomial, **search)


def off_the_border(public, classifier):
    """Return whether one value leads clearly for everybody."""
    scores = public @ classifier.coef_.T + classifier.intercept_
    if scores.shape[1] == 1:  # one decision value for two values
        scores = np.hstack([scores, np.zeros_like(scores)])
    scores.sort(axis=1)
    return bool((scores[:, -1] - scores[:, -2] > 1e-9).all())


def dense(records):
    return records.toarray() if sparse.issparse(records) else np.asarray(records)


def plain_weights(classifier, *, centred):
    """Return the weights (m, d) and offsets (m,) of a linear classifier; of two classes, half to each."""
    weights, offsets = classifier.coef_, classifier.intercept_
    if len(weights) == 1:
        return np.vstack([-weights / 2, weights / 2]), np.append(-offsets / 2, offsets / 2)
    return (weights - weights.mean(axis=0), offsets - offsets.mean()) if centred else (weights, offsets)


def plain_panda(x, weights, offsets, i, *, policy, step=1.0, margin=0.0):
    """Return the noisy record of Algorithm 1 of Jia and Gong (2018), or None where the policy has none.

    As it is printed, one entry at a time, with the two lost signs put back: the loop runs while C(x) ≠ i, and
    Modify_Exist looks at entries with x_j ≠ 0. What the text leaves open is decided as in core: "existing" and "new"
    are said of the original record, an entry that has been moved to 0 or 1 stays there, one that is there already and
    would be moved further does not count, the search ends where no entry is left (in Modify_Exist and Modify_Add: none
    that raises the score), and of equal entries the leftmost is taken. C(x) = i means that i leads by more than the
    margin and the rounding of a tie; C(x) ≠ i is known of the clean record.
    """
    existing, x, stays = x != 0, x.copy(), np.zeros(x.size, dtype=bool)
    gradient, lead = weights[i], margin + 1e-9 * np.abs(weights).max()
    for _ in range(x.size * int(np.ceil(1 / step) + 1)):
        # lines 3 to 13: find the entry to be modified
        allowed = ~stays & {"modify_exist": existing, "add_new": ~existing, "modify_add": existing | ~existing}[policy]
        if policy == "add_new":
            increase, decrease = np.where(allowed & (x < 1), gradient, -np.inf), np.full(x.size, -np.inf)
        else:
            increase = np.where(allowed & (x < 1), (1 - x) * gradient, -np.inf)
            decrease = np.where(allowed & (x > 0), -x * gradient, -np.inf)
        up, down = int(increase.argmax()), int(decrease.argmax())
        v_up, v_down = increase[up], decrease[down]
        if max(v_up, v_down) == -np.inf or (policy != "add_new" and max(v_up, v_down) <= 0):
            return None
        # lines 14 to 21: modify the one that is more beneficial
        entry = up if policy == "add_new" or v_up >= v_down else down
        x[entry] = min(x[entry] + step, 1.0) if entry == up and v_up >= v_down else max(x[entry] - step, 0.0)
        stays[entry] = x[entry] in (0.0, 1.0)
        scores = weights @ x + offsets
        if scores[i] - np.delete(scores, i).max() > lead:
            return x
    return None
