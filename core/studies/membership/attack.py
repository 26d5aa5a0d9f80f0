"""A membership attack: what its file declares, what it says, and what attacks share.

They share a threshold that is set on known people, and boosting, see `core.adversaries.cross_fitting`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...base.arrays import Codes, Floats, Ints, Mask
from .evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberGuess:
    """Scores, and verdicts where the attack gives some."""

    name: str
    """Key of `core.studies.membership.REGISTRY`."""
    rows: Ints = field(repr=False)
    """(m,): who is judged."""
    score: Floats = field(repr=False)
    """(m,): finite; a higher one speaks for a member."""
    verdict: Codes | None = field(repr=False)
    """(m,): 1 = classified as a member."""


AttackOutput = tuple[Floats, Codes | Mask | None]
"""Of the m judged, members first: a score, higher for members, and who is called one, if the attack decides."""

NEEDS = {
    "labels": "true and predicted labels",
    "scores": "released scores",
    "shadows": "shadow models, trained as the model was on others of these people",
    "queries": "query access, to ask the model about changed records",
    "records": "everybody's features",
    "population": "people the model was not trained on, beside those judged",
    "halves": "who is a member of half of those judged, to judge the other half",
}
"""What an attack may need -> what that is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """An attack, as its file in `core.studies.membership.attacks` declares it: all that its readers need."""

    name: str = ""
    """That of its file."""
    title: str
    phrase: str
    """What it is called inside a sentence, such as "the loss threshold"."""
    paper: str = ""
    """Authors and year; empty where it is not published."""
    glossary: str
    """What it does, in one sentence."""
    needs: frozenset[str]
    """Keys of `NEEDS`."""
    uses: frozenset[str]
    """Where it is run without being named: "scores" is an audit of released scores, "labels" one of labels."""
    turn: int
    """Its place among the attacks, the quickest first."""
    scores: Callable[[Evidence], AttackOutput]
    """Says of the judged how much speaks for each being a member."""

    def judge(self, evidence: Evidence) -> MemberGuess:
        """Return what it says of the judged."""
        score, verdict = self.scores(evidence)
        called = None if verdict is None else verdict.astype(np.uint8)
        return MemberGuess(
            name=self.name, rows=evidence.split.judged_rows, score=score, verdict=called
        )

    @property
    def described(self) -> str:
        """What it does, and where it is published."""
        if self.paper:
            return f"{self.glossary[:-1]} ({self.paper})."
        return self.glossary

    @property
    def learns(self) -> bool:
        """Whether two halves of the judged teach each other."""
        return "halves" in self.needs

    def knows(self, *, scores: bool, shadows: int) -> str:
        """Return what the attacker knows who uses it on a model that is handed out with scores or without."""
        knowledge = "Every person's true and predicted label"
        if scores:
            knowledge += ", and score"
        if "shadows" in self.needs:
            knowledge += ", features, how the model is trained, "
            knowledge += f"and {shadows} models trained alike on others of these people"
        elif "records" in self.needs:
            knowledge += ", and features"
        if "queries" in self.needs:
            knowledge += ", and what the model answers about changed records"
        if "population" in self.needs:
            knowledge += "; also other people, whom the model was not trained on"
        if self.learns:
            knowledge += "; of half of the people also who is a member, to judge the other half"
        return f"{knowledge}."


def above_threshold(score: Floats, evidence: Evidence) -> AttackOutput:
    """Call those of the judged members whose score, (n,), reaches the threshold that is best for the known."""
    known_rows, member = evidence.split.known_records
    rows = evidence.split.judged_rows
    return score[rows], score[rows] >= best_threshold(score[known_rows], member)


def best_threshold(score: Floats, member: Codes) -> float:
    """Return the score from which up people are classified as members for the best balanced accuracy.

    Of several as good the highest; infinity, which classifies nobody as a member, if no threshold is better than
    chance. There is at least one member and one non-member.
    """
    levels, level_index = np.unique(score, return_inverse=True)
    members = np.bincount(level_index, weights=member, minlength=levels.size)
    outsiders = np.bincount(level_index, weights=1 - member.astype(np.int64), minlength=levels.size)
    caught = np.cumsum(members[::-1])[::-1]
    alarms = np.cumsum(outsiders[::-1])[::-1]
    # whole numbers, so that equal gains tie exactly
    gain = caught * alarms[0] - alarms * caught[0]
    if gain.max() <= 0:
        return float("inf")
    return float(levels[np.flatnonzero(gain == gain.max())[-1]])
