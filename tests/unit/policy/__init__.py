"""Tests of release policies."""
