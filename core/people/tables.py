"""People at risk as tables: page, terminal, files and internal report show these numbers."""

from __future__ import annotations

from collections.abc import Sequence

from core.arrays import Ints
from core.people.people_at_risk import PeopleAtRisk
from core.people.people_attacks import ATTACKS
from core.people.remedies import plan_text
from core.quantities import Row, Tables, share

PEOPLE_TABLE = "People found"
"""Title of the table with a row a person."""


def tables(result: PeopleAtRisk) -> Tables:
    """Return attacks, people, sets, numbers of attacks, remedies, groups and common values."""
    return {
        "Attacks on people": attack_rows(result),
        "Found by several attacks": [
            {"at least": k, "people": result.at_least(k), "if independent": round(result.expected(k), 1)}
            for k in range(1, 1 + len(ATTACKS))
        ],
        "Which attacks find the same people": [
            {**{name: "●" if hit else "" for name, hit in zip(ATTACKS.values(), pattern, strict=True)}, "people": n}
            for pattern, n in result.sets
        ],
        "What each remedy does": effect_rows(result),
        "Groups of the people found": [
            {"group": name, "found": share(rate)} for name, rate in zip(result.group_names, result.rates, strict=True)
        ],
        "What the people found have in common": [
            {"column": one.column, "value": one.value, "found": share(one.among_pinned), "rest": share(one.among_rest)}
            for one in result.common
        ],
        PEOPLE_TABLE: people_rows(result, result.chosen(hide_imputed=False)),
    }


def attack_rows(result: PeopleAtRisk) -> list[Row]:
    """Return how many each attack finds, how many by chance, and how many imputation finds too."""
    return [
        {
            "attack": ATTACKS[one.attack],
            "found": None if one.reason else int(one.leak.sum()),
            "by chance": None if one.reason else round(one.chance, 1),
            "imputation too": None if one.reason else int((one.found & ~one.leak).sum()),
            "published": one.setting or one.reason,
        }
        for one in result.attacks
    ]


def effect_rows(result: PeopleAtRisk) -> list[Row]:
    """Return how many people each remedy frees, and how many are found with it."""
    return [
        {"remedy": plan_text(one.plan), "no longer found": one.freed, "found with it": one.found, "new": one.new}
        for one in result.effects
    ]


def people_rows(result: PeopleAtRisk, places: Sequence[int] | Ints) -> list[Row]:
    """Return a row a person: what finds them, and the smallest fix."""
    number = result.number
    return [
        {
            "record": int(result.rows[i]),
            "group": result.group_names[result.groups[i]],
            **{
                name: "●" if leak else "○" if found else "·"
                for name, leak, found in zip(ATTACKS.values(), result.leaks[i], result.found[i], strict=True)
            },
            "attacks": int(number[i]),
            "imputation": "○ too" if result.imputed[i] else "",
            "smallest fix": fix_text(result, int(i)),
        }
        for i in places
    ]


def fix_text(result: PeopleAtRisk, place: int) -> str:
    """Write the smallest fix of a person, or why there is none."""
    if not result.number[place]:
        return "none: imputation" if result.found[place].any() else ""
    return plan_text(result.fixes[place]) or "none on the list"
