"""Tables in, audit-ready arrays out: the built-in demo, datasets by name, and users' own files."""

from core.datasets.catalog import CATALOG, CatalogEntry, default_cache_folder, load
from core.datasets.columns import describe_columns
from core.datasets.dataset import MINIMUM_PER_GROUP, AuditDataset, GroupRow, Roles, Table, build_dataset
from core.datasets.demo import demo_table, make_demo
from core.datasets.splits import Splits, split
from core.datasets.table import read_table

__all__ = [
    "CATALOG",
    "MINIMUM_PER_GROUP",
    "AuditDataset",
    "CatalogEntry",
    "GroupRow",
    "Roles",
    "Splits",
    "Table",
    "build_dataset",
    "default_cache_folder",
    "demo_table",
    "describe_columns",
    "load",
    "make_demo",
    "read_table",
    "split",
]
