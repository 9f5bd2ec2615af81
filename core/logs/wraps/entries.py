"""Entries of the journal by their fields, as its JSON, export and verbose forms have them (systemd.journal-fields)."""

from collections.abc import Mapping

from core.logs.units import is_daemon
from core.logs.wraps.json_objects import as_bytes
from core.logs.wraps.peeled import Peeled
from core.logs.wraps.stamps import NO_STAMP, Stamp, epoch


def is_entry(fields: Mapping[str, object]) -> bool:
    """Whether these are the fields of an entry."""
    return "MESSAGE" in fields and ("__REALTIME_TIMESTAMP" in fields or "_HOSTNAME" in fields or "_BOOT_ID" in fields)


def read_entry(fields: Mapping[str, object], stamp: Stamp = NO_STAMP) -> Peeled:
    """What was said, by whom, and when."""
    host = (_bytes(fields["_HOSTNAME"]),) if fields.get("_HOSTNAME") else ()
    unit, pid = _unit(fields), _bytes(fields.get("_PID") or fields.get("SYSLOG_PID") or b"")
    speaker = b"%s[%s]" % (unit, pid) if unit and pid else unit
    time = epoch(_bytes(fields.get("__REALTIME_TIMESTAMP", "")).decode("ascii", "replace"))
    text = _bytes(fields.get("MESSAGE") or b"")
    if is_daemon(unit):
        return Peeled(speaker + b": " + text, time if time.text else stamp, nodes=host, unit=unit)
    return Peeled(text, time if time.text else stamp, nodes=host, unit=speaker)


def _unit(fields: Mapping[str, object]) -> bytes:
    names = ("SYSLOG_IDENTIFIER", "_COMM", "_SYSTEMD_UNIT", "CONTAINER_NAME")
    return next((_bytes(fields[name]) for name in names if fields.get(name)), b"")


def _bytes(value: object) -> bytes:
    """A field as JSON has it: text, the numbers of bytes that are none, or several values, of which the last counts."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, list):
        numbers = [int(byte) for byte in map(str, value) if byte.isdecimal() and len(byte) < 4 and int(byte) < 256]
        return bytes(numbers) if len(numbers) == len(value) else _bytes(value[-1])
    return as_bytes(value)
