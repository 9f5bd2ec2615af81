"""``firstfault history``: the attempts of a run are found, read and told."""
