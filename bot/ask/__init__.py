"""Follow-up questions: looked up in the evidence and the raw lines, worded by code. Start at ``answer.py``."""
