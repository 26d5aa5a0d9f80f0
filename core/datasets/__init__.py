"""Tables in, audit-ready arrays out: the built-in demo, datasets by name, and users' own files."""
