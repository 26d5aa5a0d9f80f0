"""Settings of Sphinx, which makes a site of the documentation: ``make site``. The texts are plain Markdown."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from core import __version__  # noqa: E402

project = "FairLeak"
author = "the FairLeak developers"
release = __version__
root_doc = "docs/contents"
include_patterns = [
    "docs/**.md",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "data/README.md",
]
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
suppress_warnings = [
    "myst.xref_missing"
]  # links to files of the code, which are no pages; a test checks them
html_theme = "furo"
html_title = f"FairLeak {release}"
