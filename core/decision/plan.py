"""What a release audit is to do: the content of its TOML file, checked and frozen."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.config import TRAINED_TOLERANCE, AuditConfig
from core.results import Result

__all__ = [
    "PLAN_SCHEMA",
    "RELEASED",
    "AuditPlan",
    "DataPlan",
    "GuardPlan",
    "MembershipPlan",
    "ModelPlan",
    "OutputsPlan",
    "PlannedAnswers",
]

PLAN_SCHEMA = 1
"""Version of the file format."""

RELEASED = ("scores", "labels")
"""What a model may hand out about each person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPlan(Result):
    """Where the table comes from.

    Attributes
    ----------
    dataset : str
        A name of the catalogue, or "" for a file.
    file : str
        Path of a CSV or Parquet file, relative to the plan's; "" for a dataset of the catalogue.
    attribute : str
        Of a dataset of the catalogue: key of one of its suggested roles (`core.datasets.Roles.key`), "" for the first;
        not used where the plan's configuration has roles of its own.
    """

    dataset: str = "demo"
    file: str = ""
    attribute: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlan(Result):
    """Which model is audited.

    Attributes
    ----------
    kind : {"train", "predictions", "file"}
        Trained here, by the audit's method; given as columns of the table; or an ONNX or skops file.
    file : str
        Path of the model file, relative to the plan's.
    threshold : float in [0, 1]
        From which score on a prediction counts as 1, where only scores are given.
    features : tuple of str
        Columns the model file takes, in its order; () where the file names them itself.
    positive : str
        The model file's answer that counts as 1; "" where it answers with 0 and 1, or false and true.
    """

    kind: str = "train"
    file: str = ""
    threshold: float = 0.5
    features: tuple[str, ...] = ()
    positive: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputsPlan(Result):
    """What the model hands out about each person, and so what attacks may use.

    Attributes
    ----------
    released : {"scores", "labels"}
        Scores with the labels, where the model gives scores; or labels alone.
    decimals : int or None
        Decimals of the scores as they are released; None where they are released as they are.
    """

    released: str = "scores"
    decimals: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAnswers(Result):
    """The answers to bias questions that are planned.

    Attributes
    ----------
    questions : int
        How many; 0 for none.
    people : int
        How many people they are about, drawn from the test records.
    mechanism : {"exact", "rounded", "laplace", "cauchy", "noisy_sums"}
    epsilon : float
        Budget of all answers together; not used by exact and rounded answers.
    decimals : int
        Of rounded answers.
    repeats : int
        Over how many draws of people, questions and noise the leakage is taken.
    """

    questions: int = 0
    people: int = 100
    mechanism: str = "noisy_sums"
    epsilon: float = 1.0
    decimals: int = 3
    repeats: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipPlan(Result):
    """How membership is attacked.

    Attributes
    ----------
    shadows : int
        Shadow models of LiRA, where the model can be trained again; 0 leaves LiRA out.
    """

    shadows: int = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardPlan(Result):
    """AttriGuard, where records are published with its noise.

    Attributes
    ----------
    budget : float, at least 0
        Columns changed per person on average; 0 if AttriGuard is not used.
    """

    budget: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan(Result):
    """Everything a release audit is asked to do.

    Attributes
    ----------
    title : str
        What to call the audit in the report; the dataset's title when empty.
    data : DataPlan
    model : ModelPlan
    config : AuditConfig
        Roles of the columns, method, metric, tolerance, seed; its tolerance is what is disclosed.
    outputs : OutputsPlan
    answers : PlannedAnswers
    membership : MembershipPlan
    guard : GuardPlan
    policy : str
        Path of the policy file, relative to the plan's; "" for the default policy.
    schema : int
    """

    title: str = ""
    data: DataPlan = field(default_factory=DataPlan)
    model: ModelPlan = field(default_factory=ModelPlan)
    config: AuditConfig = field(default_factory=lambda: AuditConfig(tolerance=TRAINED_TOLERANCE))
    outputs: OutputsPlan = field(default_factory=OutputsPlan)
    answers: PlannedAnswers = field(default_factory=PlannedAnswers)
    membership: MembershipPlan = field(default_factory=MembershipPlan)
    guard: GuardPlan = field(default_factory=GuardPlan)
    policy: str = ""
    schema: int = PLAN_SCHEMA
