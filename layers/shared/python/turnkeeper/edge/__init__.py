"""The HTTP edge: requests read strictly, refusals told as problems, one line in the log for each."""
