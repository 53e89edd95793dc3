"""Turnkeeper: an agent's conversation as a durable task, owned by one human and cheap to poll."""
