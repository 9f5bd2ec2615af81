"""Following a job while it runs: its files as they grow, what is said about them, and when it is over."""
