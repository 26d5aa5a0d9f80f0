"""What the page on releases is made of: controls, the work behind it, its words and its sections."""
