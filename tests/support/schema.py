"""By what the table and its indexes are keyed: a partition and a sort key each, all of them text."""

KEY = ("pk", "sk")
INDEXES = {"mine": ("responsible_user", "created_key"), "due": ("due_shard", "due_at")}
