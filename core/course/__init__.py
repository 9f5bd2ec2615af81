"""How far the job had come: its stages and its iterations (L4, section 4.4)."""
