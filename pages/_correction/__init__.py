"""Private parts of the page `membership`."""
