"""What can go wrong in the lab and be told to a person."""


class LabError(Exception):
    """What happened to what (message), and what to try (hint)."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
