"""The sentences of a model card: whom it pins down, what it gives away, then intervals and control; the guide."""

from __future__ import annotations

import math

from core.charts import bits_text, precision_text
from core.estimates import Estimate, count, in_words, percent, points
from core.model_card import (
    DISTANCE_MEDIAN,
    DISTANCE_WORST,
    DRAWS,
    Advice,
    InCommon,
    ReleasedPeople,
    ReleaseStudy,
    settled_as_most,
)
from core.model_card.card_people import EVERYBODY_ELSE
from pages.common import shell

_SMALL = 0.05
"""Bits below which nothing is said to be given away."""


def _card(study: ReleaseStudy) -> str:
    """Name the card, with how precise it is."""
    settings = study.settings
    if settings.epsilon is not None:
        how = f"With noise of ε = {settings.epsilon:g}"
    elif settings.decimals is None:
        how = "With exact numbers"
    else:
        how = f"Rounded to {precision_text(settings.decimals, None)}"
    models = "one model" if study.n_models == 1 else f"{study.n_models} models"
    return f"{how}, a card of {models} about {count(study.n)} people"


def finding(study: ReleaseStudy, people: ReleasedPeople) -> tuple[str, str]:
    """Return the finding and the grey line under it."""
    found, bits, predicted = study.measured, study.measured.bits, bits_text(study.prediction.bits.value)
    if study.status == "infeasible":
        return (
            f"{_card(study)} contradicts what the attacker holds for certain: what it gives away is not known.",
            f"Predicted without anybody's {shell.escape(study.attribute)}: {predicted} bits.",
        )
    away = (
        f"gives away {bits_text(bits.value)} bits beyond the features"
        if bits.value >= _SMALL
        else f"gives away nothing beyond the features ({bits_text(bits.value)} bits)"
    )
    if study.most_pinned:
        point = f"{_card(study)} pins down {_pinned(study, people)}, and {away}."
    elif study.draws is not None and not study.draws.known:
        point = f"{_card(study)} {away}; whom it pins down is not known in all of {study.draws.count} draws."
    else:
        draws = "" if study.draws is None else f" in any of {study.draws.count} draws of it"
        point = f"{_card(study)} {away} and pins nobody down{draws}."
    quantity = (
        f"{_bits(bits)}; predicted without anybody's {shell.escape(study.attribute)}: "
        f"{predicted}. Named rightly: {percent(found.accuracy_before)} before, "
        f"{percent(found.accuracy_after)} after ({points(found.accuracy_gain)}; {_span(found.accuracy_gain)}). "
        f"Baseline: {_majority(study, people)} is right for {percent(found.majority)}."
    )
    return point, quantity


def _majority(study: ReleaseStudy, people: ReleasedPeople) -> str:
    """Name the majority guess; nobody is called “everybody else”."""
    if 2 * int(people.sensitive.sum()) > people.n:
        return f"calling everybody “{shell.escape(study.group)}”"
    if study.other == EVERYBODY_ELSE:
        return f"calling nobody “{shell.escape(study.group)}”"
    return f"calling everybody “{shell.escape(study.other)}”"


def _pinned(study: ReleaseStudy, people: ReleasedPeople) -> str:
    """Say how many are pinned down, how many of them rightly, and as what; with noise in the worst draw too."""
    n, share = study.pinned.count, study.pinned.right
    if not n:
        worst = "one person" if study.most_pinned == 1 else f"{in_words(study.most_pinned)} of them"
        return f"nobody in this draw, {worst} {_worst(study)}"
    told = "one person" if n == 1 else f"{in_words(n)} of them"
    right = n if share is None else round(share.value * n)
    if share is not None:
        told += f", {_rightly(n, right)}"
    if settled := settled_as_most(study, people):
        joint = " " if n == 1 else " and all " if right == n and share is not None else ", all "
        told += f"{joint}as “{shell.escape(settled[0])}”, as {percent(settled[1], decimals=0)} of people are"
    if study.most_pinned > n:
        told += f" ({in_words(study.most_pinned)} {_worst(study)})"
    return told


