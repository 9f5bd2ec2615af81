"""What a whole diagnosis costs, first and again, for jobs of any size (speed.md, "A whole diagnosis").

    job       a large job that failed, and a small one that did not, as folders
    measure   one diagnosis in a process of its own: CPU, clock, memory
    steps     where its time goes, step by step

``python -m benchmarks.whole --help`` tells how to run it.
"""
