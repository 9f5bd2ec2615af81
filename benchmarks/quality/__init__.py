"""How good the answers are, on labelled jobs: ``python -m benchmarks.quality`` measures and writes the tables.

One job at a time:

    labels       what really happened to a job
    case         the job, read once
    methods      every method that is measured, by name; rivals: the trivial ones
    score        one diagnosis against the truth
    variations   the same job under worse conditions; clocks: its times set forward
    robustness   our answer under each of them
    ablation     our answer without each part
    findings     all of that for a job, and for many at once

Many jobs:

    measures     scores as numbers; intervals: how sure they are
    calibration  whether the confidence is earned
    targets      what was to be reached
    sameness     the same bytes in every run
    sections     the tables; report: markdown, and into documents

``recall`` measures the fault library.
"""
