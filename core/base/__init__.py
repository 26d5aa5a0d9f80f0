"""What every room stands on: errors, validation, settings, files, seeds, fingerprints, solvers, strangers' files."""

__all__ = ()
