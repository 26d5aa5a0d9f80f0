"""Tests of core.people."""
