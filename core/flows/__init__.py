"""Network flows in, training jobs out: who trains with whom, how long each step took, which part was slow.

Follows LLMPrism (arXiv 2505.00342), whose public text gives the union-find over flows and the k-sigma of the findings.
``core/flows/analyse.py`` is the story.

Differs: jobs are made of connections instead of pairs of addresses, clusters that share servers are joined only if they
keep the same clock, steps are cut where bytes are equal, and findings compare a slow stretch with the rest of the run.
"""
