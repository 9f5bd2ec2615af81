"""``firstfault watch``: a running job in the terminal."""
