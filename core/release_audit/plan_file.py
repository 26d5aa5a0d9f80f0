"""Plans of release audits as TOML, read with every rule."""

from __future__ import annotations
