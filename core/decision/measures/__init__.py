"""The checks of a release audit: what was attacked, by whom, the number, its interval, its control."""
