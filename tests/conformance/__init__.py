"""The Task Status contract, held over HTTP against whatever deployment is named.

Nothing here knows the product: it imports none of it (`test_sources` in tests/unit holds that) and looks at no table and
no queue. `clauses.toml` is the list of what is to be held; `scoreboard` counts it; `offline_stack` alone brings up a
deployment when none is named.
"""
