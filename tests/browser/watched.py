"""Streamlit's command, which on SIGUSR1 counts the tables and data sets in memory that hold each marker.

``FAIRLEAK_TESTS_MARKERS`` has the markers, with commas; ``FAIRLEAK_TESTS_COUNTS`` is the file that gets the counts.
"""

import gc
import json
import os
import signal
import sys
import threading
from pathlib import Path

from streamlit.web import cli

MARKERS, COUNTS = "FAIRLEAK_TESTS_MARKERS", "FAIRLEAK_TESTS_COUNTS"


def holds(thing, marker):
    """Return whether something is a table, or data made of one, in which a name bears the marker."""
    import pandas as pd

    if isinstance(thing, pd.DataFrame):
        return any(marker in str(name) for name in thing.columns)
    if type(thing).__name__ in ("AuditDataset", "Table", "Roles"):
        return marker in repr(thing)
    return False


def count():
    gc.collect()
    things = gc.get_objects()
    markers = os.environ[MARKERS].split(",")
    counts = {marker: sum(holds(thing, marker) for thing in things) for marker in markers}
    target = Path(os.environ[COUNTS])
    written = target.with_suffix(".new")
    written.write_text(json.dumps(counts))
    written.rename(target)


if __name__ == "__main__":
    # Not in the handler itself: the main thread may hold what counting needs.
    signal.signal(signal.SIGUSR1, lambda *_: threading.Thread(target=count).start())
    sys.argv[0] = "streamlit"
    cli.main()
