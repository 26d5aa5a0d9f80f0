"""The query desk's parts: which ledger is open, its budgets, registering, asking, the record, and an example."""
