"""What a task is and how it may change: no AWS, no clock, no randomness."""
