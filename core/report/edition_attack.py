"""FairLeak's attack on its own report: what fairness numbers tell about the test people.

Whoever reads the report may hold everything about the test people but the sensitive attribute: features, labels, the
model's predictions, and from these a calibrated probability of every group (the prior). To such a reader a group's
size n and rate r on some rows R are linear statements about who is in the group,

    Σ_R [s_i = g] = n,        Σ_R ŷ_i [s_i = g] = k,  with k/n printed as r,

exactly the answers to bias questions of Hamman et al. (2023), about a model everybody has already. A rate printed with
d decimals leaves the whole numbers k for which k/n rounds to it; its interval and, with two groups, the other group's
rate, the unfairness and the ratio of acceptance rule out more of them. What is left is an interval of k, often a single
number.

The decoder is the information projection of the prior on these statements (`core.projection`): with a handful of sums
over thousands of people nobody is determined, so the most probable vector would be the wrong target, and propagation
is made for noise. Among all distributions that meet the statements in expectation the projection is the closest to the
prior, and if the statements are true the log-loss of the truth falls by at least the divergence moved.

Not read: numbers about other records (sizes and label rates of the whole table, unfairness on the training records),
and whatever the verdicts and the numbers of the attacks themselves tell. What those add was not tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.arrays import Codes, Floats
from core.errors import InputError
from core.estimates import (
    Estimate,
    accuracy,
    balanced_accuracy,
    balanced_gain,
    count,
    interval,
    not_measured,
    paired_gain,
    percent,
    points,
    proportion,
)
from core.model_card.pinned_people import SETTLED, UNSURE
from core.projection import Constraints
from core.release_audit.inputs import AttackedPeople
from core.report.canonical import decimals_of, number_of, printed, strict
from core.serialize import Result
from core.study import Outcome

PARTS = {"test_rate": None, "test_tpr": 1, "test_fpr": 0}
"""Rate in a group's summary -> label of the rows it is about, None for all."""

_METRIC_OF = {"test_rate": "statistical_parity", "test_tpr": "equal_opportunity", "test_fpr": "predictive_equality"}

