"""Open MPI's ``mpirun --timestamp-output``, also with ``--tag-output``: ``Sun Nov 22 13:09:04 2026[1,2]<stdout>:``.

The tag of ``--tag-output`` alone is read by ``core.logs.lines``; here it stays what is said after the stamp. Source:
orte/mca/iof/base/iof_base_output.c of Open MPI 4 (ctime, then ``[jobid,vpid]<stream>:``).

Amazon SageMaker's build of it also names the machine: ``[1,mpirank:8,algo-3]<stdout>:``, as logs in public issues have
it (aws/sagemaker-python-sdk, aws/amazon-sagemaker-examples).
"""

import re

from core.logs.wraps.peeled import Peeled, Wrap, usual
from core.logs.wraps.stamps import MONTHS, iso

_HEAD = re.compile(
    rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?P<month>"
    + b"|".join(MONTHS)
    + rb") +(?P<day>[0-9]{1,2}) (?P<clock>[0-9]{2}:[0-9]{2}:[0-9]{2}) (?P<year>[0-9]{4})"
    + rb"(?P<tag>\[[0-9]{1,10},(?P<rank>[0-9]{1,7})\])?<std(?:out|err|diag)>:(?: (?=\S))?"
)


def peel(line: bytes) -> Peeled | None:
    """What was said, when, and by which rank."""
    match = _HEAD.match(line)
    if match is None:
        return None
    month = MONTHS.index(match["month"]) + 1
    stamp = iso(b"%s-%02d-%02dT%s" % (match["year"], month, int(match["day"]), match["clock"]))
    rank = int(match["rank"]) if match["rank"] else None
    return Peeled(line[match.end() :], stamp, rank=rank)


_TAG = re.compile(
    rb"\[[0-9]{1,10},mpirank:(?P<rank>[0-9]{1,7}),(?P<node>[A-Za-z0-9][A-Za-z0-9.-]{0,62})\]"
    rb"<std(?:out|err|diag)>:(?: (?=\S))?"
)


def peel_tag(line: bytes) -> Peeled | None:
    """What was said, by which rank and where."""
    match = _TAG.match(line)
    return Peeled(line[match.end() :], nodes=(match["node"],), rank=int(match["rank"])) if match else None


fit = usual(Wrap("mpirun", peel))
fit_tag = usual(Wrap("mpirun of SageMaker", peel_tag))
