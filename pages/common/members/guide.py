"""How to read the page on membership inference, and what does not survive of the paper's claims."""

from __future__ import annotations

from core.membership import MembershipFindings
from core.models import GIVEN
from core.wording import count
from pages.common import shell
from pages.common.members.choice import Chosen
from pages.common.members.words import group_names

__all__ = ["guide"]

_SOURCE = (
    "Sources: Zhang, B., Yu, R., Sun, H., Li, Y., Xu, J. and Wang, H. (2020), *Privacy for All: Demystify "
    "Vulnerability Disparity of Differential Privacy against Membership Inference Attack*; Carlini, N. and others "
    "(2022), *Membership Inference Attacks From First Principles*; Yeom, S. and others (2018), *Privacy Risk in "
    "Machine Learning*."
)


def guide(found: MembershipFindings, chosen: Chosen, notes: tuple[str, ...]) -> str:
    """Explain the page."""
    group, others = group_names(found, chosen.group)
    lira = (
        f"*LiRA*, usually the strongest, trains {found.settings.shadows} models of the same kind with and without each "
        "person and compares; it gives scores, no flags."
    )
    left_out = "".join(f"\n- {shell.escape(note)}" for note in notes)
    return (
        "Somebody who sees a model's answers guesses who was in its training data: models are surer of people they "
        f"have seen. {_members(found, chosen)} The attacker knows of some of both what they are, and judges others."
        "\n\n"
        "**Who attacks.** *The paper's network* learns for each label which probabilities members get. *Loss* and "
        "*confidence threshold* call everybody a member of whom the model is sure "
        f"enough. {found.not_run.get('lira', lira)}\n\n"
        f"**The four gaps.** *VD* compares the members flagged: {group} minus {others}. An attack that flags everybody "
        "of a group has a large VD and has found out nothing, so the same is done for outsiders (*FPR gap*). What is "
        "left when the second is taken from the first (*TPR − FPR gap*) is what leaks more about the group. *LiRA's "
        "gap* compares TPR at 1% FPR; it needs 1,000 non-members in each group. VD is muted "
        "when the attack is not measurably better than a coin toss. Intervals treat the judged people as a sample, "
        "the model and the seed as given.\n\n"
        "**What does not survive of the paper.** It reads VD alone as vulnerability: on a tree of one leaf, which "
        "leaks nothing, its attack still shows a VD. Its FairPick is not compared with deleting as many rows at "
        "random, which may do as well, and a budget spent on each count separately adds up to far more than ε. The "
        "sections below show each on this table.\n\n"
        "**What it does not show.** A small number means that this attack finds little, not that nobody could find "
        "more. And ε is a promise only while the seed of the noise is secret: here it is shown in the sidebar, so that "
        f"the numbers can be had again.{' Left out or taken as given:' + left_out if notes else ''}\n\n"
        f"{_SOURCE}"
    )


def _members(found: MembershipFindings, chosen: Chosen) -> str:
    """Say who is in the training data."""
    who = count(found.n_members)
    if chosen.target == "audited":
        told = f"The audit's training people train the model ({who} members), its test people do not (outsiders)."
    elif chosen.target == GIVEN:
        told = f"Members are the {who} people your table says the model was trained on, outsiders the test people."
    else:
        told = f"Half of the table's people train the model ({who} members), the other half do not (outsiders)."
    return told if chosen.theta >= 1.0 else f"{told} Members whom FairPick has deleted are neither any more."
