"""A plan as TOML, commented where it is a start, and the plan back from a report.

And the plan back from a report, in the shape it was asked in.
"""

from __future__ import annotations
