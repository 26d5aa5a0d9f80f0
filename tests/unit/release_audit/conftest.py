"""No test of audits reads or fills a folder of this machine."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def no_folders_of_this_machine(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        cache = tmp_path_factory.mktemp("cache") / "datasets"
        patched.setattr("core.cli.audit.default_cache_folder", lambda: cache)
        patched.delenv("FAIRLEAK_DATA", raising=False)
        yield
