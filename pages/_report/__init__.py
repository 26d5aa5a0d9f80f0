"""Private parts of the page `report`."""
