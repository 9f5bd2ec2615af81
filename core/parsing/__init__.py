"""From files to events: what is read, and the templates of what was said (L4, section 4.2)."""
