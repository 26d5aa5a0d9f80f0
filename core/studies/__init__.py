"""Studies: each asks one question of a subject; `core.studies.registry.registry` lists them."""

__all__ = ()