def _worst(study: ReleaseStudy) -> str:
    assert study.draws is not None  # or the draw on screen were the worst
    return f"in the worst of {study.draws.count} draws"


def _rightly(n: int, right: int) -> str:
    if n == 1:
        return "rightly" if right else "wrongly"
    return "all rightly" if right == n else f"{'none' if right == 0 else in_words(right)} rightly"


def _bits(bits: Estimate) -> str:
    if math.isnan(bits.low):
        return f"{bits_text(bits.value)} bits in all"
    return f"{bits_text(bits.value)} bits in all ({bits_text(bits.low)} to {bits_text(bits.high)})"


def _span(gain: Estimate) -> str:
    low, high = (points(value).removesuffix(" points") for value in (gain.low, gain.high))
    return f"{low} to {high}"


def fullness_chart(study: ReleaseStudy) -> tuple[str, str]:
    """Return heading and quantity of the chart of joint bits."""
    share = study.meter.share
    told = (
        "As a rule, everything is determined"
        if share >= 1.0
        else f"{percent(share, decimals=0)} of what there was to know"
        if share >= 0.01
        else "Less than 1% of what there was to know"
    )
    return told, "What the numbers hold at most, by the meter, as a share of what there was to know"


def advice(found: Advice, study: ReleaseStudy) -> str:
    """Return the adviser's line."""
    where = "That holds for these people and these models, not for others."
    if found.exact:
        misled = "; noise does in some draws, because it misleads" if found.misled else ""
        return f"**Advice:** even exact numbers pin nobody down here{misled}. {where}"
    rounding = "" if found.decimals is None else f"at most {precision_text(found.decimals, None)}"
    noise = "" if found.epsilon is None else f"noise of ε = {found.epsilon:g} or less (nobody in {DRAWS} draws of it)"
    if rounding and noise:
        return f"**Advice:** {rounding}, or {noise}, pin nobody down. {where}"
    if rounding or noise:
        other = "no noise tried does" if rounding else "rounding does not, down to one decimal"
        return f"**Advice:** {rounding or noise} pins nobody down; {other}. {where}"
    return (
        f"**Advice:** neither rounding to one decimal nor the strongest noise tried keeps all {count(study.n)} people "
        "from being pinned down: publish fewer models."
    )


def alone(found: InCommon) -> str:
    """Say how small the cells are in which the pinned sit."""
    total = sum(pinned for _, pinned in found.cell_sizes)
    alone = sum(pinned for size, pinned in found.cell_sizes if size == 1)
    if alone == total:
        return "each is alone with these predictions"
    if 2 * alone >= total:
        return f"{in_words(alone)} of {total} are alone with their predictions"
    return f"half share their predictions with at most {count(math.ceil(found.median_cell) - 1)} others"


def cells(found: InCommon) -> str:
    """Explain the cells."""
    rest = "" if math.isnan(found.median_cell_rest) else f", of anybody else {found.median_cell_rest:,.0f}"
    return (
        "People whom every model on the card gives the same answer, and who have the same label, are one cell: the "
        f"numbers speak of them as one. The median cell of a pinned person holds {found.median_cell:,.0f}{rest}. "
        "Models that are nearly alike cut out tiny cells."
    )


def nobody(study: ReleaseStudy) -> str:
    """Say that nobody is pinned down, and of how many it could have been."""
    if study.status == "infeasible":
        return "Not known: no probabilities agree with the numbers."
    draws = study.draws
    here = "Nobody is pinned down" if draws is None else "In this draw of the noise nobody is pinned down"
    worst = ""
    if draws is not None and study.most_pinned:
        worst = f" In the worst of {draws.count} draws {in_words(study.most_pinned)} of them would be."
    elif draws is not None:
        worst = f" In {draws.count} draws {'nobody would be' if draws.known else 'it is not always known'}."
    return (
        f"{here}: of {count(study.pinned.n_unsure)} people the attacker was unsure about (5 to 95%), "
        f"none is beyond 99.5% after.{worst}"
    )


