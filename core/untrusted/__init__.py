"""Whatever a stranger wrote is opened in a short-lived process of its own, never in the one that serves people."""

from core.untrusted.child import Child, Limits, warm_up

__all__ = ["Child", "Limits", "warm_up"]
