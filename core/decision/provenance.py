"""What it takes to get an audit's numbers again: versions, seeds, and fingerprints of code, plan, policy and table.

The fingerprints are of contents: a plan that calls its table by another path is the same plan, and the table itself is
told by `data_fingerprint`. Nothing here names the machine or who uses it; of the machine only its kind is told, and the
kind of processor that the linear algebra was built for, on which the last digits of a number may depend.
"""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

import core
from core.datasets import AuditDataset
from core.decision.plan import AuditPlan
from core.decision.result import Provenance
from core.fingerprint import code_fingerprint, content_fingerprint
from core.policy import Policy

COMPUTING = (
    "numpy",
    "scipy",
    "scikit-learn",
    "pandas",
    "pyarrow",
    "fairlearn",
    "PuLP",
    "cvxpy",
    "clarabel",
    "osqp",
    "scs",
    "onnxruntime",
    "skops",
)
"""Packages that compute numbers; those that are not installed are left out."""

SELF_TEST_SEED = 2023
"""Seed of FairLeak's test of itself: its numbers say something of the code, and so never change with an audit."""

_FILE = "given"
"""What stands for the path of a file."""


def provenance(plan: AuditPlan, policy: Policy) -> Provenance:
    """Return where an audit's numbers come from.

    Raises
    ------
    FairLeakError
        If FairLeak's own code cannot be read.
    """
    return Provenance(
        fairleak=core.__version__,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        platform=kind_of_machine(),
        packages=versions(),
        code=code_fingerprint(),
        policy=policy_fingerprint(policy),
        plan=plan_fingerprint(plan),
        seeds={"audit": plan.config.seed, "self-test": SELF_TEST_SEED},
    )


def plan_fingerprint(plan: AuditPlan) -> str:
    """Return the SHA-256 of what a plan asks for: everything but the paths of its files, which it may have or not."""
    return content_fingerprint(
        replace(
            plan,
            data=replace(plan.data, file=_FILE if plan.data.file else ""),
            model=replace(plan.model, file=_FILE if plan.model.file else ""),
            policy="",
        )
    )


def policy_fingerprint(policy: Policy) -> str:
    """Return the SHA-256 of a policy's content."""
    return content_fingerprint(policy)


def data_fingerprint(dataset: AuditDataset, *, answers: bool = True) -> str:
    """Return the SHA-256 of the records an audit works on, the same for every version of FairLeak.

    Every value enters, with the columns' names and what their codes stand for, and the predictions, scores and sets
    where the table gives them; not what the table is called or where it lay.

    Parameters
    ----------
    answers : bool
        Whether predictions and scores enter; not where a model file gave them, whose last digits hang on the machine.
    """
    answered = {"predictions": dataset.predictions, "scores": dataset.scores, "withheld": dataset.withheld}
    given = answered if answers else {}
    told = {name: array for name, array in {**given, "sets": dataset.sets}.items() if array is not None}
    return content_fingerprint(
        dataset.features,
        dataset.labels,
        dataset.sensitive,
        dataset.categorical,
        list(dataset.feature_names),
        [list(values) for values in dataset.categories],
        list(dataset.group_names),
        list(told),
        *told.values(),
    )


def versions() -> dict[str, str]:
    """Return the version of each installed package of `COMPUTING`."""
    found = {}
    for name in COMPUTING:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def kind_of_machine() -> str:
    """Return system and processor, such as "Linux x86_64 (Haswell)", of whatever machine of this kind."""
    built_for = _linear_algebra()
    return f"{platform.system()} {platform.machine()}" + (f" ({built_for})" if built_for else "")


def _linear_algebra() -> str:
    """Return what processor numpy's own linear algebra takes this one for; empty where it has none or does not say.

    Only numpy's is asked: other packages bring libraries of their own, and which are loaded hangs on what ran before.
    """
    import numpy as np
    from threadpoolctl import threadpool_info

    own = os.path.realpath(os.path.dirname(np.__file__))  # the library lies in "numpy.libs" beside it, or inside
    found = [library for library in threadpool_info() if library["filepath"].startswith(own)]
    return ", ".join(sorted({str(library["architecture"]) for library in found if library.get("architecture")}))
