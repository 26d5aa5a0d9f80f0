"""Private parts of the page `bias_queries`."""
