"""Real training jobs on a network of their own, captured at every switch port: labelled sets for ``firstfault flows``."""
