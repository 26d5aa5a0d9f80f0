"""Tests of `core.auditing`."""
