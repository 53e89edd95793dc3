"""The tests that look inside: they show what no answer over HTTP can, and stand where what they test is tested.

They import the product, so they say nothing of a deployment that somebody else brought up.
"""

from pathlib import Path

TESTS = Path(__file__).parents[1]
INSIDE = tuple(
    TESTS / place
    for place in (
        "unit/asc",
        "unit/test_caller.py",
        "unit/test_exchange.py",
        "unit/test_metrics.py",
        "unit/test_primary.py",
        "unit/test_problems.py",
        "unit/test_registry.py",
        "integration/test_agent_status.py",
        "integration/test_canary.py",
        "integration/test_declared_ends.py",
        "integration/test_files.py",
        "integration/test_files_named.py",
        "integration/test_host_agents.py",
        "integration/test_host_isolation.py",
        "integration/test_host_keys.py",
        "integration/test_host_reconcile.py",
        "integration/test_lambda_faults.py",
        "integration/test_people_api.py",
        "integration/test_poll.py",
        "integration/test_reports.py",
        "integration/test_reviews.py",
        "integration/test_traces.py",
    )
)
"""Every file, and folder of files, whose tests name a clause of Agent Status Codes."""
