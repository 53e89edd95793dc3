"""What runs a turn: the protocol an agent speaks, and the built-in ones."""
