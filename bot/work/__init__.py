"""The durable queue at work: runs and questions, each in a process of its own, and whoever asked is told once."""
