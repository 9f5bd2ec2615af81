"""What the bot remembers over restarts: one SQLite file, a class for each family of tables. Start at ``state.py``."""
