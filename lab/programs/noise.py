# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""What healthy programs say all day though it sounds bad: failed pushes, retries, deprecations, slow batches."""

import logging
import os
import random
import socket
import threading
import time
import warnings

log = logging.getLogger("telemetry")
PUSH_EVERY_S = 6.0  # chosen: some of them in a job of a minute
SENSOR_EVERY_S = 4.0  # as above


def start_noise(rank: int, local_rank: int) -> None:
    """Start what NOISE names: metrics, sensors, deprecation, retry."""
    wanted = os.environ.get("NOISE", "").split(",")
    if "deprecation" in wanted:
        warnings.warn(
            "`data_impl` is deprecated and will be removed in 0.11; an error will be raised then.",
            FutureWarning,
            stacklevel=2,
        )
    if "retry" in wanted and rank == 0:
        for attempt in (1, 2):
            log.warning("Connection to experiment tracker failed (attempt %d/3): timed out, retrying", attempt)
        log.error("could not reach experiment tracker, running offline")
    if "metrics" in wanted and local_rank == 0:
        threading.Thread(target=_push, daemon=True).start()
    if "sensors" in wanted and local_rank == 0:
        threading.Thread(target=_sensors, args=(rank,), daemon=True).start()


def slow_batch(rank: int, iteration: int) -> None:
    """Now and then a batch is said to be slow: one rank, one iteration, no harm."""
    if "slow" in os.environ.get("NOISE", "").split(","):
        seed = os.environ.get("NOISE_SEED", "0")
        if random.Random(f"{seed}/{rank}/{iteration}").random() < 0.02:  # noqa: S311 - noise, no secret
            log.warning("data queue ran empty at iteration %d, batch took longer than expected", iteration)


def _push() -> None:
    address = os.environ.get("METRICS", "127.0.0.1:9091")
    host, port = address.rsplit(":", 1)
    failed = 0
    while True:
        try:
            with socket.create_connection((host, int(port)), timeout=3) as peer:
                peer.sendall(b"PUT /metrics/job/train HTTP/1.0\r\n\r\n")
        except OSError as error:
            failed += 1
            log.error("metrics push to http://%s failed (%d so far): %s", address, failed, error)  # noqa: TRY400
        time.sleep(PUSH_EVERY_S)


def _sensors(rank: int) -> None:
    while True:
        time.sleep(SENSOR_EVERY_S)
        log.warning("sensor read error on rank %d: no thermal zone below /sys/class/hwmon", rank)
