"""What holds for every test: generated cases are the same in every run, none is timed, and what takes long begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from xdist.remote import Producer

    from tests.order import LongestFirst

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LongestFirst | None:
    """Order the files of `--dist loadfile`."""
    from tests.order import LongestFirst

    return LongestFirst(config, log) if config.getvalue("dist") == "loadfile" else None
