"""A folder into which a collector writes file after file, as nfcapd does every minute: which files are complete."""

from pathlib import Path

from core.errors import UnreadableFlows

TOPOLOGY = "topology.json"
UNFINISHED = (".current", ".tmp", ".part")  # in names of files that are still written to: nfcapd.current.1234


class RotatedFolder:
    """The files of a folder, each once, when it no longer changes; what is remembered is no more than what is there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: dict[str, tuple[int, int]] = {}  # size and time of change at the last look
        self._given: dict[str, tuple[int, int]] = {}

    def look(self) -> list[Path]:
        """Files that are complete since the last look, by name: those that two looks saw alike.

        Raises:
            UnreadableFlows: the folder is gone, or is none.
        """
        try:
            found = {path.name: path.stat() for path in self._folder.iterdir() if _is_wanted(path)}
        except FileNotFoundError:
            if self._folder.is_dir():
                return []  # rotated away while it was looked at: the next look
            raise UnreadableFlows(f"{self._folder} is no folder", "--follow wants the folder of a collector.") from None
        except OSError as error:
            raise UnreadableFlows(
                f"{self._folder} cannot be read: {error.strerror}", "--follow wants the folder of a collector."
            ) from error
        states = {name: (stat.st_size, stat.st_mtime_ns) for name, stat in found.items()}
        done = [
            name
            for name, state in sorted(states.items())
            if self._seen.get(name) == state and self._given.get(name) != state
        ]
        self._seen = states
        self._given = {name: state for name, state in self._given.items() if name in states}
        self._given |= {name: states[name] for name in done}
        return [self._folder / name for name in done]


def _is_wanted(path: Path) -> bool:
    name = path.name
    return (
        name != TOPOLOGY
        and not name.startswith(".")
        and not any(word in name for word in UNFINISHED)
        and path.is_file()
    )
