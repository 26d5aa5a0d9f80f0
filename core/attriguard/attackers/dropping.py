"""The attacker who does not look where the noise sits: without the entries that carry most of it.

Minimum noise uses the few entries that tell the values apart best, again and again. She finds them by running
AttriGuard on the people she knows, leaves them out, and learns from all the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.attackers.known import Known, in_batches
from core.attriguard.attackers.network import fit_network
from core.attriguard.attackers.noise_seen import NoiseSeen


class Dropping:
    """Looks at the entries that carry little noise.

    Parameters
    ----------
    seen : NoiseSeen
        The defence, run on the known people.
    budget : float, at least 0
        Budget of the noise whose entries are looked for. She learns from clean records, so hers is no budget she was
        trained at.
    share : float in [0, 1)
        The fewest entries that carry this share of all expected changes are left out.
    """

    def __init__(self, known: Known, seen: NoiseSeen, *, budget: float, seed: int, share: float = 0.9) -> None:
        carried = seen.item_shares(known.records, budget)
        order = np.argsort(-carried, kind="stable")
        most = int(np.searchsorted(np.cumsum(carried[order]), share)) + 1 if carried.any() else 0
        self.kept = np.sort(order[min(most, carried.size - 1) :])
        rest = Known(records=known.records[:, self.kept], values=known.values, n_values=known.n_values)
        self._network = fit_network(rest, seed=seed)

    def guess(self, records: Any) -> npt.NDArray[np.int64]:
        """Return the value named for each record, (n,)."""
        return in_batches(lambda part: self._network.predict(part[:, self.kept]), records)
