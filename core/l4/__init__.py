"""The paper as it stands: a method of its own, and a second opinion on every answer."""
