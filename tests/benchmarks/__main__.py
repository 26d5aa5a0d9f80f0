"""All benchmarks (``make benchmark``), or some: ``python -m tests.benchmarks [NAME ...]``; no test asserts a ratio."""

import sys
from importlib import import_module

NAMES = ("correction", "queries", "attriguard", "membership", "release", "experiment", "pages", "start", "audit")

if __name__ == "__main__":
    names = sys.argv[1:] or (*NAMES, "untrusted", "distinct")
    del sys.argv[1:]  # which a benchmark has others of
    for name in names:
        import_module(f"tests.benchmarks.bench_{name}").main()
        print()
