"""The study of people at risk: one run of all attacks, and what is said, listed and drawn of it.

None of the sentences and tables stands in a public summary. The chart shows which attacks find the same people, as rows
of dots with bars (UpSet; Lex et al. 2014).

The study is run on a subject as other studies are, but is none of `core.studies.registry.STUDIES`: it is about single
people, and so for internal use. No policy, experiment or public summary reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...base.validation import Ints
from ...charts.drawing import Axis, Drawing, Scale
from ...stats.estimates import (
    Row,
    Tables,
    change_decimals,
    count,
    number_text,
    percent,
    point_interval,
    points,
    share,
)
from ..attribute.study import MEASURES
from ..study import Finding, ReportProgress, Study
from ..subject import Subject
from .people_at_risk import (
    Effect,
    PeopleAtRisk,
    Remedy,
    effect_of,
    plan_text,
    remedies_of,
    smallest_fixes,
    strongest_plan,
)
from .people_attacks import (
    ATTACKS,
    CERTAIN,
    IMPUTABLE,
    PeopleAttacks,
    PeopleSettings,
)

KNOWS = (
    "features and labels of everybody, what is published, the sensitive attribute of other "
    "people, and scores of all"
)

PUBLISHED = ("outputs", "queries", "card")
"""Attacks on what the settings say is published, which may not be so."""


def headline(result: PeopleAtRisk) -> Finding:
    """Say how many people are found by one attack or several, who they are, and what frees them."""
    n_at_risk = result.at_least(1)
    point = f"People found by an attack: {count(n_at_risk)} of {count(result.n)}"
    if n_at_risk and not result.beyond_chance:
        point += ", not significantly more than by chance"
    elif n_at_risk:
        point += f". By 2 or more attacks: {count(result.at_least(2))}"
    reasons = {ATTACKS[attack.attack]: attack.reason for attack in result.attacks if attack.reason}
    if reasons:
        point += f". Not run: {', '.join(reasons)}"
    return Finding(
        point=f"{point}.",
        evidence=f"Found: {result.attribute} inferred at {CERTAIN:.1%} or more (imputation at most {IMPUTABLE:.0%}), "
        f"or flagged as a member at 1% FPR. By chance: {tenths(result.by_chance)}. Expected by 2 or more if "
        f"attacks were independent: {tenths(result.expected(2))}.{_assumed(result)}",
        so_what=" ".join(filter(None, (_groups(result), why_nobody(result), _imputed(result)))),
        to_do=what_helps(result),
        caveats=tuple(
            f"{title} was not run on single people: {why}" for title, why in reasons.items()
        ),
        attacker_knows=KNOWS,
    )


def _assumed(result: PeopleAtRisk) -> str:
    """Say what is taken to be published."""
    published = [
        attack for attack in result.attacks if attack.attack in PUBLISHED and not attack.reason
    ]
    if not published:
        return ""
    assumed = "; ".join(
        f"{ATTACKS[attack.attack].lower()} ({attack.setting})" for attack in published
    )
    return f" Published by the plan: {assumed}."


def tenths(value: float) -> str:
    """Write an expected number of people: "14", "0.3", "under 0.1", "0"."""
    if 0 < value < 0.05:
        return "under 0.1"
    if not value:
        return "0"
    if value < 10:
        return number_text(value, ".1f")
    return number_text(value, ",.0f")


def _groups(result: PeopleAtRisk) -> str:
    """Say whom it finds more often: of two groups the first, of more the one found most often."""
    rates = result.rates
    names = result.group_names
    if not result.at_least(1):
        tied = any(
            attack.attack == "membership" and not attack.reason and not attack.chance
            for attack in result.attacks
        )
        ties = (
            "Membership flags nobody: scores are tied, and no threshold flags only 1% of non-members. "
            * tied
        )
        return ties.strip()
    if len(names) == 2:
        gap = result.gap(1)
        decimals = change_decimals(rates[0], rates[1], gap) or 1
        first, second = (percent(rate, decimals=decimals) for rate in rates)
        change = f"{points(gap, decimals=decimals)}, 95% CI {point_interval(gap)}"
        return f"Found: {second} of {names[1]}, {first} of {names[0]} (difference {change})."
    code = max(
        (code for code, rate in enumerate(rates) if rate.n), key=lambda code: rates[code].value
    )
    gap = result.gap(code)
    return (
        f"Found: {percent(rates[code], decimals=1)} of {names[code]}, compared with everybody else "
        f"(difference {points(gap)}, 95% CI {point_interval(gap)}, for all {len(names)} groups together)."
    )


def why_nobody(result: PeopleAtRisk) -> str:
    """Say why nobody can be named although attacks gain on average; "" where somebody is, or none gains."""
    if result.beyond_chance:
        return ""
    sentences = []
    for attack in result.attacks:
        gain = attack.average
        is_auc = attack.measure == "auc"
        if gain is None or not gain.low > 0.5 * is_auc:
            continue
        if is_auc:
            level = f"AUC {number_text(gain.value, '.2f')}, chance 0.50"
        else:
            level = f"{points(gain)} of {MEASURES[attack.measure]} over imputation"
        if attack.reason:
            singled_out = "it was not run on single people"
        elif attack.leak.any():
            singled_out = "it singles out no more people than by chance"
        else:
            singled_out = "it singles out nobody"
        sentences.append(f"{ATTACKS[attack.attack]}: a gain on average ({level}); {singled_out}.")
    return " ".join(sentences)


def _imputed(result: PeopleAtRisk) -> str:
    n = count(int(result.imputed.sum()))
    return f"People whose {result.attribute} imputation alone infers at above {IMPUTABLE:.0%}: {n} (no leak)."


def best_effect(result: PeopleAtRisk) -> Effect | None:
    """Return the single remedy that leaves the fewest found, the mildest of several as good.

    None where none leaves fewer than there are, and where not significantly more are found than by chance.
    """
    if not result.beyond_chance:
        return None
    single = [effect for effect in result.effects if len(effect.plan) == 1 and effect.fewer > 0]
    return max(single, key=lambda effect: effect.fewer, default=None)


def what_helps(result: PeopleAtRisk) -> str:
    """Say which remedy leaves the fewest found, and whether all kinds together leave fewer."""
    n_at_risk = result.at_least(1)
    if not n_at_risk:
        return "Read the Report before you publish: it judges the whole release, and this page single people."
    if not result.beyond_chance:
        return "This may be chance: as many may be found where nothing leaks. Do not delete their records for it."
    best = best_effect(result)
    together = next((effect for effect in result.effects if len(effect.plan) > 1), None)
    sentences = []
    if best is not None:
        sentences.append(f"With {plan_text(best.plan)}: {_freed(best, n_at_risk)}.")
    if together is not None and together.fewer > (0 if best is None else best.fewer):
        sentences.append(f"With the strictest remedy of every kind: {_freed(together, n_at_risk)}.")
    return " ".join(sentences) or f"No remedy on the list leaves fewer people found; {_WITHOUT}."


_WITHOUT = "a model without these records would"


def without_fix(result: PeopleAtRisk, indices: Sequence[int] | Ints) -> str:
    """Say how many of some people no remedy on the list frees; "" where there are none."""
    stuck = sum(bool(result.number[i]) and not result.fixes[i] for i in indices)
    if not stuck:
        return ""
    return f"No remedy on the list frees {count(stuck)} of these {count(len(indices))}; {_WITHOUT}."


def _freed(effect: Effect, total: int) -> str:
    if not effect.new:
        exposed = "nobody new"
    else:
        exposed = f"{count(effect.new)} others"
    return f"{count(effect.freed)} of {count(total)} are no longer found; found instead: {exposed}"


def by_chance(result: PeopleAtRisk) -> Finding:
    """Say for each attack how many it finds, and how many chance gives."""
    counts = [
        f"{ATTACKS[attack.attack]} {count(int(attack.leak.sum()))} ({tenths(attack.chance)})"
        for attack in result.attacks
        if not attack.reason
    ]
    if counts:
        point = f"Found by each attack, by chance alone in brackets: {'; '.join(counts)}."
    else:
        point = "Nothing was run."
    return Finding(
        point=point,
        evidence="Chance is what the attack wrongly claims of others: non-members, or people outside the group.",
    )


def in_common(result: PeopleAtRisk) -> Finding:
    """Say which values those found have more often than the rest."""
    if not result.common:
        return Finding(
            point="No value of a column is clearly more frequent among the people found."
        )
    text = "; ".join(
        f"{common.column} {common.value} ({percent(common.among_pinned)}, rest {percent(common.among_rest)})"
        for common in result.common[:3]
    )
    return Finding(
        point=f"The people found have more often: {text}.",
        evidence="By Fisher's exact test, with Bonferroni's correction for all values of all columns.",
    )


# Tables

PEOPLE_TABLE = "People found"
"""Title of the table with a row a person."""

SIGNS = {
    "●": "found",
    "○": "found, imputation too, so no leak",
    "·": "not found",
    "–": "not run",
}
"""Sign in the column of an attack -> what it means."""

LEGEND = "; ".join(f"{sign} {meaning}" for sign, meaning in SIGNS.items())
"""What the signs mean, in one line."""


def signs_of(result: PeopleAtRisk, index: int) -> Iterator[str]:
    """Yield the sign of each attack on a person, in the order of `ATTACKS`."""
    for attack in result.attacks:
        if attack.reason:
            yield "–"
        elif attack.leak[index]:
            yield "●"
        elif attack.identified[index]:
            yield "○"
        else:
            yield "·"


def set_rows(result: PeopleAtRisk) -> list[Row]:
    """Return a row a set of attacks: a dot under each of them, and how many people exactly they find."""
    rows: list[Row] = []
    for pattern, n in result.sets:
        row: dict[str, Any] = dict.fromkeys(ATTACKS.values(), "")
        for name, hit in zip(ATTACKS.values(), pattern, strict=True):
            if hit:
                row[name] = "●"
        row["people"] = n
        rows.append(row)
    return rows


def attack_rows(result: PeopleAtRisk) -> list[Row]:
    """Return how many each attack finds, how many by chance, and how many imputation finds too."""
    rows: list[Row] = []
    for attack in result.attacks:
        found_count = None
        chance = None
        imputed = None
        if not attack.reason:
            found_count = int(attack.leak.sum())
            chance = round(attack.chance, 1)
            imputed = int((attack.identified & ~attack.leak).sum())
        rows.append(
            {
                "attack": ATTACKS[attack.attack],
                "found": found_count,
                "by chance": chance,
                "imputation too": imputed,
                "published": attack.setting or attack.reason,
            }
        )
    return rows


def effect_rows(result: PeopleAtRisk) -> list[Row]:
    """Return how many people each remedy frees, and how many are found with it."""
    return [
        {
            "remedy": plan_text(effect.plan),
            "no longer found": effect.freed,
            "found with it": effect.remaining,
            "new": effect.new,
        }
        for effect in result.effects
    ]


def people_rows(result: PeopleAtRisk, indices: Sequence[int] | Ints) -> list[Row]:
    """Return a row a person: what finds them, and the smallest fix."""
    number = result.number
    rows: list[Row] = []
    for i in indices:
        imputation = ""
        if result.imputed[i]:
            imputation = "too"
        rows.append(
            {
                "record": int(result.rows[i]),
                "group": result.group_names[result.groups[i]],
                **dict(zip(ATTACKS.values(), signs_of(result, int(i)), strict=True)),
                "attacks": int(number[i]),
                "imputation": imputation,
                "smallest fix": fix_text(result, int(i)),
            }
        )
    return rows


def fix_text(result: PeopleAtRisk, index: int) -> str:
    """Write the smallest fix of a person; "" where nothing on the list frees them, which `without_fix` says."""
    if not result.number[index]:
        if result.identified[index].any():
            return "none: imputation"
        return ""
    return plan_text(result.fixes[index])


SHORT = {
    "outputs": "Outputs",
    "correction": "Correct.",
    "queries": "Queries",
    "card": "Card",
    "membership": "Member.",
}
"""Attack -> the head of its column."""

# pixels of a row, and above and below all
_ROW = 26
_HEAD = 62
_BELOW = 46
_LINES = (44, 24, 6)  # pixels of the lines of the head above the plot
_BARS = len(ATTACKS) - 0.4  # where bars begin, the columns of dots being one apart
_WIDE = 1.3  # how long the longest axis of bars is
_NARROW = 380  # pixels that the chart has at least


def draw_sets(result: PeopleAtRisk) -> Drawing:
    """Draw a row for each set of attacks that finds somebody alone, one or more: attacks as dots, people as a bar."""
    sets = result.sets
    bars = Scale(title="", span=4.0, parts=2, start=0.0).over([n for _, n in sets])
    scale = _WIDE / bars.ends[1]
    axis = Axis(
        ends=(-0.55, _BARS + _WIDE),
        marks=[_BARS + scale * mark for mark in bars.marks],
        labels=bars.labels,
        title="People",
        position=lambda n: _BARS + scale * n,
    )
    y = Axis(ends=(len(sets) - 0.5, -0.5), marks=(), labels=(), title="")
    drawing = Drawing(
        "Which attacks find the same people",
        height=_HEAD + _ROW * len(sets) + _BELOW,
        x=axis,
        y=y,
        margins=(4, 38, _HEAD, _BELOW),
        narrow=_NARROW,
    )
    drawing.axes(levels=False)
    drawing.layout["annotations"][-1]["x"] = 1 - _WIDE / 2 / (
        axis.ends[1] - axis.ends[0]
    )  # its title, under the bars
    look: dict[str, Any] = {"y": 1, "refs": ("x", "paper"), "size": 12}
    for index, attack in enumerate(result.attacks):
        labels = [SHORT[attack.attack], "not run", ""]
        if not attack.reason:
            labels[1:] = [f"<b>{count(int(attack.leak.sum()))}</b>", tenths(attack.chance)]
        for up, text in zip(_LINES, labels, strict=True):
            color = "grey" if up == _LINES[-1] else "ink"
            drawing.remark(text, color, x=index, shift=(0, up), anchor=("center", "bottom"), **look)
    for up, text in zip(_LINES[1:], ("found", "by chance"), strict=True):
        drawing.remark(text, "grey", x=_BARS, shift=(0, up), anchor=("left", "bottom"), **look)
    drawing.segment(_BARS, y.ends, "grey", layer="below")
    rows = []
    for i, (pattern, n) in enumerate(sets):
        many = sum(pattern) > 1
        if many:
            drawing.shade_row(i)
        hits = [index for index, hit in enumerate(pattern) if hit]
        misses = [index for index, hit in enumerate(pattern) if not hit]
        drawing.markers(misses, [i] * len(misses), size=5, color="grid")
        drawing.line([hits[0], hits[-1]], [i, i], "leak", width=2)
        names = [ATTACKS[name] for name, hit in zip(ATTACKS, pattern, strict=True) if hit]
        people = f"{' and '.join(names)}: {count(n)}"
        drawing.markers(hits, [i] * len(hits), size=11, color="leak", hover=[people] * len(hits))
        bar_color = "leak 55"
        bar_text = count(n)
        if many:
            bar_color = "leak"
            bar_text = f"<b>{bar_text}</b>"
        drawing.bar(axis.position(n), i, _BARS, bar_color, width=0.5, hover=people)
        drawing.at_right(i, bar_text, "ink", (34, 0))
        rows.append({"attacks": " and ".join(names), "people": n})
    drawing.rows = rows
    drawing.say(
        "Rows of dots with bars",
        "people found by just these attacks",
        [f"{row['attacks']} {row['people']}" for row in rows],
    )
    return drawing


class PeopleAtRiskStudy(Study[PeopleSettings, PeopleAtRisk]):
    """Whom the attacks find, and what would stop it."""

    name = "people"
    title = "People at risk"
    settings = PeopleSettings

    def steps(self, subject: Subject, settings: PeopleSettings) -> int:
        """Return how many steps are reported at least: the models with their shadows."""
        return settings.steps

    def run(
        self, subject: Subject, settings: PeopleSettings, report: ReportProgress | None = None
    ) -> Iterator[PeopleAtRisk]:
        """Yield whom the attacks find, with the fix of each."""
        attacks = PeopleAttacks(subject, settings, report)
        now = tuple(attacks.run(name, settings) for name in ATTACKS)
        remedies = remedies_of(subject, settings)
        strictest = strongest_plan(remedies)
        tried: list[tuple[Remedy, ...]] = [(remedy,) for remedy in remedies]
        if len(strictest) > 1:
            tried.append(strictest)
        somebody = any(attack.leak.any() for attack in now)
        effects: tuple[Effect, ...] = ()
        if somebody:
            effects = tuple(effect_of(attacks, plan) for plan in tried)
        yield PeopleAtRisk(
            attribute=subject.attribute,
            group_names=subject.dataset.group_names,
            rows=attacks.rows,
            groups=attacks.truth,
            columns=attacks.people.columns,
            attacks=now,
            imputed=attacks.imputed,
            fixes=smallest_fixes(attacks, remedies),
            effects=effects,
        )

    def findings(self, result: PeopleAtRisk, settings: PeopleSettings) -> tuple[Finding, ...]:
        """Return how many are found by how many attacks, then chance, imputation, and what those found share."""
        return headline(result), by_chance(result), in_common(result)

    def tables(
        self, result: PeopleAtRisk, settings: PeopleSettings
    ) -> Mapping[str, tuple[Row, ...]]:
        """Return attacks, people, sets, numbers of attacks, remedies, groups and common values."""
        tables: Tables = {
            "Attacks on people": attack_rows(result),
            "Found by several attacks": [
                {
                    "at least": k,
                    "people": result.at_least(k),
                    "if independent": round(result.expected(k), 1),
                }
                for k in range(1, 1 + len(ATTACKS))
            ],
            "Which attacks find the same people": set_rows(result),
            "What each remedy does": effect_rows(result),
            "Groups of the people found": [
                {"group": name, "found": share(rate)}
                for name, rate in zip(result.group_names, result.rates, strict=True)
            ],
            "What the people found have in common": [
                {
                    "column": common.column,
                    "value": common.value,
                    "found": share(common.among_pinned),
                    "rest": share(common.among_rest),
                }
                for common in result.common
            ],
            PEOPLE_TABLE: people_rows(result, result.chosen(hide_imputed=False)),
        }
        return {title: tuple(rows) for title, rows in tables.items()}


PEOPLE = PeopleAtRiskStudy()
