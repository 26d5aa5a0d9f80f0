"""Studies: each asks one question of a subject; `core.studies.registry.STUDIES` lists them."""

__all__ = ()
