"""Streamlit's command, with models measured at once: ``python -m tests.browser.chosen_at_once run``."""

from streamlit.web.cli import main

import core.experiments.choose
from tests.app.test_choose import Measured
from tests.unit.choose.candidate_samples import SAFE

if __name__ == "__main__":
    core.experiments.choose.measure_all = Measured(SAFE)  # type: ignore[assignment]
    main()
