"""Nodes against each other: the signs that point to one of them (L4, section 4.3, and beyond)."""
