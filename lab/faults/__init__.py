"""Kinds of faults, a file a family."""
