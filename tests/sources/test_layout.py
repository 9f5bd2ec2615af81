"""Files of a folder become a job in time that grows with them."""

import io
from dataclasses import dataclass

from sources.layout import StoredFile, assemble

FEW, MANY = 100, 800
GROWTH = 2 * MANY / FEW  # a square would be eight times as many, of these


def test_sizes_of_files_are_asked_as_often_for_each_of_many() -> None:
    """Each shares the room for kept texts with all others, which was added up anew for each of 66,000."""
    asked = 0

    @dataclass(frozen=True)
    class Counted(StoredFile):
        def __getattribute__(self, name: str) -> object:
            nonlocal asked
            asked += name == "size"
            return super().__getattribute__(name)

    costs = []
    for count in (FEW, MANY):
        asked = 0
        files = [Counted(f"logs/rank_{n}.log", 1_000, "1", lambda: io.BytesIO(b"step 1\n")) for n in range(count)]
        assert len(assemble("j", files, place="jobs/j").logs) == count
        costs.append(asked)

    assert costs[1] < GROWTH * costs[0], costs
