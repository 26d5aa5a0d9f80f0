"""Private parts of the page `choose`."""
