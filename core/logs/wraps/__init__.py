r"""Logs as they were said: the wrappers are taken off that collectors, runtimes and loggers put around each line.

A container's runtime, the journal, a log store or a logger that writes objects hides who spoke, when, and what. Here a
log is unwrapped as ``sources.unpack`` unpacks it, before anything else looks at it: known by its content, never by its
name, up to four layers deep (a runtime that holds the journal that holds JSON), each as one file of this package:

    peeled     what taking a layer off gives, and what a layer is
    stamps     times of all kinds as one
    records    an object with fields (structlog, python-json-logger, pino, ...) as a line of text
    <format>   one wrapper each: how it is recognised, and what stands inside
    registry   all of them
    sample     how a log is wrapped, from its first bytes
    unwrap     a line, or a document, without its layers
    stream     a log without them

There is exactly one line out for each physical line in, so that line numbers stay; what was several lines inside
(a traceback in a field) becomes several segments of it, separated by carriage returns. A line out is

    <stamp> \x1e<fields>\x1e<what was said>

with fields as ``core.logs.label`` has them. A log without a wrapper is read as it stands, but for the byte ``\x1e``:
nothing but a wrapper here may write a label.
"""
