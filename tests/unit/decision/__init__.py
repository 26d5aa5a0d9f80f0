"""Tests of `core.decision`."""
