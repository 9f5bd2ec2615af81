"""A node whose clock is wrong: a small library that is loaded before all others shifts what its programs read."""

import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from lab.layout import LAYOUTS
from lab.model import COMPILER, COMPLETED, Fault, PlannedJob, Site

AHEAD_S = 433  # chosen: seven minutes and thirteen seconds, which no time zone and no rounding explains
SHIFT = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long ahead(void) { const char *text = getenv("CLOCK_AHEAD"); return text ? atol(text) : 0; }
int clock_gettime(clockid_t id, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, now);
  if (!result && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead();
  return result;
}
time_t time(time_t *seconds) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds) *seconds = now.tv_sec;
  return now.tv_sec;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec real;
  (void)zone;
  int result = clock_gettime(CLOCK_REALTIME, &real);
  now->tv_sec = real.tv_sec;
  now->tv_usec = real.tv_nsec / 1000;
  return result;
}
"""
STAMP = re.compile(r"\b(\d\d/\d\d/\d{4}|\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)")


def _shift_clock(site: Site) -> None:
    source, library = site.work / "shift.c", site.work / "shift.so"
    source.write_text(SHIFT, encoding="utf-8")
    words = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
    subprocess.run(words, check=True, capture_output=True)  # noqa: S603 - our own source
    site.env[site.plan.node] = {"LD_PRELOAD": str(library), "CLOCK_AHEAD": str(AHEAD_S)}


def _is_ahead(home: Path, plan: PlannedJob) -> bool:
    """The struck rank began to write long after the others, by its own clock."""
    logs = [path for path in home.rglob("*.log") if path.is_file()]
    first = {path.name: _first_stamp(path) for path in logs}
    own = first.pop(Path(plan.log).name, 0.0)
    others = [moment for moment in first.values() if moment]
    return bool(others) and own - max(others) > AHEAD_S / 2


def _first_stamp(path: Path) -> float:
    found = STAMP.search(path.read_text(encoding="utf-8", errors="replace"))
    if not found:
        return 0.0
    form = "%m/%d/%Y %H:%M:%S" if "/" in found[1] else "%Y-%m-%d %H:%M:%S"
    return datetime.strptime(found[0], form).replace(tzinfo=UTC).timestamp()


CLOCKS = (
    Fault(
        "clock_skew_survived", "the clock of {node} was seven minutes ahead; the job completed",
        None, None, "none", None,
        ends=COMPLETED, prepare=_shift_clock, needs=frozenset({COMPILER}), sign=_is_ahead,
        # torchrun's rendezvous compares clocks of nodes, and does not survive this
        suits=lambda settings: settings.layout is LAYOUTS["ranks"],
    ),
)  # fmt: skip
