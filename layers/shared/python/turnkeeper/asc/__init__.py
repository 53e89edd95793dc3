"""Agent Status Codes 0.1: a vocabulary for status reports, usable by itself. It imports nothing of ours."""
