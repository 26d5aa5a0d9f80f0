"""Tables in, audit-ready arrays out: the built-in demo, datasets by name, and users' own files."""

from core.datasets.build import build_dataset, prediction_candidates, several_predictions
from core.datasets.catalog import CATALOG, demo_table, load
from core.datasets.dataset import AuditDataset, Table
from core.datasets.ratings import Ratings, demo_ratings, ratings_from_csv, read_ratings
from core.datasets.read_table import read_table
from core.datasets.role_suggestion import suggest_roles
from core.datasets.roles import Roles
from core.datasets.splits import shared_note
from core.datasets.table_cautions import cautions

__all__ = [
    "CATALOG",
    "AuditDataset",
    "Ratings",
    "Roles",
    "Table",
    "build_dataset",
    "cautions",
    "demo_ratings",
    "demo_table",
    "load",
    "prediction_candidates",
    "ratings_from_csv",
    "read_ratings",
    "read_table",
    "several_predictions",
    "shared_note",
    "suggest_roles",
]
