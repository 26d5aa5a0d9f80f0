"""Bias queries (Hamman et al. 2023): what answers to fairness questions reveal, and how to answer them safely.

The desk that answers them within a lifetime budget has a door of its own, `core.desk`.
"""

from .decoders import DECODER_TITLES, DECODERS, PROGRAMS
from .gaps import global_sensitivity, leakage, smooth_sensitivity, statistical_parity_gap
from .guarantees import (
    ErrorQuantiles,
    accuracy_limit,
    error_text,
    largest_loss,
    targeted_leakage,
)
from .mechanisms import (
    NOISE_TITLES,
    NOISES,
    Exact,
    LaplaceGlobal,
    NoisySums,
    Rounded,
    SmoothCauchy,
    SmoothLaplace,
    mechanism_of,
)
from .reveal import DecodedAttribute, partition_absolute, recover_flips, reveal_double
from .study import answers_excess, answers_text, curve_finding, declared_limits
from .trials import (
    BiasQueriesResult,
    BiasQueriesSettings,
    Leak,
    QueriedRecords,
    QueryPool,
    Trials,
    needed,
    query_pool,
)

__all__ = [
    "DECODERS",
    "DECODER_TITLES",
    "NOISES",
    "NOISE_TITLES",
    "PROGRAMS",
    "BiasQueriesResult",
    "BiasQueriesSettings",
    "DecodedAttribute",
    "ErrorQuantiles",
    "Exact",
    "LaplaceGlobal",
    "Leak",
    "NoisySums",
    "QueriedRecords",
    "QueryPool",
    "Rounded",
    "SmoothCauchy",
    "SmoothLaplace",
    "Trials",
    "accuracy_limit",
    "answers_excess",
    "answers_text",
    "curve_finding",
    "declared_limits",
    "error_text",
    "global_sensitivity",
    "largest_loss",
    "leakage",
    "mechanism_of",
    "needed",
    "partition_absolute",
    "query_pool",
    "recover_flips",
    "reveal_double",
    "smooth_sensitivity",
    "statistical_parity_gap",
    "targeted_leakage",
]
