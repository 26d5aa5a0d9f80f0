"""What teaches: worked examples, the glossary, reference pages made from the settings."""

__all__ = ()
