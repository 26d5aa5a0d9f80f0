"""Caveats of a verdict: what has to be known beside it, in one typed list for page, terminal, JSON, HTML and PDF.

Each step that decides something about the input, or finds what the verdict takes for granted, makes a `Caveat`: reading
a table, taking a model's answers, drawing the sets, choosing the model. The list of an audit is in the order of
`CaveatKind`. A public summary says the `FIXED` sentence of a kind, which holds no number and no name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from .serialize import Result


class CaveatKind(StrEnum):
    """What a caveat is about, in the order in which caveats are shown."""

    INPUT_CONFIRMED = "input_confirmed"
    CHOSEN_ON_THESE_RECORDS = "chosen_on_these_records"
    OTHER_COLUMNS = "other_columns"
    SETS_UNKNOWN = "sets_unknown"
    SETS_DIFFER = "sets_differ"
    NO_DRIFT = "no_drift"
    SELF_TEST_MISSING = "self_test_missing"
    CONSTANT_MODEL = "constant_model"
    CONTRADICTIONS = "contradictions"
    ANSWERS_ABSENT = "answers_absent"
    STAND_IN_LABELS = "stand_in_labels"
    LABELS_ONLY = "labels_only"
    SCORE_THRESHOLD = "score_threshold"
    RECORDS_DROPPED = "records_dropped"
    PERSONS_REPEATED = "persons_repeated"
    RECORDS_REPEATED = "records_repeated"
    RECORDS_SHARED = "records_shared"
    VALUES_FILLED = "values_filled"
    VALUES_JOINED = "values_joined"
    COLUMNS_DROPPED = "columns_dropped"
    INPUT_CHECK = "input_check"
    TABLE_PARSING = "table_reading"
    ATTACK_SET_DRAWN = "attack_set_drawn"
    ATTACKER_SAMPLE = "attacker_sample"
    MODEL_FILE = "model_file"
    MODEL_TRAINED = "model_trained"
    MODEL_RANDOMISED = "model_randomised"
    MODEL_STRUCTURE = "model_structure"
    ATTRIBUTE_NEEDED = "attribute_needed"
    INTERVAL_OVER_PEOPLE = "interval_over_people"


CHOSEN_TEXT = (
    "The model was picked from several on these people (Choose a model); this verdict "
    "does not allow for that."
)
SETS_UNKNOWN_TEXT = (
    "The training records are unknown: a random sample is attacked instead, and the real training records may leak "
    "more."
)
NO_DRIFT_TEXT = "Drift between training and test records: not found (1% level)."
SELF_TEST_TEXT = "The self-test of FairLeak's attacks was not run with this audit."
CONSTANT_TEXT = (
    "The model gives everybody the same answer: it decides nothing, so most limits are easily kept."
)
LABELS_ONLY_TEXT = "Only predicted labels are given, no scores."
TRAINED_TEXT = (
    "Trained by FairLeak on the training records; the report speaks of this model and no other."
)
RANDOMISED_TEXT = "The model is randomised: its predictions were drawn once, and these are audited."
ATTRIBUTE_NEEDED_TEXT = "The model needs people's sensitive attribute to decide about them."
INTERVAL_TEXT = (
    "The interval is over people like these; model, attackers and seed are taken as they are."
)

FIXED: Mapping[CaveatKind, str] = {
    CaveatKind.INPUT_CONFIRMED: "The check of the input stopped at a point that was confirmed as right; it stands in "
    "the internal report.",
    CaveatKind.CHOSEN_ON_THESE_RECORDS: CHOSEN_TEXT,
    CaveatKind.OTHER_COLUMNS: "One attribute is audited, and no other column: nothing here holds for others.",
    CaveatKind.SETS_UNKNOWN: SETS_UNKNOWN_TEXT,
    CaveatKind.SETS_DIFFER: "Training and test records differ before any model sees them; membership inference may "
    "find this difference and not memory of the model.",
    CaveatKind.NO_DRIFT: NO_DRIFT_TEXT,
    CaveatKind.SELF_TEST_MISSING: SELF_TEST_TEXT,
    CaveatKind.CONSTANT_MODEL: CONSTANT_TEXT,
    CaveatKind.CONTRADICTIONS: "Some predicted labels contradict their scores; the labels are what counts.",
    CaveatKind.ANSWERS_ABSENT: "The model gives some people no answer; who they are is attacked too. "
    "Fairness, accuracy and membership count those with an answer.",
    CaveatKind.STAND_IN_LABELS: "Some people have a predicted label and no score: the label stands for it.",
    CaveatKind.LABELS_ONLY: LABELS_ONLY_TEXT,
    CaveatKind.SCORE_THRESHOLD: "Predicted labels are scores of at least a threshold.",
    CaveatKind.RECORDS_DROPPED: "Some records are left out, because a value in them is missing.",
    CaveatKind.PERSONS_REPEATED: "Some people have several records.",
    CaveatKind.RECORDS_REPEATED: "Some records are equal in every column used.",
    CaveatKind.RECORDS_SHARED: "Some records that are tested, or known to the attacker, equal a training record.",
    CaveatKind.VALUES_FILLED: "Some missing values are filled in.",
    CaveatKind.VALUES_JOINED: "Some values are taken together.",
    CaveatKind.COLUMNS_DROPPED: "Some columns are left out.",
    CaveatKind.INPUT_CHECK: "The check of the input noted a point, which stands in the internal report.",
    CaveatKind.TABLE_PARSING: "Some cells of the table could have been read otherwise.",
    CaveatKind.ATTACK_SET_DRAWN: "The table names no records for the attacker, so half of its test records are theirs.",
    CaveatKind.ATTACKER_SAMPLE: "The attackers learn from a seeded sample of the people they know.",
    CaveatKind.MODEL_FILE: "How the model file was asked, and what it answered, stands in the internal report.",
    CaveatKind.MODEL_TRAINED: TRAINED_TEXT,
    CaveatKind.MODEL_RANDOMISED: RANDOMISED_TEXT,
    CaveatKind.MODEL_STRUCTURE: "What the model is made of lets it memorise records.",
    CaveatKind.ATTRIBUTE_NEEDED: ATTRIBUTE_NEEDED_TEXT,
    CaveatKind.INTERVAL_OVER_PEOPLE: INTERVAL_TEXT,
}
"""Kind -> what a public summary says of it: the same sentence whatever the table holds."""


@dataclass(frozen=True, slots=True)
class Caveat(Result):
    """One thing to know beside a verdict, in one or two sentences.

    `kind` may be a text, the value of a `CaveatKind`. `count` is how many records (or values, or persons) it is about,
    of `total`; None where it counts nothing.
    """

    kind: CaveatKind
    text: str
    count: int | None = None
    total: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", CaveatKind(self.kind))


def in_order(caveats: Iterable[Caveat]) -> tuple[Caveat, ...]:
    """Caveats in the order of their kinds, each text once."""
    order = {kind: number for number, kind in enumerate(CaveatKind)}
    by_text = {(caveat.kind, caveat.text): caveat for caveat in caveats}
    return tuple(sorted(by_text.values(), key=lambda caveat: order[caveat.kind]))
