"""Bias queries (Hamman et al. 2023): what answers to fairness questions reveal, and how to answer them safely.

The desk that answers them within a lifetime budget has a door of its own, `core.desk`.
"""

from core.queries.compressed import RECOVERY_METHODS, recover_compressed, reveal_compressed
from core.queries.decoders import DECODERS, PROGRAMS, Answered, Reading, read_answers
from core.queries.designs import DESIGNS, design_scores, most_questions
from core.queries.gaps import equal_opportunity_gap, leakage, statistical_parity_gap
from core.queries.guarantees import (
    ErrorQuantiles,
    accuracy_limit,
    accuracy_limit_with_prior,
    answer_error,
    largest_loss,
    prior_given_sizes,
    targeted_leakage,
)
from core.queries.mechanisms import (
    Exact,
    LaplaceGlobal,
    Mechanism,
    NoisySums,
    Rounded,
    SmoothCauchy,
    SmoothLaplace,
)
from core.queries.paper_table import (
    NOISELESS_ATTACKS,
    TABLE_1,
    noiseless_row,
)
from core.queries.propagation import balanced_guess, decode_noisy
from core.queries.reveal import (
    Recovery,
    partition_absolute,
    recover_flips,
    reveal_bits,
    reveal_double,
    reveal_flips,
    reveal_single,
    sizes_from_answer,
)
from core.queries.sensitivity import global_sensitivity, local_sensitivity, smooth_sensitivity
from core.queries.settings import NOISES, Answering, RevealSettings
from core.queries.trials import Asking, Leak, QuestionAccuracy, Trials, needed, repeats_for

__all__ = [
    "DECODERS",
    "DESIGNS",
    "NOISELESS_ATTACKS",
    "NOISES",
    "PROGRAMS",
    "RECOVERY_METHODS",
    "TABLE_1",
    "Answered",
    "Answering",
    "Asking",
    "ErrorQuantiles",
    "Exact",
    "LaplaceGlobal",
    "Leak",
    "Mechanism",
    "NoisySums",
    "QuestionAccuracy",
    "Reading",
    "Recovery",
    "RevealSettings",
    "Rounded",
    "SmoothCauchy",
    "SmoothLaplace",
    "Trials",
    "accuracy_limit",
    "accuracy_limit_with_prior",
    "answer_error",
    "balanced_guess",
    "decode_noisy",
    "design_scores",
    "equal_opportunity_gap",
    "global_sensitivity",
    "largest_loss",
    "leakage",
    "local_sensitivity",
    "most_questions",
    "needed",
    "noiseless_row",
    "partition_absolute",
    "prior_given_sizes",
    "read_answers",
    "recover_compressed",
    "recover_flips",
    "repeats_for",
    "reveal_bits",
    "reveal_compressed",
    "reveal_double",
    "reveal_flips",
    "reveal_single",
    "sizes_from_answer",
    "smooth_sensitivity",
    "statistical_parity_gap",
    "targeted_leakage",
]
