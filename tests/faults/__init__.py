"""Small faults drawn over the core by a seed, and which tests notice them: ``python -m tests.faults``."""
