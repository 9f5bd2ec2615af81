"""``firstfault library``: the fault library from the command line."""
