"""Verdicts on made-up people."""

import numpy as np


def verdict_arrays(flagged, people):
    """Return verdict, group and member of people with these counts."""
    cells = np.array([(1, 0, 0), (0, 0, 0), (1, 0, 1), (0, 0, 1), (1, 1, 0), (0, 1, 0), (1, 1, 1), (0, 1, 1)])
    many = np.stack([flagged, people - flagged], axis=-1).ravel()
    verdict, group, member = np.repeat(cells, many, axis=0).T
    return verdict, group, member
