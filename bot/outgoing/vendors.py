"""Keys of vendors, known by how they begin: the rules of detect-secrets that are linear and find none in ordinary logs.

``vendors.toml`` holds them as that library has them; a test compares the two. They are not imported when the bot runs:
the library loads in 0.28 s of CPU, a fifth of a small diagnosis, and brings an HTTP client that nothing here needs.
Its rules for JSON web tokens, npm and OpenAI are quadratic, its entropy rule strikes every sixth line of a training log
(docs/LOG.md): ours are in redact.py and entropy.py.
"""

import re
import tomllib
from functools import cache
from pathlib import Path

RULES = Path(__file__).with_name("vendors.toml")


@cache
def vendor_keys() -> re.Pattern[str]:
    """All rules as one pattern."""
    rules = tomllib.loads(RULES.read_text(encoding="utf-8"))["rule"]
    return re.compile("|".join(f"(?i:{rule['regex']})" if rule["any_case"] else rule["regex"] for rule in rules))
