"""Tables in, audit-ready arrays out: the built-in demo, datasets by name, and users' own files."""

from .build import build_dataset
from .catalog import CATALOG, demo_table, load
from .dataset import AuditDataset, Table
from .input_check import cautions
from .ratings import demo_ratings, ratings_from_csv, read_ratings
from .read_table import read_table
from .role_suggestion import suggest_roles
from .roles import Roles

__all__ = [
    "CATALOG",
    "AuditDataset",
    "Roles",
    "Table",
    "build_dataset",
    "cautions",
    "demo_ratings",
    "demo_table",
    "load",
    "ratings_from_csv",
    "read_ratings",
    "read_table",
    "suggest_roles",
]
