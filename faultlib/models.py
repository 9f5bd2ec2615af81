"""Which embedding model a name stands for."""

from core.cache import ByteCache
from faultlib.embedding import Embedder
from faultlib.minilm import MiniLM
from faultlib.sentence_model import SentenceModel

DEFAULT = "minilm"


def embedder_for(name: str, cache: ByteCache | None = None) -> Embedder:
    """The model of a name: ``minilm``, or a sentence-transformers model by its folder or name. Nothing is loaded yet.

    Args:
        cache: keeps vectors of the small model.
    """
    return MiniLM(cache) if name == DEFAULT else SentenceModel(name)
