"""The checks a policy may set a limit to: each says what an attack gains, or what the model does, as one number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.estimates import MOST_TESTED
from core.studies import STUDIES
from core.study import Check

_OWN = (
    Check(
        name="attribute_excess",
        title="{attribute} inferred from what is released: gain in accuracy",
        unit="points",
        definition="Accuracy of the best attack on everything released, labels, scores and their digits, minus that of "
        "imputation from features and label alone.",
    ),
    Check(
        name="attribute_balanced",
        title="{attribute} inferred from what is released: gain in balanced accuracy",
        unit="points",
        definition="The same gain in balanced accuracy, with each group called where its probability is above its "
        "share: it sees what accuracy cannot where one group is small.",
    ),
    Check(
        name="attribute_bits",
        title="{attribute} inferred from what is released: bits a person",
        unit="bits",
        definition="The same gain in log-loss, in bits a person: how much better the attacker's probabilities "
        "become, whether or not a guess changes.",
    ),
    Check(
        name="correction_gain",
        title="{attribute} recovered from the fairness promise",
        unit="points",
        definition="Accuracy of the best attacker after reconstruction correction with the disclosed tolerance (Ferry "
        "et al. 2023) minus that of the best attacker told nothing; the majority guess is among both.",
    ),
    Check(
        name="answers_excess",
        title="{attribute} learned from answered questions",
        unit="points",
        definition="Balanced accuracy of the strongest decoder with a prior after the planned answers to bias "
        "questions minus that of the prior alone (Hamman et al. 2023).",
        needs=("scores", "planned answers"),
    ),
    Check(
        name="targeted_leakage",
        title="Targeted query: one person's attribute (upper bound)",
        unit="percent",
        definition="Largest balanced accuracy with which the planned answers can tell one person's group, whatever is "
        "asked and without a prior: computed from the declared mechanism and budget, not measured.",
        needs=("planned answers",),
    ),
    Check(
        name="membership_caught",
        title="Training records identified (TPR at 1% FPR)",
        unit="percent",
        definition="Share of the training records that the best membership attack tried identifies while it flags 1% "
        "of the non-members; ties are broken at random, so that 1% is chance.",
        needs=("scores",),
    ),
    Check(
        name="membership_auc",
        title="Training records told from others (AUC)",
        unit="ratio",
        definition="Chance that the best membership attack tried ranks a training record above a non-member; 0.5 "
        "where nothing leaks.",
    ),
    Check(
        name="membership_advantage",
        title="Training records told from others: advantage (TPR − FPR)",
        unit="points",
        definition="Largest TPR − FPR of the best membership attack tried, its threshold chosen on other people "
        "(Yeom et al. 2018); 0 where nothing leaks.",
    ),
    Check(
        name="membership_gap",
        title="Training records identified (TPR at 1% FPR): difference between groups",
        unit="points",
        definition="Largest absolute difference between a group and the others in TPR at 1% FPR of each group.",
        needs=("scores",),
    ),
    Check(
        name="unfairness",
        title="Unfairness on unseen people",
        unit="gap",
        definition="Largest deviation of a group's rate from the overall rate on the test records, by the audited "
        "metric. Fairlearn's difference between groups is at least as large; it stands beside, without a limit.",
    ),
    Check(
        name="four_fifths",
        title="Lowest acceptance rate as a share of the highest",
        unit="ratio",
        at_least=True,
        definition="Acceptance rate of the group accepted least, divided by that of the group accepted most, on the "
        "test records: the four-fifths rule asks for 0.8.",
    ),
    Check(
        name="attriguard_exposure",
        title="{attribute} guessed despite AttriGuard",
        unit="percent",
        definition="Accuracy of the best attacker, those trained against the noise among them, on records with "
        "AttriGuard's noise at the planned budget; never below the majority guess (Jia and Gong 2018).",
        needs=("a guard",),
    ),
    Check(
        name="attriguard_cost",
        title="What AttriGuard costs",
        unit="columns",
        definition="Columns of a person's record that AttriGuard changes on average at the planned budget.",
        needs=("a guard",),
    ),
)

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
        found = {check.name: check for check in (*(c for study in STUDIES.values() for c in study.declared), *_OWN)}
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
