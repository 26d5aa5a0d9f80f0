"""Which entries of a record a person lets the defender change (Jia and Gong 2018, section 3.2).

"Existing" entries are those that are not 0 in the original record, "new" ones are 0 there; what was changed on the way
does not move between the two.
"""

from __future__ import annotations

from core.validation import choice

POLICIES = ("modify_exist", "add_new", "modify_add")
WIDEST = "modify_add"
"""The policy to fall back to where another leaves no solution."""


def changes_existing(policy: str) -> bool:
    """Return whether entries that are not 0 in the original record may change."""
    return policy != "add_new"


def changes_new(policy: str) -> bool:
    """Return whether entries that are 0 in the original record may change."""
    return policy != "modify_exist"


def known_policy(policy: str) -> str:
    """Return `policy` if it is one of `POLICIES`."""
    return choice(policy, POLICIES, name="policy")
