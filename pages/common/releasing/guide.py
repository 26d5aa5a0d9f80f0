"""How to read the page on releases."""

from __future__ import annotations

from core.release import ReleaseStudy
from core.wording import count
from pages.common import shell
from pages.common.releasing.words import distance

__all__ = ["guide"]

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
