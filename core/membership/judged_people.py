"""Who is trained on, whom the attacker knows, and who is judged: people in disjoint sets.

Members are trained on, outsiders are not. The attacker knows of some members and of some outsiders what they are, and
judges others; nobody judged is known (Zhang et al. 2020: 15% and 15% known, 20% and 20% judged).

Halves: two halves of the judged, alike in members and non-members; one teaches, the other is judged, and back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Ints, Mask
from core.errors import InputError
from core.estimates import Estimate
from core.seeds import child_generator

FEWEST = 10
"""Fewest known, and fewest judged, members and outsiders; of fewer no curve is drawn and no advantage measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipSplit:
    """Row numbers: members and outsiders are disjoint, and so are the known and the judged of either."""

    members: Ints = field(repr=False)
    outsiders: Ints = field(repr=False)
    unseen: Ints = field(repr=False)
    """All who were drawn as outsiders, those left aside by `keeping` among them: how well a model predicts is measured
    on them, whatever was deleted from its training data."""
    known_members: Ints = field(repr=False)
    known_outsiders: Ints = field(repr=False)
    judged_members: Ints = field(repr=False)
    judged_outsiders: Ints = field(repr=False)
    aside: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)
    """Neither trained on nor judged: non-members the attacker knows beside `known_outsiders`."""

    @property
    def known(self) -> tuple[Ints, Codes]:
        """The rows the attacker knows, members first, and whether each is a member."""
        return _together(self.known_members, self.known_outsiders)

    @property
    def judged(self) -> tuple[Ints, Codes]:
        """The rows the attacker judges, members first, and whether each is a member."""
        return _together(self.judged_members, self.judged_outsiders)

    @property
    def population(self) -> Ints:
        """Non-members the attacker knows, none of whom is judged: whether they are members cannot move a score."""
        known = np.concatenate([self.known_outsiders, self.aside])
        return known[~np.isin(known, self.judged_outsiders)]

    def keeping(self, kept: npt.ArrayLike, *, outsiders: npt.ArrayLike) -> MembershipSplit:
        """Return the split after all members but these rows, `kept`, were deleted from the training data.

        The deleted are neither members nor outsiders then, and neither known nor judged. An attack could tell who is
        left from the outsiders by their records alone, without any leak, if the deletion looked at records: so the
        outsiders must be thinned by the same rule, see `core.membership.fairpick.like_outsiders`; those left aside are
        still `unseen`. Raises `InputError` if a row to keep is no member, or no outsider, or fewer than `FEWEST` of the
        known or judged are kept.
        """
        left: dict[str, Ints] = {}
        for side, rows in (("members", kept), ("outsiders", outsiders)):
            stay, own = np.asarray(rows, dtype=np.int64), getattr(self, side)
            if (strangers := stay[~np.isin(stay, own)]).size:
                raise InputError(f"Only {side} can be kept among the {side}, got row {strangers[0]}.")
            names = (side, f"known_{side}", f"judged_{side}")
            for name in names:
                before = getattr(self, name)
                left[name] = before[np.isin(before, stay)]
            _check_sizes(left[names[1]].size, left[names[2]].size, side)
        return replace(self, **left)


def member_split(n: int, *, seed: int, known_share: float = 0.15, judged_share: float = 0.2) -> MembershipSplit:
    """Make half of n people members, and draw whom the attacker knows and judges.

    Of an odd number one person is left out. The shares, in (0, 1), are of the members, and of as many outsiders;
    together they are at most 1. Raises `InputError` if the shares break their rules or leave fewer than `FEWEST` known
    or judged members.
    """
    half = n // 2
    order = child_generator(seed, "membership split").permutation(n)
    return _shared_out(order[:half], order[half : 2 * half], known_share, judged_share)


def split_between(
    members: npt.ArrayLike,
    outsiders: npt.ArrayLike,
    *,
    seed: int,
    known_share: float = 0.15,
    judged_share: float = 0.2,
) -> MembershipSplit:
    """Draw whom the attacker knows and judges among given members and outsiders, as many of each.

    The shares are of the smaller of the two sets. For the audited model the members are the audit's training records
    and the outsiders its test records. Raises `InputError` as `member_split`, and if somebody is a member and an
    outsider.
    """
    rng = child_generator(seed, "membership split")
    inside, outside = (np.asarray(rows, dtype=np.int64) for rows in (members, outsiders))
    if (both := np.intersect1d(inside, outside)).size:
        raise InputError(f"Nobody can be a member and an outsider, got row {both[0]} as both.")
    return _shared_out(rng.permutation(inside), rng.permutation(outside), known_share, judged_share)


