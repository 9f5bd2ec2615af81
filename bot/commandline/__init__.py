"""What a person types: each command, its options, and its answers in the terminal. Start at ``cli.py``."""
