"""What is true of each model of the bank, computed from how it was made; no attack of the audit is asked.

Of the attribute: the posterior before the release is the people's own law, or where none is known that of boosting on
features and label, learnt from the attacker's records. Times the release's likelihood it is the posterior of a reader
who knows the model. Of membership: what the model says of members and of non-members, straight from the true sets.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from tests.verdicts.bank import BANK, Entry
from tests.verdicts.people import Floats, People, normalised
from tests.verdicts.releases import Release

FILE = Path(__file__).parent / "truth.toml"
SEEDS = (1, 2, 3, 4, 5)

LEAST_GAIN = 0.06
"""What a reader who knows the model gains of a leaking one: three times the limit of 2 points."""

LEAST_AUC, LEAST_ADVANTAGE = 0.60, 0.15
"""What a leaking model's training records show: the one or the other; the limits are .55 and .10."""

MOST_AUC, MOST_ADVANTAGE = 0.53, 0.06
"""What a harmless model's show at most, on tables that are large enough."""

LARGE = 1_000
"""People trained on, and people left for testing, of a table that is large enough."""

FAIR = 0.035
"""Unfairness of a fair model at most; the limit is .05."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What is true of one model at one seed: of the attribute, of membership, and sizes."""

    differ: float  # share of the training people whose release would not be as likely under another value
    gain: float  # what the reader gains over the posterior before, in accuracy
    gain_balanced: float  # and in balanced accuracy at the groups' shares
    bits: float  # the same in bits a person
    auc: float  # of the probability of the true label, members against all others
    advantage: float
    unfairness: float  # largest distance of a group's acceptance rate from everybody's
    smallest: int  # people trained on, or left for testing, whichever are fewer


def truth_of(people: People, release: Release) -> Truth:
    """Return what is true of a release."""
    differ, gain, balanced, bits = _attribute(people, release)
    auc, advantage = _membership(people, release)
    rates = [release.prediction[people.attribute == k].mean() for k in range(people.groups)]
    unfairness = float(np.abs(np.array(rates) - release.prediction.mean()).max())
    return Truth(
        differ=differ,
        gain=gain,
        gain_balanced=balanced,
        bits=bits,
        auc=auc,
        advantage=advantage,
        unfairness=unfairness,
        smallest=int(min((people.sets == name).sum() for name in ("train", "test"))),
    )


def contradiction(entry: Entry, found: Truth) -> str:
    """Return what speaks against an entry's truth in one sentence; "" if nothing does."""
    members = found.auc >= LEAST_AUC or found.advantage >= LEAST_ADVANTAGE
    attribute = max(found.gain, found.gain_balanced)
    large = found.smallest >= LARGE
    if "attribute" in entry.leaks and attribute < LEAST_GAIN:
        return f"A reader gains {attribute:.3f}, less than {LEAST_GAIN}."
    if "attribute" not in entry.leaks and (found.differ or attribute or found.bits):
        return f"{found.differ:.3f} of the releases depend on the attribute."
    if "membership" in entry.leaks and not members:
        return f"Members show an AUC of {found.auc:.3f} and an advantage of {found.advantage:.3f} only."
    if entry.large_enough != large:
        return f"large_enough is {entry.large_enough}, and the smallest set has {found.smallest} people."
    if entry.leaks or not large:
        return ""
    if found.auc > MOST_AUC or found.advantage > MOST_ADVANTAGE:
        return f"Members show an AUC of {found.auc:.3f} and an advantage of {found.advantage:.3f}."
    if entry.unfair != (found.unfairness > FAIR):
        return f"The unfairness is {found.unfairness:.3f}."
    return ""


def recorded() -> dict[str, list[Truth]]:
    """Return the truth as it was fixed: name -> one a seed of `SEEDS`."""
    content = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {
        name: [Truth(**{key: values[i] for key, values in table.items()}) for i in range(len(SEEDS))]
        for name, table in content.items()
    }


def write() -> None:
    """Fix the truth of the whole bank."""
    lines = [
        "# What is true of each model of the bank, for seeds 1 to 5; see truth.py for what each number is.",
        "# Made by: python -m tests.verdicts.truth",
    ]
    for name, entry in BANK.items():
        found = [asdict(truth_of(*entry.make(seed))) for seed in SEEDS]
        lines += ["", f"[{name}]"]
        lines += [f"{key} = [{', '.join(f'{round(each[key], 4)}' for each in found)}]" for key in found[0]]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _attribute(people: People, release: Release) -> tuple[float, float, float, float]:
    """Return the share of people concerned, and a reader's gains, over the training people."""
    train, true = people.train, people.attribute[people.train]
    before = _imputed(people) if people.posterior is None else people.posterior[train]
    likelihood = release.likelihood[train]
    concerned = (likelihood != likelihood[:, :1]).any(axis=1)
    after = np.where(concerned[:, None], normalised(before * likelihood), before)
    shares = np.bincount(people.attribute, minlength=people.groups) / people.n
    rows = np.arange(train.size)
    right, fair = (
        [posterior.argmax(axis=1) == true for posterior in (before / scale, after / scale)]
        for scale in (np.ones(people.groups), shares)
    )
    balanced = [np.mean([each[true == k].mean() for k in range(people.groups)]) for each in fair]
    bits = np.log2(after[rows, true] / before[rows, true])
    return (
        float(concerned.mean()),
        float(right[1].mean() - right[0].mean()),
        float(balanced[1] - balanced[0]),
        float(bits.mean()),
    )


def _imputed(people: People) -> Floats:
    """Return P(attribute | features, label) of the training people, learnt from the attacker's records."""
    both = np.column_stack([people.matrix(), people.label])
    known = people.sets == "attack"
    model = HistGradientBoostingClassifier(max_iter=60, learning_rate=0.1, min_samples_leaf=40, random_state=0)
    return model.fit(both[known], people.attribute[known]).predict_proba(both[people.train])


def _membership(people: People, release: Release) -> tuple[float, float]:
    """Return AUC and advantage of the probability given to the true label; 1 or 0 where labels alone are released."""
    given = release.prediction.astype(np.float64) if release.score is None else release.score
    sure = np.where(people.label == 1, given, 1.0 - given).round(9)
    inside = people.sets == "train"
    values = np.unique(sure)
    member, other = (
        np.bincount(np.searchsorted(values, sure[rows]), minlength=values.size) for rows in (inside, ~inside)
    )
    member, other = member / member.sum(), other / other.sum()
    above_member, above_other = 1.0 - np.cumsum(member), 1.0 - np.cumsum(other)
    auc = float((other * (above_member + 0.5 * member)).sum())
    return auc, float(np.abs(above_member - above_other).max())


if __name__ == "__main__":
    write()
