"""Many models at once: experiments over a grid of plans, their views, and the choice among candidates."""

__all__ = ()
