"""Files given to the desk: kept in the session, also while another page is looked at, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from core.errors import InputError
from core.fingerprint import fingerprint
from pages.common import panels

__all__ = ["Upload", "box", "given", "read"]


@dataclass(frozen=True, slots=True)
class Upload:
    """A file's name and content, and what was read from it so far."""

    name: str
    content: bytes = field(repr=False)
    read: dict[str, Any] = field(default_factory=dict, repr=False)


def box(key: str, label: str, *, help: str | None = None) -> Upload | None:
    """Draw an upload box and return the file that is in it, or was when the page was left."""
    files: dict[str, tuple[str, Upload]] = st.session_state.setdefault("desk_files", {})
    given = st.file_uploader(label, key=key, help=help, on_change=_dropped, args=(key,))
    if given is not None and (key not in files or files[key][0] != given.file_id):
        files[key] = (given.file_id, Upload(given.name, given.getvalue()))
    if key not in files:
        return None
    upload = files[key][1]
    if given is None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"{upload.name[:60]} is still here.")
            st.button("Remove", key=f"{key}_remove", on_click=_dropped, args=(key,), icon=":material/delete:")
    return upload


def given(key: str) -> Upload | None:
    """Return the file in a box that was drawn already."""
    found = st.session_state.get("desk_files", {}).get(key)
    return None if found is None else found[1]


def _dropped(key: str) -> None:
    st.session_state.get("desk_files", {}).pop(key, None)


def read(upload: Upload, make: Callable[[bytes, str], Any], *how: Any) -> Any | None:
    """Return what a file holds, read once each way (`how`); or say in one sentence what is wrong and return None."""
    key = fingerprint(*how)
    if key not in upload.read:
        try:
            with st.spinner("Reading the file"):
                upload.read[key] = make(upload.content, upload.name)
        except InputError as error:
            upload.read[key] = error
        except MemoryError:
            upload.read[key] = InputError("The file does not fit into memory; use fewer records or columns.")
    found = upload.read[key]
    if isinstance(found, InputError):
        panels.problem(str(found))
        return None
    return found
