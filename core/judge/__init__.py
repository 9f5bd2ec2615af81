"""Which lines matter and how the job ended: candidates, their roles, their order, and the end of progress."""
