"""Serve a GGUF model on loopback for recording; run with any Python that has ``xllamacpp``, which is no dependency.

python tests/record/serve.py MODEL.gguf 8011
"""

import sys
import threading
from pathlib import Path

CONTEXT_TOKENS = 8_192  # the longest prompt of ours and its answer
THREADS = 2


def main() -> None:
    """Load the model and answer until somebody ends the program; llama.cpp's own server speaks the protocol."""
    import xllamacpp  # type: ignore[import-not-found]  # noqa: PLC0415 only where a model is served

    model, port = Path(sys.argv[1]), int(sys.argv[2])
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.model_alias = {sys.argv[3] if len(sys.argv) > 3 else model.stem}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = THREADS
    parameters.sampling.seed = 1
    server = xllamacpp.Server(parameters)
    sys.stderr.write(f"{model.name} answers at {server.listening_address}\n")
    threading.Event().wait()


if __name__ == "__main__":
    main()
