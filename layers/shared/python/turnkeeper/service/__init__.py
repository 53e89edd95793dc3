"""The use cases, a file each: what the functions ask for, in terms of the store, the queue and the domain."""
