"""A small pre-training code base in the style of Megatron-LM: tensor and data parallel, on CPU with gloo."""

__version__ = "0.10.1"
