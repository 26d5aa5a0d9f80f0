"""All benchmarks in one run: ``make benchmark``. Ratios are judged here and never asserted in tests."""

from importlib import import_module

NAMES = (
    "correction",
    "queries",
    "attriguard",
    "membership",
    "release",
    "experiment",
    "pages",
    "start",
    "audit",
    "untrusted",
    "distinct",
)

for number, name in enumerate(NAMES):
    if number:
        print()
    import_module(f"tests.benchmarks.bench_{name}").main()
