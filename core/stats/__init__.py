"""Statistics: estimates with intervals, fairness metrics, projection onto constraints, formats of numbers."""

__all__ = ()
