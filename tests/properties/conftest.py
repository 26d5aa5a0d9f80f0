"""Budgets of the properties here: half of what each says, or ten times that and new cases for the long tests."""

from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings


def pytest_collection_modifyitems(config, items):
    """Give each property its budget; a failure prints how to see it again."""
    folder = Path(__file__).parent
    properties = [item for item in items if isinstance(item, pytest.Function) and folder in item.path.parents]
    tests = {getattr(item.obj, "__func__", item.obj) for item in properties}  # one for all of its parameters
    for test in tests:
        if is_hypothesis_test(test):
            declared = test._hypothesis_internal_use_settings
            if config.getoption("long"):
                budget = settings(declared, max_examples=10 * declared.max_examples, derandomize=False, print_blob=True)
            else:
                budget = settings(declared, max_examples=max(10, declared.max_examples // 2))
            test._hypothesis_internal_use_settings = budget
