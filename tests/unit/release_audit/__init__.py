"""Tests of `core.release_audit`."""
