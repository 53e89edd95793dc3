"""The walk of `make demo`."""
