"""Two models of one table: what the difference of their scores reveals, beyond what each reveals alone."""

from .study import UNFAIR, WARNING

__all__ = [
    "UNFAIR",
    "WARNING",
]
