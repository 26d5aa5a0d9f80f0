"""What a point's record is filed under: everything that decides its numbers."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version

import core
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.fingerprint import code_fingerprint, fingerprint
from core.results import Result

_DECISIVE = ("numpy", "scipy", "scikit-learn", "fairlearn")


@cache
def environment() -> tuple[str, ...]:
    """Return the versions of FairLeak and of the libraries that decide the numbers, and a digest of FairLeak's code.

    Any line of core changes the digest: results of another state of the code are not reused.
    """
    return (
        f"fairleak {core.__version__} {code_fingerprint()[:12]}",
        *(f"{name} {version(name)}" for name in _DECISIVE),
    )


def environment_name() -> str:
    """Return the environment as the name of a folder: FairLeak's version and eight digits for the libraries'."""
    return f"fairleak-{core.__version__}-{fingerprint(list(environment()))[:8]}"


def point_key(config: AuditConfig, dataset: AuditDataset, kind: type[Result] | None = None) -> str:
    """Return the fingerprint (64 hex digits) of a point: kind (`SweepPoint` by default), data, settings, versions."""
    name = "SweepPoint" if kind is None else kind.__name__
    return fingerprint(name, dataset.fingerprint, config, list(environment()))
