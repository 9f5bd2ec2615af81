"""How good the answers are: methods over labelled jobs, scored, as a table.

    methods    every method that is measured, by name
    rivals     the trivial ones: first error, most frequent error, first to fall silent
    labels     what really happened to a job
    run        each method on each job
    score      one diagnosis against the truth
    measures   scores of many jobs as numbers
    report     the numbers as markdown, and into documents

``python -m benchmarks.quality --help`` tells how to run it.
"""
