"""What Jia and Gong (2018) report about the Google Play ratings."""

from __future__ import annotations

PUBLISHED_CURVE = {0.3: 0.41, 0.5: 0.37, 1.0: 0.30, 2.0: 0.18, 3.0: 0.12, 4.0: 0.09, 5.0: 0.08}
"""Accuracy of the authors' neural network, by budget, against noise found with another neural network."""