def left_out(people: ReleasedPeople) -> str:
    """Say which records of the table nobody looks at, and why; empty where there are none."""
    if not people.left_out:
        return ""
    return shell.escape(f"Of {count(people.rows_read)} records of the table: {' '.join(people.left_out)}")


def numbers(study: ReleaseStudy) -> str:
    """Name the table of the numbers; noise that a seed draws can be drawn again by anybody, and taken off."""
    return "The published numbers" if study.settings.epsilon is None else "One draw of the numbers, not for publishing"


def distance() -> str:
    """Say how far the projection is from the exact posterior."""
    return (
        "Probabilities after the release are those of the information projection. In releases about 6 to 12 people, "
        "group sizes included, where the exact ones can be counted out, a person's is off by "
        f"{100 * DISTANCE_MEDIAN:.0f} points on average in the median release and by {100 * DISTANCE_WORST:.0f} in the "
        "worst."
    )


_SOURCES = (
    "Sources: the measures and the experiment are FairLeak's own. Information projection: Csiszár, I. (1975), "
    "*I-Divergence Geometry of Probability Distributions and Minimization Problems*."
)


def _how(study: ReleaseStudy) -> str:
    """Say how the gain of this card was predicted."""
    if draws := study.prediction.draws:
        return (
            f"Here it is the mean of {draws} cards tried out, each with everybody's value drawn from the attacker's "
            "probabilities."
        )
    return "Here hardly anybody settles, and the meter's formula gives it; otherwise cards are tried out."


def guide(study: ReleaseStudy) -> str:
    """Explain the page."""
    attribute = shell.escape(study.attribute)
    return (
        f"A card says how a model treats groups. Each number is a sum over everybody's {attribute}, so it is a linear "
        f"equation with {count(study.n)} unknowns. Somebody who knows everybody's features, label and predictions (a "
        "colleague, a data broker) already has a probability for each, from gradient boosting on other people, "
        "calibrated on yet others. The card moves these probabilities.\n\n"
        "**Gain of the attacker, in bits beyond the features.** *Measured*: by how much the card shortens the message "
        f"that would name everybody's {attribute} rightly, in all. For these people it is known; its 95% interval is "
        "of the gain to be expected from such a card about as many other people like these. *Predicted*: the expected "
        f"gain without anybody's true value, so it can be read before publishing. {_how(study)} It takes the "
        "attacker's guess before the release for right. Where that guess is wrong the numbers also repair it, and more "
        "is gained; the sentence under the chart says whether chance alone explains the difference.\n\n"
        "**Pinned down** is who was unsure before (5 to 95%) and is settled after (beyond 99.5%). Averages hide them: "
        "a card of one model adds one or two bits about thousands of people, but nearly identical models differ in "
        "single people, and the difference of their numbers is these people's. With noise another draw may pin "
        "somebody down whom this one does not, so the finding and the advice go by the worst of several draws.\n\n"
        "**The line at 1.** What the numbers hold at most counts what they say about everybody together, by the meter "
        "again; an attacker gains less of it, person by person, unless they also repair his guess. Where it equals "
        "what there was to know there is, as a rule, one answer left.\n\n"
        f"**How exact this is.** {distance()} The more people share a number, the nearer it comes. It is the closest "
        "distribution that meets the published numbers in expectation; for exact numbers the measured gain is what it "
        "moved.\n\n"
        "**What it does not show.** Other attackers may know more, for instance who is in a group already. Rounding "
        "bounds nothing by itself: whether it helps depends on who else is on the card, so the advice holds for these "
        "people and models alone. Leaving the group sizes out hides little: where only one size makes whole people of "
        "all the numbers, it counts as known here. Only noise with a privacy budget promises something for others: "
        "whatever one person's attribute is, everybody's features, labels and predictions being the same, no card "
        "becomes more than e to the ε times as likely. That says nothing of what the models themselves learned from "
        "the attribute, and it holds for noise nobody can draw again: here it comes from the seed, so that the page "
        f"stays the same, and these noisy numbers are not for publishing.\n\n{_SOURCES}"
    )
