"""Many models at once: sweeps and the choice among candidates."""

__all__ = ()
