"""What golden tests run in: an empty folder, none of this machine's data or caches, lines of one width.

`pytest --long --regen-all tests/golden` writes the golden files anew.
"""

import pytest

from tests.app.conftest import attacks, dashboard, patched_streamlit, points, start
from tests.golden.texts import FILES

__all__ = ["attacks", "dashboard", "patched_streamlit", "points", "start"]


@pytest.fixture
def compare(file_regression):
    """Checks a text against its golden file, by the name of the file."""

    def check(name, text):
        file_regression.check(text, encoding="utf-8", fullpath=FILES / name)

    return check


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """The folder that commands are run in, and in which they find each other's files."""
    folder = tmp_path_factory.mktemp("golden")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", "100")
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        patch.delenv("FAIRLEAK_DATA", raising=False)
        yield folder
