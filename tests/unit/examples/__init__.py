"""Tests of the examples to teach with."""
