"""Agent Status Codes 0.1: a vocabulary for status reports, usable by itself. It imports nothing of ours.

`report` is what a producer knows, `disclosure` what each reader is told of it, `envelope` what one hears from
others, `retry` whether to try again. `choices`, `composition` and `bindings` say which code, whose and where.
"""
