"""The bot in Slack: what comes in (``intake.py``), who deals with it (``listeners.py``), what is said."""
