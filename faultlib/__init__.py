"""The fault library: patterns that people confirmed, found again by their events and by what they look like."""
