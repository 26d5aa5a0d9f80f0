"""The checks a policy may set a limit to: each says what an attack gains, or what the model does, as one number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.estimates import MOST_TESTED
from core.studies import STUDIES
from core.study import Check

_ORDER = (
    "attribute_excess",
    "attribute_balanced",
    "attribute_bits",
    "correction_gain",
    "answers_excess",
    "targeted_leakage",
    "membership_caught",
    "membership_auc",
    "membership_advantage",
    "membership_gap",
    "unfairness",
    "four_fifths",
    "attriguard_exposure",
    "attriguard_cost",
)
"""Of a policy; checks of other studies come after these."""


class _Checks(Mapping[str, Check]):
    """Name -> Check, in the order of a policy: what the studies declare, whichever there are."""

    def _all(self) -> dict[str, Check]:
        found = {check.name: check for study in STUDIES.values() for check in study.declared}
        return {name: found[name] for name in (*_ORDER, *(name for name in found if name not in _ORDER))}

    def __getitem__(self, name: str) -> Check:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


CHECKS = _Checks()
"""Name -> Check, in the order of a policy."""

assert len(CHECKS) <= MOST_TESTED


def check_title(check: str, attribute: str) -> str:
    """Return a check's title for this attribute, its first letter large."""
    title = CHECKS[check].title.format(attribute=attribute)
    return title[:1].upper() + title[1:]
