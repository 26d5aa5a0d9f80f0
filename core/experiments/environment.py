"""What decides a measured number besides settings and data: the versions of FairLeak and of its libraries."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Any

from .. import __version__
from ..base.fingerprint import code_fingerprint, fingerprint
from ..base.serialize import Result
from ..datasets.dataset import AuditDataset

_DECISIVE = ("numpy", "scipy", "scikit-learn", "fairlearn")


@cache
def environment() -> tuple[str, ...]:
    """Return the versions of FairLeak and of the libraries that decide the numbers, and a digest of FairLeak's code.

    Any line of core changes the digest: results of another state of the code are not reused.
    """
    return (
        f"fairleak {__version__} {code_fingerprint()[:12]}",
        *(f"{name} {version(name)}" for name in _DECISIVE),
    )


def environment_name() -> str:
    """Return the environment as the name of a folder: FairLeak's version and eight digits for the libraries'."""
    return f"fairleak-{__version__}-{fingerprint(list(environment()))[:8]}"


def point_key(config: Any, dataset: AuditDataset, kind: type[Result], *more: Any) -> str:
    """Return the fingerprint (64 hex digits) of a point: kind, data, settings, versions.

    `more` is what else decides it.
    """
    return fingerprint(kind.__name__, dataset.fingerprint, config, list(environment()), *more)
