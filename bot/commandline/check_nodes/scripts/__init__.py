"""Programs that are sent to nodes as they are: they need Python and torch there, and nothing of ours."""
