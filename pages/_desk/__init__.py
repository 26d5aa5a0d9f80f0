"""Private parts of the page `desk`."""
