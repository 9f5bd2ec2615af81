"""A signal that ends the program in order wakes whoever waits for it, whatever the program is doing just then."""

import signal
import subprocess
import sys

import pytest

from benchmarks.support.patience import PATIENCE

# The signal is given to another thread than the one that waits: the system does not interrupt the wait, as when it
# comes in the moment before the wait begins.
SCRIPT = """
import signal, sys, threading, time
from benchmarks.support.patience import PATIENCE
from bot.commandline.end_signals import end_signals

def send():
    time.sleep(0.5)  # the other one waits by now
    signal.pthread_kill(threading.get_ident(), {number})

with end_signals(signal.SIGTERM, signal.SIGINT) as wait_for_the_end:
    threading.Thread(target=send).start()
    wait_for_the_end()
    print("ended", flush=True)
    signal.raise_signal({number})
    print("still here", flush=True)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, -signal.SIGINT)])
def test_no_signal_is_lost_and_a_second_one_ends_at_once(number: int, code: int) -> None:
    """It wakes the program although another thread got it; the next one needs nobody to wait."""
    script = SCRIPT.format(number=int(number))
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (ran.stdout, ran.returncode) == ("ended\n", code), ran.stderr
