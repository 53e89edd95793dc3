"""What runs inside the peers: the same small agent in each, in the idiom of each, and what they are compared with.

These run in the peers' own environments, by path, and import nothing of ours.
"""
