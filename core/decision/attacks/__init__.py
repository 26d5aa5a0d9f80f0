"""Attacks that several checks and tables of an audit share; each runs once an audit."""
