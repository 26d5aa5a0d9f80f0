"""Slow second formulations, exact programs and rival methods: what only tests and benchmarks call."""
