"""Private parts of the page `data`."""
