"""Checks of nodes: in which order, how results are read, and what they come to (ByteRobust, section 4.2)."""
