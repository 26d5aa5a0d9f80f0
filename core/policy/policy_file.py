"""Policy files: TOML in, a policy out, and back.

A file gives `schema = 1`, then the policy's name, version, author, date and rationale, and, if it is not 0.95, the
level. A table [[limit]] for each limit follows, with check, value (as a share: 0.02 is 2 points), author, date and
rationale; required, if_not_run and source may be left out. A limit without a source has none, and every table says so.
`core/policy/default.toml` is an example.
"""

from __future__ import annotations
