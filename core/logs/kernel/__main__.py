"""Compile the kernel into numba's cache, so that the first large job does not wait for it: ``make setup`` ends so."""

import sys

from core.logs.kernel import scan_blocks_fast
from core.logs.lines import Format

scan_blocks_fast((), Format())
sys.exit(0)
