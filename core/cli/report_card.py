"""``fairleak report card``: a section of a model card in Markdown, from an external report."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.cli.console import Console
from core.cli.verify import report_that_holds, reports_in
from core.files import check_place, write_file
from core.report.card_section import card_section

HELP = "Write a section for a model card (Markdown) from an external report."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "report", type=Path, metavar="REPORT", help="JSON or HTML file of an external report, or an audit's folder."
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="File for the section (default: it is printed)."
    )


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Print the section, or write it."""
    check_place(arguments.output, what="--output")
    _, document = report_that_holds(reports_in(arguments.report)[-1], what="gives a section")
    section = card_section(document)
    if arguments.output is None:
        console.results(section.splitlines())
    else:
        write_file(arguments.output, section.encode("utf-8"), what="--output")
        console.note(f"{arguments.output} is the section for a model card.")
