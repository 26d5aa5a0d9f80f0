"""Small tables of made-up people for tests of AttriGuard on tables, and the least noise found by trying everything."""

from itertools import combinations, product

import numpy as np

from core.studies.attriguard.table import TablePeople, forbidden_values, places_of

NAMES = ("job", "home", "club", "rooms", "pay")
CATEGORIES = (("cook", "nurse", "smith", "clerk"), ("flat", "house", "boat"), ("chess", "choir"), (), ())


def people(m=2, *, n=600, u=60, seed=0, leak=1.0):
    """Return n known and u protected people with m private values, which show in all columns.

    Nobody is a smith on a boat, and nobody a nurse in a house.
    """
    rng = np.random.default_rng(seed)
    total = n + u
    truth = np.concatenate([np.arange(m), rng.integers(0, m, total - m)])
    job, home, club = (
        (rng.gumbel(size=(total, k)) + leak * rng.normal(size=(m, k))[truth]).argmax(axis=1) for k in (4, 3, 2)
    )
    home[(job == 2) & (home == 2)] = 0
    home[(job == 1) & (home == 1)] = 0
    rooms = np.clip(rng.poisson(2 + leak * truth), 0, 9)
    pay = np.round(rng.normal(size=total) + leak * rng.normal(size=m)[truth], 2)
    records = np.column_stack([job, home, club, rooms, pay]).astype(float)
    return TablePeople(
        title="Village",
        attribute="creed",
        values=tuple(f"creed {i}" for i in range(m)),
        names=NAMES,
        categorical=np.array([True, True, True, False, False]),
        categories=CATEGORIES,
        attacker_records=records[:n],
        known_truth=truth[:n],
        public=records[n:],
        truth=truth[n:],
        rows=np.arange(n, total),
    )


def least_columns(record, columns, defender, target, rules, *, most):
    """Return the fewest columns to change until the classifier reads the target, by asking it about every change.

    Changes that leave a forbidden pair that was not there before are left out; None when no change
    of up to `most` columns serves.
    """
    free = [j for j, column in enumerate(columns) if not column.frozen]
    held = pairs_held(record, columns, rules)
    for size in range(1, most + 1):
        for chosen in combinations(free, size):
            values = list(product(*(columns[j].domain for j in chosen)))
            changed = np.repeat(record[None], len(values), axis=0)
            changed[:, chosen] = values
            fine = [pairs_held(row, columns, rules) <= held for row in changed]
            if (np.array(fine) & (defender.predict(changed) == target)).any():
                return size
    return None


def pairs_held(record, columns, rules):
    """Return the forbidden pairs of one record, as pairs of places."""
    (places,) = places_of([column.listed for column in columns], record[None])
    forbidden = forbidden_values(columns, rules)
    return {(a, b) for a, b in combinations(places.tolist(), 2) if forbidden[a, b]}


def broken(columns, rules, records):
    """Return how many forbidden pairs each record holds, (n,)."""
    places = places_of([column.listed for column in columns], records)
    forbidden = forbidden_values(columns, rules)
    pairs = combinations([j for j, column in enumerate(columns) if column.listed.size], 2)
    return np.sum([forbidden[places[:, a], places[:, b]] for a, b in pairs], axis=0)


def leads(defender, records):
    """Return by how much each value's score leads every other's, (n, m), from the classifier's own decision values."""
    scores = defender.classifier.decision_function(defender.encoder.transform(records))
    if scores.ndim == 1:
        return np.column_stack([-scores, scores])
    rival_scores = [np.delete(scores, i, axis=1).max(axis=1) for i in range(scores.shape[1])]
    return scores - np.column_stack(rival_scores)