def judging_everybody(
    members: npt.ArrayLike, outsiders: npt.ArrayLike, *, aside: npt.ArrayLike = ()
) -> MembershipSplit:
    """Return the split in which everybody is judged, for attacks that use nobody's membership or set halves apart.

    Those `aside` are neither trained on nor judged. Raises `InputError` if there are fewer than `FEWEST` members or
    non-members, or somebody is in two of the sets.
    """
    inside, outside, others = (np.sort(np.asarray(rows, dtype=np.int64)) for rows in (members, outsiders, aside))
    if (both := np.intersect1d(inside, outside)).size:
        raise InputError(f"Nobody can be a member and a non-member, got row {both[0]} as both.")
    if (both := np.intersect1d(others, np.concatenate([inside, outside]))).size:
        raise InputError(f"Nobody who is judged can be aside, got row {both[0]}.")
    for told, rows in (("members", inside), ("non-members", outside)):
        if rows.size < FEWEST:
            raise InputError(f"A membership attack needs at least {FEWEST} {told}, got {rows.size}.")
    return MembershipSplit(
        members=inside,
        outsiders=outside,
        unseen=outside,
        known_members=inside,
        known_outsiders=outside,
        judged_members=inside,
        judged_outsiders=outside,
        aside=others,
    )


def _shared_out(members: Ints, outsiders: Ints, known_share: float, judged_share: float) -> MembershipSplit:
    """Take the first rows of shuffled members and outsiders as known, the next as judged."""
    shares = {"known_share": known_share, "judged_share": judged_share}
    for name, share in shares.items():
        if not 0.0 < share < 1.0:
            raise InputError(f"{name} must be in (0, 1), got {share!r}.")
    if known_share + judged_share > 1.0:
        raise InputError(f"known_share and judged_share must add up to at most 1, got {known_share + judged_share:g}.")
    size = min(members.size, outsiders.size)
    known, judged = int(known_share * size), int(judged_share * size)
    _check_sizes(known, judged)
    return MembershipSplit(
        members=np.sort(members),
        outsiders=np.sort(outsiders),
        unseen=np.sort(outsiders),
        known_members=np.sort(members[:known]),
        known_outsiders=np.sort(outsiders[:known]),
        judged_members=np.sort(members[known : known + judged]),
        judged_outsiders=np.sort(outsiders[known : known + judged]),
    )


def _check_sizes(known: int, judged: int, side: str = "members") -> None:
    for told, count in (("know", known), ("judge", judged)):
        if count < FEWEST:
            raise InputError(f"A membership attack must {told} at least {FEWEST} {side}, got {count}.")


def _together(members: Ints, outsiders: Ints) -> tuple[Ints, Codes]:
    member = np.repeat(np.array([1, 0], dtype=np.uint8), [members.size, outsiders.size])
    return np.concatenate([members, outsiders]), member


_AGREE = math.sqrt(1.0 + 2.0 / math.pi)


def halves(member: npt.ArrayLike, *, seed: int) -> Mask:
    """Return who is in the second half; each half has as many members, and as many non-members, as the other.

    An odd one goes to the second half. Were the halves unlike, what is learned of one would say something of the
    other's share of members. The same people in the same order get the same halves.
    """
    inside = np.asarray(member)
    rng = child_generator(seed, "halves of the judged")
    second = np.zeros(inside.size, dtype=np.bool_)
    for kind in (0, 1):
        rows = rng.permutation(np.flatnonzero(inside == kind))
        second[rows[rows.size // 2 :]] = True
    return second


def taught_both_ways(found: Estimate, chance: float) -> Estimate:
    """Return an estimate over both halves, each judged by what the other taught, with an interval that is wide enough.

    Where nothing leaks, the halves differ from chance in a and b, independent with variance v. What one learns is the
    sign of its own difference, and the mean of both, (sign(b) a + sign(a) b) / 2, has the variance v (1 + 2/pi) / 2 and
    not v / 2: either both halves are right or both are wrong. Where something leaks for certain the signs are no
    chance. So the interval is sqrt(1 + 2/pi) times as wide unless it lies above chance even then.
    """
    below, above = (_AGREE * abs(end - found.value) for end in (found.low, found.high))
    if found.value - below > chance:
        return found
    return replace(found, low=found.value - below, high=found.value + above)
