"""Record the calls of a real model anew, all or those that are named, while it answers at URL.

python -m tests.record http://127.0.0.1:8011/v1 [NAME ...]
"""

import logging
import sys
import time

from tests.record.calls import CALLS
from tests.record.cassette import MODEL, cassette

_LOG = logging.getLogger("tests.record")


def main() -> None:
    """Run each call once and keep what was said."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("vcr").setLevel(logging.WARNING)  # it would print every answer
    url, chosen = sys.argv[1], sys.argv[2:] or list(CALLS)
    for name in chosen:
        began = time.monotonic()
        with cassette(name, record=True):
            reply = CALLS[name](url, MODEL, True)
        _LOG.info("%s: %.0f s, %s\n%s\n", name, time.monotonic() - began, reply.usage, reply.text)


if __name__ == "__main__":
    main()
