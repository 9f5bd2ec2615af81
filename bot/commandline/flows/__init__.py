"""``firstfault flows``: the answer as JSON (documents.py) and for a terminal (terminal.py)."""
