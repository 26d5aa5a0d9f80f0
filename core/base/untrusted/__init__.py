"""Whatever a stranger wrote is opened in a short-lived process of its own, never in the one that serves people."""

from .child import ask_child, warm_up

__all__ = ["ask_child", "warm_up"]
