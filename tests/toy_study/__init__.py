"""A study in one folder that nothing else knows of."""
