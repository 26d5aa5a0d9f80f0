"""``fairleak report page``: the summary of a report on one A4 page, as a PDF to sign."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.cli.console import Console
from core.cli.verify import report_that_holds, reports_in
from core.errors import InputError
from core.files import check_place, write_file
from core.report.one_page import NAME, one_page

HELP = "Write the one-page summary (PDF) of a report; needs requirements-pdf.txt."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "report", type=Path, metavar="REPORT", help="JSON or HTML file of a report, its folder, or an audit's folder."
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help=f"File for the page (default: {NAME} beside the report)."
    )


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Write a page for each report."""
    reports = reports_in(arguments.report)
    if arguments.output is not None and len(reports) > 1:
        raise InputError(f"--output is for one report; {str(arguments.report)!r} holds {len(reports)}.")
    for report in reports:
        place = arguments.output or report.with_name(NAME)
        check_place(place, what="--output")
        _, document = report_that_holds(report, what="gets a summary")
        write_file(place, one_page(document), what="--output")
        console.result(f"{place} is the summary of the {EDITION[document['edition']]} report.")


EDITION = {"internal": "internal", "disclosure": "external"}
"""Edition -> what it is called."""
