"""``python -m tests.golden [ARGUMENTS OF PYTEST]`` writes the golden files anew; look at `git diff` before a commit."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.golden.make import RENEW

if __name__ == "__main__":
    os.environ[RENEW] = "1"
    folder = Path(__file__).parent
    sys.exit(pytest.main(["--long", "-q", "-p", "no:cacheprovider", str(folder), *sys.argv[1:]]))
