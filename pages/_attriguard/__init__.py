"""Private parts of the page `attriguard`."""
