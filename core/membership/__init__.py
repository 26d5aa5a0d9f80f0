"""Membership inference: who was in the training data, which groups are more exposed, and what changes that."""

__all__: list[str] = []
