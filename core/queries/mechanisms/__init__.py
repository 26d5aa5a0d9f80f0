"""Ways of answering bias queries, from exact to private."""

from core.queries.mechanisms.base import AdditiveNoise, Mechanism
from core.queries.mechanisms.laplace import LaplaceGlobal
from core.queries.mechanisms.plain import Exact, Rounded
from core.queries.mechanisms.smooth import SmoothCauchy, SmoothLaplace
from core.queries.mechanisms.sums import NoisySums, SumScales, SumsRelease, centred_scores

__all__ = [
    "AdditiveNoise",
    "Exact",
    "LaplaceGlobal",
    "Mechanism",
    "NoisySums",
    "Rounded",
    "SmoothCauchy",
    "SmoothLaplace",
    "SumScales",
    "SumsRelease",
    "centred_scores",
]
