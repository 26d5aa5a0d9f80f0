"""Tests; a package so that the problem bank can be imported from any of them."""
