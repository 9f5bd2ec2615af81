"""The sentences of a diagnosis, the same for every reader, and foreign text made harmless."""
