"""All kinds of wrappers, in the order in which they are asked for: the more special one before the more general one."""

from core.logs.wraps import (
    clock,
    cloudwatch,
    compose,
    cri,
    csv_rows,
    docker,
    elastic,
    heads,
    journal,
    journal_json,
    json_lines,
    json_records,
    json_values,
    kubectl,
    late_clock,
    logfmt,
    loki,
    mpirun,
    ranks,
    stern,
    tags,
)
from core.logs.wraps.documents import Document
from core.logs.wraps.peeled import Fit

FITS: tuple[Fit, ...] = (
    docker.fit,
    cri.fit,
    kubectl.fit_prefix,
    kubectl.fit_stamp,
    journal_json.fit,
    elastic.fit,
    loki.fit_object,
    loki.fit_line,
    cloudwatch.fit_object,
    journal.fit,
    cloudwatch.fit_line,
    compose.fit,
    json_lines.fit,
    json_values.fit,
    logfmt.fit,
    csv_rows.fit,
    stern.fit,
    mpirun.fit,
    late_clock.fit,
    ranks.fit,
    tags.fit,
    heads.fit,
    clock.fit,
)
DOCUMENTS: tuple[Document, ...] = (loki.DOCUMENT, elastic.DOCUMENT, cloudwatch.DOCUMENT, json_records.DOCUMENT)
