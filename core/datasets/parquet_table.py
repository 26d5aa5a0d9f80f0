"""Parquet tables from memory: size before unpacking, flat columns only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from core.datasets.columns import MOST_CELLS, check_names, check_rows, cleaned, megabytes, quoted
from core.errors import InputError

_BATCH = 2_000


@contextmanager
def _damage_told(name: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (InputError, MemoryError):
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, IndexError, OverflowError):
        raise InputError(f"The Parquet file {quoted(name)} is damaged or cut off; export it again.") from None


def parquet_columns(
    content: bytes, name: str, max_bytes: int, max_columns: int, max_rows: int
) -> tuple[list[str], list[Any]]:
    """Return the names and the cells of the columns; see `core.datasets.read_table.read_table`."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    with _damage_told(name):
        file = ParquetFile(pa.BufferReader(content), page_checksum_verification=True, pre_buffer=False)
        names = [str(title).strip() for title in file.schema_arrow.names]
        if len(names) > max_columns:
            raise InputError(f"The table must not have more than {max_columns:,} columns, got {len(names):,}.")
        if len(names) < 2:
            raise InputError(
                f"The table must have a label, a sensitive attribute and features, got {len(names)} columns; "
                "add the others."
            )
        check_names(names)
        check_rows(file.metadata.num_rows, max_rows)
        if (cells := file.metadata.num_rows * len(names)) > MOST_CELLS:
            raise InputError(
                f"The file {quoted(name)} must not hold more than {MOST_CELLS:,} cells, got {cells:,}; keep fewer "
                "records or columns."
            )
        for title, kind in zip(names, file.schema_arrow.types, strict=True):
            _check_flat(title, kind)
        batches, size = [], 0
        for batch in file.iter_batches(_BATCH, use_threads=False):
            size += batch.nbytes
            if size > max_bytes:
                raise InputError(
                    f"The file {quoted(name)} must not unpack to more than {megabytes(max_bytes)}; keep fewer records."
                )
            batches.append(batch)
        table = pa.Table.from_batches(batches, file.schema_arrow)
        table.validate(full=True)
        return names, [_flat(column, title) for title, column in zip(names, table.columns, strict=True)]


def _check_flat(name: str, kind: Any) -> None:
    import pyarrow as pa

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    inner = inner.storage_type if isinstance(inner, pa.BaseExtensionType) else inner
    if pa.types.is_nested(inner):
        raise InputError(f"Column {quoted(name)} must have one value a cell, got lists or records; split or delete it.")


def _flat(column: Any, name: str) -> Any:
    """Return a column of text, numbers, true/false or times."""
    import pyarrow as pa

    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_decimal(kind) or pa.types.is_floating(kind):
        return column.cast(pa.float64())
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date(kind):
        return column
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return column
    try:
        return cleaned(column.cast(pa.string()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"Column {quoted(name)} must hold text or numbers, got raw bytes; convert or delete it."
        ) from None
