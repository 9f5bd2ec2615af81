"""The history of a run: its attempts are found and read, and told as text, page and JSON."""
