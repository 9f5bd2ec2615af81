"""Logs in, evidence out: deterministic, without network, clock, randomness, Slack or language model."""
