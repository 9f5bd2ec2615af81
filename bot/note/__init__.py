"""From a diagnosis to a root-cause note: numbered evidence, a model's draft, a check of every sentence."""
