"""The metamorphic proof: the same job in other dresses has the same answer. ``python -m benchmarks.quality.dresses``.

A dress is what a collector, a store, a launcher or a terminal puts around the lines of a job, and nothing of what
happened: the same scope, the same suspects and the same first event must come out. Jobs and truths are those of
``lab.tar.xz`` and of ``other.tar.xz`` beside this folder.

    wearer      a job as it is dressed: its lines, each with who said it and when
    outfit      the files of a dressed job, and where each of their lines stood before
    runtimes    docker, CRI, kubectl, stern            journal   journald in four forms
    stores      Loki, Elastic, CloudWatch              loggers   an object or pairs a line
    launchers   srun --label, pdsh, Ray                colours   rich, loguru, torchtitan, links and titles
    endings     how each node of a job ended           cleanup   what other launchers say when they end a job
    wardrobe    all dresses by name
    same        whether two answers are the same
    layouts     a job in files and behind labels that nobody has seen yet; layout_trial: who is said to write there
    known       pairs that differ, by name and reason
    trial       jobs tried in dresses; report: benchmarks/results/dresses.md
"""
