"""The language model: what we ask of one, a client for any OpenAI-compatible endpoint, and the shipped fake."""
