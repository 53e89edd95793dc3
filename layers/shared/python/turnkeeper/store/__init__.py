"""One table, one conditional transaction per transition."""
