"""Make the vectors of all texts that come with the program, so that nobody waits for them: ``make setup`` ends so."""

from pathlib import Path

from bot.ask.english import labelled
from faultlib.minilm import MiniLM, key_of
from faultlib.prepared_vectors import FILE, store_vectors
from faultlib.seeds import read_seeds


def prepare(file: Path = FILE) -> None:
    """Write the vectors of seeds and labelled questions; those that the file has are not made again.

    Raises:
        EmbeddingUnavailable: the model cannot be loaded.
        OSError: the file cannot be written.
    """
    texts = sorted({*(seed.words() for seed in read_seeds()), *(text for text, _ in labelled())})
    vectors = MiniLM(prepared=file).embed(texts)
    store_vectors(dict(zip(map(key_of, texts), vectors, strict=True)), file)


if __name__ == "__main__":
    prepare()
