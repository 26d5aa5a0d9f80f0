"""Private parts of the page `study`."""
