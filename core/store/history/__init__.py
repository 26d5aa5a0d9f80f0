"""The history of audits: the reports kept of a project, who signed them, and what voided a signature.

An entry keeps a report's document as `report.json` holds it, never the table. What was kept, signed and deleted, by
whom and when, is a chain of entries like the desk's ledger (`core.store.chain`): to change one is noticed. Deleting
takes the document away; that it was there, its fingerprint and its signatures stay on record.

A signature covers the fingerprint of one document. It is void as soon as the project goes on with another one: when
that is kept, or signed. Void signatures stay, with what changed.
"""

from .events import DECISIONS, Entry, Signature, needs_reason, not_releasable, parts_of
from .history import History, check_line, history_location

__all__ = [
    "DECISIONS",
    "Entry",
    "History",
    "Signature",
    "check_line",
    "history_location",
    "needs_reason",
    "not_releasable",
    "parts_of",
]
