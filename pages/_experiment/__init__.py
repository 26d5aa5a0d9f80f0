"""Private parts of the page Experiment."""
