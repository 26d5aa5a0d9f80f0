"""Tables in, audit-ready arrays out: the built-in demo, datasets by name, and users' own files."""

from core.datasets.build import SeveralPredictions, build_dataset, prediction_candidates, several_predictions
from core.datasets.catalog import CATALOG, CatalogEntry, default_cache_folder, demo_table, load
from core.datasets.columns import describe_columns
from core.datasets.dataset import AuditDataset, GroupRow, Table
from core.datasets.ratings import RATING_FILES, Ratings, build_ratings, demo_ratings, ratings_from_files, read_ratings
from core.datasets.read_table import read_table
from core.datasets.role_suggestion import Suggestion, cautions, suggest_roles, suggested_group, suggested_limit
from core.datasets.roles import MINIMUM_PER_GROUP, Roles
from core.datasets.splits import SET_NAMES, SETS, Splits, shared_note, shared_records, split

__all__ = [
    "CATALOG",
    "MINIMUM_PER_GROUP",
    "RATING_FILES",
    "SETS",
    "SET_NAMES",
    "AuditDataset",
    "CatalogEntry",
    "GroupRow",
    "Ratings",
    "Roles",
    "SeveralPredictions",
    "Splits",
    "Suggestion",
    "Table",
    "build_dataset",
    "build_ratings",
    "cautions",
    "default_cache_folder",
    "demo_ratings",
    "demo_table",
    "describe_columns",
    "load",
    "prediction_candidates",
    "ratings_from_files",
    "read_ratings",
    "read_table",
    "several_predictions",
    "shared_note",
    "shared_records",
    "split",
    "suggest_roles",
    "suggested_group",
    "suggested_limit",
]
