"""Dual-phase replay (ByteRobust, SOSP 2025, section 4.3): who replays with whom, and what the results mean."""
