"""``firstfault replay``: who replays with whom, and what the results mean."""
