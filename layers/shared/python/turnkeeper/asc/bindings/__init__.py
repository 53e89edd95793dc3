"""Agent statuses inside other protocols: pure tables with functions, which know no client and no server of any."""
