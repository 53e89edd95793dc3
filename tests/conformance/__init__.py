"""The Task Status contract and Agent Status Codes, held over HTTP against whatever deployment is named.

Nothing here knows the product: it imports none of it (`tests/unit/test_conformance_suite.py` sees to that), and looks
into no table and no queue. `clauses.toml` lists what is to be held, `scoreboard` counts it, `inside` finds the tests
beside the code for what no answer shows, and `offline_stack` alone brings up a deployment when none is named.
"""
