"""FairLeak tried on itself: a model that gives nothing away must not be called leaking, a planted leak must be."""

from core.decision.self_test.apart import self_test_apart
from core.decision.self_test.kept import cached_self_test
from core.decision.self_test.running import RUNS, TRIALS, self_test
from core.decision.self_test.trial import Trial

__all__ = ["RUNS", "TRIALS", "Trial", "cached_self_test", "self_test", "self_test_apart"]
