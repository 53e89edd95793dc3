"""What stands between a task and its agent: parameters, guardrails, exposes. Pure, but for the evaluator's process."""
