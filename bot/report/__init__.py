"""A diagnosis as self-contained page, PDF for a phone, JSON and pictures. Start at ``page.py``."""
