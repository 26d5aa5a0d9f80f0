"""A map as a small JSON file, with what it was made from and by."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import core
from core.datasets.dataset import AuditDataset
from core.errors import FairLeakError
from core.files import write_file
from core.fingerprint import code_fingerprint, content_fingerprint
from core.landscape.cells import Landscape
from core.landscape.plan import LandscapePlan
from core.records import RecordError, dumps, loads

_DECISIVE = ("numpy", "scipy", "scikit-learn")


def landscape_key(dataset: AuditDataset, plan: LandscapePlan) -> str:
    """Return the fingerprint (64 hex digits) of a table's arrays and a plan, the same for every version of FairLeak."""
    arrays = (dataset.features, dataset.categorical, dataset.labels, dataset.sensitive)
    sets = None if dataset.sets is None else dataset.sets.tolist()
    return content_fingerprint("landscape", *arrays, [list(dataset.categories), dataset.roles.missing, sets], plan)


def made_by() -> tuple[str, ...]:
    """Return FairLeak's version and code, and the versions of the libraries that decide the numbers."""
    code = f"fairleak {core.__version__} {code_fingerprint()[:12]}"
    return (code, *(f"{name} {version(name)}" for name in _DECISIVE))


def write_landscape(made: Landscape, path: Path) -> None:
    """Write a map.

    Raises `InputError` if the file cannot be written.
    """
    lines = dumps(made).replace('},{"tolerance"', '},\n{"tolerance"')
    write_file(path, f"{lines}\n".encode(), what="The map")


def read_landscape(path: Path) -> Landscape:
    """Read a map.

    Raises `FairLeakError` if the file is missing or does not hold a map.
    """
    try:
        return loads(path.read_text(encoding="utf-8"), Landscape)
    except (OSError, UnicodeDecodeError, RecordError) as error:
        raise FairLeakError(f"The map in {path.name} must be a file that core.landscape wrote: {error}.") from None
