"""What schedulers say of nodes: which are out, since when, and why. Only read, from what their commands print."""
