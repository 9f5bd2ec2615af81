"""``firstfault check-nodes``: runs checks that exist, pairs and a bitwise step on nodes that a person names."""
