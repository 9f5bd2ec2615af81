"""The language model: what we ask of one, and a client for any OpenAI-compatible endpoint. Start at ``model.py``."""
