"""Private parts of the page `model_card`."""
