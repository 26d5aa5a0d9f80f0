"""The report of a release audit: one JSON document, drawn as HTML, cut into CSV files, in two editions."""

from core.decision.attacks.readers import AttackedPeople, attacked_people
from core.decision.result import MeteredForm, ReportMeter
from core.report.attacked import EditionAttack, attack_edition
from core.report.canonical import report_fingerprint
from core.report.csv_files import csv_files
from core.report.disclosed import disclosure_edition, document
from core.report.document import EDITIONS, THRESHOLD
from core.report.metering import meter_of
from core.report.page import embedded_document, to_html
from core.report.rows import CheckRow, check_rows, policy_of
from core.report.schema import from_json, report_schema, to_json
from core.report.suppression import withheld_counts
from core.report.verification import Verification, verify_report
from core.report.words import BASIS_WORDS

__all__ = [
    "BASIS_WORDS",
    "EDITIONS",
    "THRESHOLD",
    "AttackedPeople",
    "CheckRow",
    "EditionAttack",
    "MeteredForm",
    "ReportMeter",
    "Verification",
    "attack_edition",
    "attacked_people",
    "check_rows",
    "csv_files",
    "disclosure_edition",
    "document",
    "embedded_document",
    "from_json",
    "meter_of",
    "policy_of",
    "report_fingerprint",
    "report_schema",
    "to_html",
    "to_json",
    "verify_report",
    "withheld_counts",
]
