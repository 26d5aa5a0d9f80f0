"""Tests of core.studies.people."""
