"""What is kept: the database, the hash chain and the history of audits."""

__all__ = ()
