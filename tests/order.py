"""In which order files of tests run beside each other: what takes long first, and one worker without a browser.

pytest-xdist's own order puts files of few tests last. Those of the browser are of that kind and take longest; if every
worker has one, each with a server that trains models, they wait for each other, and the last one keeps a single core
busy. Here all workers but one begin with the browser and go on with it, and one begins with the files that take long
elsewhere; at the end only short ones are left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

__all__ = ["SECONDS", "UNKNOWN", "LongestFirst", "rank"]

BROWSER = "tests/browser/"

LONG = (
    "tests/browser/test_sweep.py",
    "tests/browser/test_further.py",
    "tests/browser/test_privacy.py",
    "tests/browser/test_pages.py",
    "tests/browser/test_upload.py",
    "tests/browser/test_catalogue.py",
    "tests/app/test_bias_queries.py",
    "tests/reference/test_attriguard_ratings.py",
    "tests/app/test_attriguard.py",
    "tests/app/test_upload.py",
    "tests/unit/sweep/test_kill.py",
    "tests/app/test_further.py",
    "tests/unit/test_command_line.py",
    "tests/unit/queries/ledger/test_processes.py",
    "tests/reference/test_four_metrics_adult.py",
    "tests/reference/test_permuted_adult.py",
    "tests/unit/test_reveal_command.py",
    "tests/app/test_pages.py",
    "tests/reference/test_reveal_adult.py",
    "tests/properties/test_soft_properties.py",
    "tests/app/test_membership.py",
    "tests/unit/correction/test_groups.py",
    "tests/reference/test_unknown_constraint_adult.py",
    "tests/unit/test_audit.py",
    "tests/unit/sweep/test_engine.py",
    "tests/properties/test_attriguard_properties.py",
    "tests/app/test_attriguard_flow.py",
)
"""Files that take half a minute or more on a busy machine, the longest first."""


def rank(file: str) -> tuple[bool, int, str]:
    """Return what files are sorted by: the browser's first, then by `LONG`, then by name."""
    return not file.startswith(BROWSER), LONG.index(file) if file in LONG else len(LONG), file


class LongestFirst(LoadFileScheduling):
    """Whole files, in the order of `rank`, and none of the browser for the last worker while other work is left."""

    def _assign_work_unit(self, node: WorkerController) -> None:
        files = sorted(self.workqueue, key=rank)
        others = [other for other in self.nodes if other is not node]
        if all(self._at_browser(other) for other in others):
            files.sort(key=lambda file: file.startswith(BROWSER))
        self.workqueue.move_to_end(files[0], last=False)
        super()._assign_work_unit(node)

    def _at_browser(self, node: WorkerController) -> bool:
        """Whether a worker still has tests of the browser before it."""
        work = self.assigned_work[node].items()
        return any(file.startswith(BROWSER) and not all(done.values()) for file, done in work)
