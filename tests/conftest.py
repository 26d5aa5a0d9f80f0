"""What holds for every test: which are run unasked, generated cases, and what takes long begins.

Tests marked `long` are left out, unless all are asked for (``--long``) or their file is named on the command line.
"""

import os

from tests import hermetic

BEGINS = hermetic.enter()  # before anything is imported that looks for a folder

import pytest
from hypothesis import HealthCheck, settings

from tests.order import rank

# Frozen numbers come from sums without AVX-512: with it the last digit is another, and a tree may split elsewhere.
os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
os.environ.setdefault("NPY_DISABLE_CPU_FEATURES", "X86_V4 AVX512_ICL AVX512_SPR")

# Generated cases are the same in every run, and none is timed.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")


def pytest_addoption(parser):
    help_text = "run long tests too, and try ten times as many cases of each property, other ones in every run"
    parser.addoption("--long", action="store_true", help=help_text)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave long tests out that nobody asked for; beside each other, files that take long begin."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: rank(item.nodeid.partition("::")[0]))
    if config.getoption("long") or any(".py" in argument for argument in config.args):
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if not item.get_closest_marker("long")]


def pytest_sessionfinish(session, exitstatus):
    """Say by the exit status that no test ran where all were skipped: that is no success."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if (
        reporter is not None
        and exitstatus == pytest.ExitCode.OK
        and reporter.stats.get("skipped")
        and "passed" not in reporter.stats
    ):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
    if BEGINS and exitstatus == pytest.ExitCode.TESTS_FAILED:
        hermetic.keep()


@pytest.fixture(scope="session", autouse=True)
def _solvers_are_not_timed():
    """Let solvers have an hour where a test does not say how long: on a busy machine their usual minute is short."""
    from core.studies.correction import correct, correct_jointly, disclose_more

    with pytest.MonkeyPatch.context() as patch:
        for solver in (correct, correct_jointly, disclose_more):
            patch.setitem(solver.__kwdefaults__, "time_limit", 3600.0)
        yield
