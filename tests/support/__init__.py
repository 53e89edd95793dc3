"""What several suites stand on: engines, a laboratory, faults, measuring clients."""
