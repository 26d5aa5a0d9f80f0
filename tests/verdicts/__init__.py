"""Models whose truth is known, and what the audit's verdict says of them."""
