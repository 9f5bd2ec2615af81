"""The report: a diagnosis as one self-contained page, and its plots as figures."""
