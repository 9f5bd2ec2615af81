"""What people use: command line, Slack, language model client, and the wiring of all the rest."""
