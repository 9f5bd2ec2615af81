"""Logs in: bytes to lines, lines to messages, and who said them."""
