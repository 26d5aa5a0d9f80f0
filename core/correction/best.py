"""What a fairness promise adds to the best that is known without it.

A weak attacker who gains from the promise tells nothing about the release if a stronger one, or naming the largest
group for everybody, was better before and stays better: whoever wants to know people's attribute takes the best. So the
accuracy of the best attacker before is taken off that of the best after; the majority guess is among both.

Best after is over the corrected guesses and the majority guess, not over what was guessed before. An attacker could
keep her old guess, which would make 0 the least there can be; below 0 the number says that the promise misleads whoever
believes it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from core.adversaries import AttackedRecords
from core.correction.blocks import Blocks
from core.correction.bootstrap import DRAWS_OF_MANY, named_together, rightly, widened
from core.correction.costs import published_cost
from core.correction.disclosure import Disclosure
from core.estimates import Estimate, paired_gain

DRAWS_OF_BEST = 200
"""Draws of people; with more than two groups fewer."""


def gain_of_best(
    attacked: Mapping[str, AttackedRecords],
    told: Mapping[str, Disclosure],
    *,
    raise_until_true: bool = False,
    seed: int = 0,
) -> Estimate:
    """Return the accuracy of the best attacker after the promise minus that of the best before it.

    Parameters
    ----------
    attacked : mapping of str to AttackedRecords
        What each attacker says of the same people, in the same order.
    told : mapping of str to Disclosure
        What each reaches with the published cost, told the same; all of them corrected.
    raise_until_true : bool
        Whether the tolerance was raised until it was true.
    seed : int
        Of the draws of people; who is best is found anew in each draw.
    """
    one = next(iter(told.values()))
    n = one.before.n
    people = []
    for name, each in told.items():
        records, exponent = attacked[name], 1 if each.exponent is None else each.exponent
        people.append(
            Blocks.of(records, records.guess, published_cost(records.confidence, exponent), metric=one.metric)
        )
    draws = DRAWS_OF_BEST if len(one.groups) == 2 else DRAWS_OF_MANY
    named = named_together(people, one.told, raise_until_true=raise_until_true, draws=draws, seed=seed)
    majority = named[0].size.max(axis=1) / named[0].size.sum(axis=1)
    before, after = (
        np.max([majority, *(rightly(each.size, part) for each, part in zip(named, parts, strict=True))], axis=0)
        for parts in ([each.before for each in named], [each.after for each in named])
    )
    reached = [each.after.value for each in told.values() if each.after is not None]
    value = max(one.majority.value, *reached) - max(one.majority.value, *(each.before.value for each in told.values()))
    least = paired_gain(0, 0, n).high  # where the best is the majority guess in every draw
    own = Estimate(value=value, low=max(-1.0, value - least), high=min(1.0, value + least), n=n)
    return widened(own, after - before, within=(-1.0, 1.0))
