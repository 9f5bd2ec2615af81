"""From a diagnosis to a root-cause note: claims that code makes, in the order of a model. Start at ``write.py``."""
