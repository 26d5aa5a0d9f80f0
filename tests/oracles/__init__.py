"""Second formulations, slow and plain, that only tests call."""
