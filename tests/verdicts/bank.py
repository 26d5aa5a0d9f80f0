"""The bank: models that leak and harmless ones, each with the reason why it is known to be so.

No entry was chosen by what an attack says of it. `tests.verdicts.truth` computes the quantities behind the reasons, and
`truth.toml` holds them for five seeds, computed before any attack was run.
"""

from __future__ import annotations

from tests.verdicts.entry import MEANT, Entry
from tests.verdicts.harmless import HARMLESS
from tests.verdicts.leaking import LEAKING, SHOWN

__all__ = ["BANK", "HARMLESS", "LEAKING", "MEANT", "Entry"]

BANK = {entry.name: entry for entry in (*LEAKING, *HARMLESS, *SHOWN)}
"""Name -> entry."""