_MOST_TRIED = 50
"""Numbers of accepted people tried against unfairness and ratio; where more are left, these are hardly finer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """How many of a group there are, in all or with a label, or accepted of these, lies between `low` and `high`."""

    group: int
    label: int | None
    accepted: bool
    low: int
    high: int

    @property
    def patterns(self) -> tuple[int, ...]:
        """Which of the four patterns, prediction + 2 · label, are counted: 0 or 1 each."""
        return tuple(
            int(self.label in (None, pattern >> 1) and (pattern & 1 or not self.accepted)) for pattern in range(4)
        )

    @property
    def exact(self) -> bool:
        """Whether it gives a whole number."""
        return self.low == self.high


def statements_of(
    document: Mapping[str, Any],
    predictions: Codes,
    labels: Codes,
    group_names: Sequence[str],
    *,
    exact: bool = False,
) -> tuple[Statement, ...]:
    """Return what the groups' summaries state about people with these predictions and labels, each of shape (n,).

    With `exact` the rates have every digit, so that each gives a whole number; otherwise they are read as rounded.
    InputError if the document names a group the people do not have, or counts more of them than there are.
    """
    names = [strict(name) for name in group_names]
    found: list[Statement] = []
    for part, label in PARTS.items():
        rows = np.ones(len(labels), dtype=bool) if label is None else labels == label
        accepted = int(np.count_nonzero(predictions[rows]))
        sizes: dict[int, int] = {}
        hits: dict[int, range] = {}
        for summary in document["groups"]:
            if summary["group"] not in names:
                raise InputError(f"The document's groups must be those of the people, got {summary['group']!r}.")
            rate = summary[part]
            if rate is None or rate["value"] is None:
                continue
            group = names.index(summary["group"])
            sizes[group] = size = int(rate["n"])
            if size > rows.sum():
                raise InputError(f"A group must not have more than the {rows.sum():,} people attacked, got {size:,}.")
            told = round(number_of(rate["value"]) * size)
            hits[group] = range(told, told + 1) if exact else _possible(rate)
        if not exact:
            hits = _linked(document, part, sizes, hits, accepted, len(names), int(rows.sum()))
        found += _stated(label, sizes, hits)
    return tuple(found)


def _possible(rate: Mapping[str, Any]) -> range:
    """Return the numbers of accepted people for which the rate and its interval would be printed as they are."""
    n, value = int(rate["n"]), number_of(rate["value"])
    half = 0.5 * 10.0 ** -decimals_of(number_of(rate["low"]), number_of(rate["high"]))
    low, high = max(0, int(np.ceil((value - half) * n - 1e-9))), min(n, int(np.floor((value + half) * n + 1e-9)))
    wide, stated = range(low, high + 1), tuple(number_of(rate[name]) for name in ("value", "low", "high"))
    found = {k: proportion(k, n, level=number_of(rate["level"])) for k in wide}
    told = [k for k, one in found.items() if printed(one.value, one.low, one.high) == stated]
    return range(told[0], told[-1] + 1) if told else wide


def _linked(
    document: Mapping[str, Any],
    part: str,
    sizes: dict[int, int],
    hits: dict[int, range],
    accepted: int,
    k: int,
    n: int,
) -> dict[int, range]:
    """Use that, of two groups, what one does not have the other has, and the numbers that compare them."""
    if k != 2 or not hits:
        return hits
    for group in (0, 1):
        other = hits.get(1 - group)
        if other is not None and sizes.get(group, n - sizes[1 - group]) == n - sizes[1 - group]:
            own = hits.get(group, range(0, accepted + 1))
            hits[group] = range(max(own.start, accepted - other.stop + 1), min(own.stop, accepted - other.start + 1))
            sizes[group] = n - sizes[1 - group]
    if set(hits) == {0, 1} and len(hits[1]) <= _MOST_TRIED:
        kept = [h for h in hits[1] if _fits_others(document, part, h, sizes, accepted, n)]
        if kept:
            hits[1] = range(kept[0], kept[-1] + 1)
            hits[0] = range(accepted - kept[-1], accepted - kept[0] + 1)
    return hits


def _fits_others(
    document: Mapping[str, Any], part: str, hits: int, sizes: dict[int, int], accepted: int, n: int
) -> bool:
    """Whether this many accepted people of group 1 would give the unfairness and the ratio that are printed."""
    gap, ratio = _gap(document, part), _ratio(document, part)
    rates = [k / size for k, size in ((hits, sizes[1]), (accepted - hits, sizes[0])) if size]
    if gap is not None and not _near(max(abs(rate - accepted / n) for rate in rates), gap):
        return False
    return ratio is None or len(rates) < 2 or not accepted or _near(min(rates) / max(rates), ratio)


def _gap(document: Mapping[str, Any], part: str) -> Mapping[str, Any] | None:
    """Return the printed unfairness where it is about these rows alone: there every metric is statistical parity."""
    gap = document["model"]["unfairness_test"]
    about = document["model"]["metric"] == _METRIC_OF[part]
    return gap if about and gap is not None and gap["value"] is not None else None


def _ratio(document: Mapping[str, Any], part: str) -> Mapping[str, Any] | None:
    """Return the printed ratio of acceptance, which is about everybody."""
    found = (m["estimate"] for m in document["measurements"] if m["check"] == "four_fifths" and part == "test_rate")
    ratio = next(found, None)
    return None if ratio is None or ratio["value"] is None else ratio


def _near(value: float, printed_: Mapping[str, Any]) -> bool:
    """Whether a number would be printed as this one."""
    low, high = number_of(printed_["low"]), number_of(printed_["high"])
    half = 0.5 * 10.0 ** -decimals_of(low, high)
    return abs(value - number_of(printed_["value"])) <= half + 1e-9


def numbers_of(document: Mapping[str, Any]) -> int:
    """Return how many fairness numbers about the test people are printed: sizes, rates, unfairness, ratio."""
    rates = [summary[part] for summary in document["groups"] for part in PARTS]
    told = [_gap(document, part) for part in PARTS] + [_ratio(document, "test_rate")]
    return 2 * sum(rate is not None and rate["value"] is not None for rate in rates) + sum(x is not None for x in told)


def _stated(label: int | None, sizes: dict[int, int], hits: dict[int, range]) -> list[Statement]:
    """Return sizes and numbers of accepted people as statements."""
    found = []
    for group, size in sizes.items():
        found.append(Statement(group=group, label=label, accepted=False, low=size, high=size))
        if left := hits.get(group):
            found.append(Statement(group=group, label=label, accepted=True, low=left[0], high=left[-1]))
    return found


def independent(statements: Iterable[Statement], k: int) -> int:
    """Return how many of the statements are linearly independent, given what predictions and labels tell.

    That the groups of a pattern add up to all its records is known without the report.
    """
    known = np.kron(np.eye(4), np.ones(k))
    rows = [np.kron(s.patterns, np.eye(k)[s.group]) for s in statements]
    return int(np.linalg.matrix_rank(np.vstack([known, *rows]))) - 4 if rows else 0


def constraints_of(statements: Sequence[Statement], predictions: Codes, labels: Codes, k: int) -> Constraints | None:
    """Return the statements as what a projection has to meet; None where there are none.

    Statements that say nothing beyond the others are left out: exact ones first, then the narrowest.
    """
    kept: list[Statement] = []
    for statement in sorted(statements, key=lambda s: s.high - s.low):
        if independent([*kept, statement], k) > len(kept):
            kept.append(statement)
    if not kept:
        return None
    rows = [(s, 1.0, s.high) for s in kept] + [(s, -1.0, -s.low) for s in kept if not s.exact]
    return Constraints(
        pattern=(predictions + 2 * labels).astype(np.intp),
        weights=np.array([np.multiply(sign, s.patterns) for s, sign, _ in rows], dtype=np.float64),
        groups=np.array([np.eye(k)[s.group] for s, _, _ in rows]),
        bound=np.array([bound for _, _, bound in rows], dtype=np.float64),
        equality=np.array([s.exact for s, _, _ in rows]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionAttack(Result):
    """What a reader recovers from an edition's fairness numbers; `reason` says why if there is no result.

    `numbers` counts the edition's fairness numbers that speak of the test `people`: sizes, rates, unfairness, ratio.
    They amount to so many linearly independent `equations` beyond what predictions and labels tell, `exact` of which
    give a whole number, as an exact answer to a bias question does. `before` and `after` are balanced accuracies of the
    guess from the prior alone and with the edition, `gain` the change; those with "accuracy_" are of plain accuracy of
    the likeliest group. The log-loss of the truth, over all people together, is `prior_bits` under the prior and falls
    by `bits`; nan where not run. `pinned` people were open before and are nearly certain after, `pinned_right` of them
    rightly; None where the rates are withheld. `told` is the result in a few sentences.
    """

    outcome: Outcome
    reason: str
    people: int = 0
    numbers: int = 0
    equations: int = 0
    exact: int = 0
    before: Estimate = field(default_factory=not_measured)
    after: Estimate = field(default_factory=not_measured)
    gain: Estimate = field(default_factory=not_measured)
    accuracy_before: Estimate = field(default_factory=not_measured)
    accuracy_after: Estimate = field(default_factory=not_measured)
    accuracy_gain: Estimate = field(default_factory=not_measured)
    bits: float = math.nan
    prior_bits: float = math.nan
    pinned: int = 0
    pinned_right: int | None = 0
    told: str


def attack_edition(document: Mapping[str, Any], people: AttackedPeople | None, *, rates: bool = True) -> EditionAttack:
    """Attack an edition, as `core.report.document` makes it, with the fairness numbers that stand in it.

    That the test people are not at hand is a result that says so. `rates` says whether the result tells how many were
    named rightly, and how much of the truth was learned: where counts of a group are withheld these may tell them to
    whoever knows the prior. InputError if the people are not those of the document.
    """
    if people is None:
        return _without(Outcome.NOT_RUN, "the test people were not at hand when it was written", document)
    from core.projection import project

    statements = statements_of(document, people.predictions, people.labels, people.group_names)
    before = after = np.asarray(people.prior, dtype=np.float64)
    constraints = constraints_of(statements, people.predictions, people.labels, before.shape[1])
    if constraints is not None:
        projected = project(before, constraints)
        if projected.status == "infeasible":
            return _without(Outcome.FAILED, "its numbers contradict the people it was attacked on", document)
        after = projected.probability
    found = _measured(before, after, statements, people, document)
    return found if rates else _without_rates(found)


def _measured(
    before: Floats,
    after: Floats,
    statements: tuple[Statement, ...],
    people: AttackedPeople,
    document: Mapping[str, Any],
) -> EditionAttack:
    truth, n, k = people.sensitive, len(people.sensitive), before.shape[1]
    balanced = [_balanced(p) for p in (before, after)]
    likeliest = [p.argmax(axis=1).astype(np.uint8) for p in (before, after)]
    was, now = (p == truth for p in likeliest)
    cost = [-np.log2(np.maximum(p[np.arange(n), truth], 1e-300)) for p in (before, after)]
    top = before.max(axis=1)
    pinned = (top >= 0.5) & (top <= UNSURE[1]) & (after.max(axis=1) > SETTLED[1])
    found: dict[str, Any] = {
        "people": n,
        "numbers": numbers_of(document),
        "equations": independent(statements, k),
        "exact": independent([s for s in statements if s.exact], k),
        "before": balanced_accuracy(truth, balanced[0]),
        "after": balanced_accuracy(truth, balanced[1]),
        "gain": balanced_gain(truth, *balanced),
        "accuracy_before": accuracy(truth, likeliest[0]),
        "accuracy_after": accuracy(truth, likeliest[1]),
        "accuracy_gain": paired_gain(int(np.sum(now & ~was)), int(np.sum(was & ~now)), n),
        "bits": float(cost[0].sum() - cost[1].sum()),
        "prior_bits": float(cost[0].sum()),
        "pinned": int(pinned.sum()),
        "pinned_right": int((pinned & now).sum()),
    }
    return EditionAttack(
        outcome=Outcome.DONE, reason="", told=_told(found, str(document["data"]["attribute"])), **found
    )


def _balanced(probability: Floats) -> Codes:
    """Return the guess of the highest expected balanced accuracy: the group that is most above its mean."""
    from core.queries import balanced_guess

    if probability.shape[1] == 2:
        return balanced_guess(probability[:, 1])
    mean = np.maximum(probability.mean(axis=0), 1e-12)
    return (probability / mean).argmax(axis=1).astype(np.uint8)


def _told(found: dict[str, Any], attribute: str) -> str:
    if not found["equations"]:
        return (
            f"{_NOTHING}, so the decoder had nothing to add to features and labels alone: {percent(found['before'])} "
            f"of {attribute}, balanced over the groups. {_NOT_TRIED}"
        )
    exact = {0: "none of them exact", found["equations"]: "all of them exact"}.get(
        found["exact"], f"{found['exact']} of them exact"
    )
    gain = found["gain"]
    return (
        f"{_amount(found)}, {exact}. "
        f"The strongest decoder, which also knows everybody's features, label and prediction, recovers {attribute} of "
        f"{percent(found['after'])} with them (95%: {interval(found['after'])}) and of {percent(found['before'])} from "
        f"features and label alone: {points(gain)}, 95%: {_signed(gain.low)} to {_signed(gain.high)}, balanced over "
        f"the groups. The numbers tell {bits_text(found['bits'])} of the {bits_text(found['prior_bits'])} that "
        f"features and label leave open; they make {people_text(found['pinned'])} nearly certain "
        f"who was not before. {_NOT_TRIED}"
    )


_NOTHING = "No size or rate of a group on the test records stands in this edition"
_NOT_TRIED = "What the verdicts and the numbers of the attacks tell besides was not tried."


def _amount(found: Mapping[str, Any]) -> str:
    return (
        f"Its {found['numbers']} fairness numbers amount to {found['equations']} linear "
        f"{'equation' if found['equations'] == 1 else 'equations'} about {count(found['people'])} test people"
    )


def _without_rates(found: EditionAttack) -> EditionAttack:
    """Return the attack without what hangs on how many were named rightly."""
    names = ("outcome", "reason", "people", "numbers", "equations", "exact", "pinned")
    kept = {name: getattr(found, name) for name in names}
    told = (
        f"{_amount(kept) if found.equations else _NOTHING}. How much the strongest decoder recovers with what is "
        f"printed is withheld: it may tell counts of a group. {_NOT_TRIED}"
    )
    return EditionAttack(**kept, pinned_right=None, told=told)


def people_text(number: int) -> str:
    """Write "nobody", "one person" or "12 people"."""
    return {0: "nobody", 1: "one person"}.get(number, f"{count(number)} people")


def _signed(share: float) -> str:
    return points(share).removesuffix(" points")


def bits_text(bits: float) -> str:
    """Write "1,234.5 bits", with a true minus."""
    return f"{bits:,.1f} bits".replace("-", "−")


def _without(outcome: Outcome, reason: str, document: Mapping[str, Any]) -> EditionAttack:
    return EditionAttack(
        outcome=outcome,
        reason=reason,
        told=f"This edition was not attacked before it was written: {reason}. "
        f"What it tells about {document['data']['attribute']} is not known.",
    )
