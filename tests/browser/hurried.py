"""Streamlit's command, with little time for a model file to answer: `SECONDS`."""

import sys

from streamlit.web import cli

from core.models import model_files

SECONDS = 8.0

if __name__ == "__main__":
    model_files.MAX_SECONDS = SECONDS
    sys.argv[0] = "streamlit"
    cli.main()
