"""Real training jobs on a network of their own, captured at every switch port: sets for ``firstfault flows``."""
