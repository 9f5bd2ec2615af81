"""What the bot remembers over restarts: one SQLite file, a small class for each family of tables."""
