"""Small real jobs grown to the size of large ones: scale that nobody can collect (benchmarks/results/scale.md).

    cast      which node of the small job each node of the large one plays
    script    a log as constant text and the parts that depend on who speaks it
    grow      a labelled job and its truth, grown, as a folder
    alone     the diagnosis of one job in a process of its own
    measure   many grown jobs, made, diagnosed and deleted one by one
    table     the numbers as markdown

``python -m benchmarks.amplify --help`` tells how to run it.
"""
