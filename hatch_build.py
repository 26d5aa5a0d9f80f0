"""What the wheel needs: the exact requirements, and the extras, from the files that `make run` installs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

EXTRAS = ("dask", "pdf", "postgresql", "signin", "signing")


class Requirements(MetadataHookInterface):
    """Dependencies read from requirements.txt, extras from requirements-NAME.txt."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put them into the wheel's metadata; lines for pip, such as ``-c constraints.txt``, stay out."""
        metadata["dependencies"] = self._listed("requirements.txt")
        metadata["optional-dependencies"] = {
            name: self._listed(f"requirements-{name}.txt") for name in EXTRAS
        }

    def _listed(self, name: str) -> list[str]:
        lines = (
            line.partition("#")[0].strip()
            for line in Path(self.root, name).read_text("utf-8").splitlines()
        )
        return [line for line in lines if line and not line.startswith("-")]


def get_metadata_hook() -> type[MetadataHookInterface]:
    """Return the hook, for hatchling."""
    return Requirements
