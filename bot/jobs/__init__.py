"""Work outside of the process that asks: runs, questions and watches, a child process each. Start at ``worker.py``."""
