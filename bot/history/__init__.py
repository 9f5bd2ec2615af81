"""The history of a run: its attempts are found, read and told as text, page and JSON. Start at ``gather.py``."""
