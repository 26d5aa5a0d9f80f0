"""The checks a policy may set a limit to: what an attack gains, or what the model does, as one number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...stats.estimates import MOST_TESTED
from ...studies.registry import STUDIES
from ...studies.study import Check

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
    "absence",
    "unfairness",
    "four_fifths",
    "attriguard_exposure",
    "attriguard_cost",
    "two_models_gain",
)
"""Of a policy; checks of other studies come after these."""


class _Checks(Mapping[str, Check]):
    """Name -> Check, in the order of a policy: what the studies declare, whichever there are."""

    def __getitem__(self, name: str) -> Check:
        for check in _declared():
            if check.name == name:
                return check
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        names = [check.name for check in _declared()]
        return iter([name for name in _ORDER if name in names] + [name for name in names if name not in _ORDER])

    def __len__(self) -> int:
        return sum(1 for _ in _declared())


def _declared() -> Iterator[Check]:
    for study in STUDIES.values():
        yield from study.declared


CHECKS = _Checks()
"""Name -> Check, in the order of a policy."""

assert len(CHECKS) <= MOST_TESTED, "raise MOST_TESTED in core/stats/estimates.py; intervals get wider by it"


def check_title(check: str, attribute: str) -> str:
    """Return a check's title for this attribute, its first letter large."""
    title = CHECKS[check].title.format(attribute=attribute)
    return title[:1].upper() + title[1:]
