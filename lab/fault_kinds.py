"""All kinds of jobs that the lab can make."""

from lab.faults.clocks import CLOCKS
from lab.faults.hangs import HANGS
from lab.faults.network import NETWORK
from lab.faults.processes import PROCESSES
from lab.faults.programs import PROGRAMS
from lab.faults.stops import STOPS
from lab.faults.storage import STORAGE
from lab.model import COMPLETED, Fault

HEALTHY = Fault("none", "", None, None, "none", None, ends=COMPLETED)
RESUMED = Fault("none", "", None, None, "none", None, ends=COMPLETED, resume=True)
FAULTS = {fault.kind: fault for fault in (*PROCESSES, *NETWORK, *STORAGE, *PROGRAMS, *HANGS, *STOPS, *CLOCKS)}
