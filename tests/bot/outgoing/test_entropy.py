"""Random keys go, and what only looks random to a person stays: hashes, UUIDs, checksums, and all of the examples."""

import hashlib
import random
import re
import string
import uuid
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.outgoing.entropy import random_words
from bot.outgoing.redact import redact
from tests.support.places import ROOT

ALNUM = string.ascii_letters + string.digits
DRAWS = 1000
Draw = Callable[[random.Random], str]


def of(letters: str, length: int) -> Draw:
    return lambda chance: "".join(chance.choice(letters) for _ in range(length))


@pytest.mark.parametrize(
    ("draw", "least"),
    [
        (of(ALNUM, 32), 0.95),
        (of(ALNUM, 40), 0.97),
        (of(ALNUM, 84), 0.99),
        (of(string.ascii_lowercase + string.digits, 32), 0.9),
        (of(ALNUM + "+/", 40), 0.93),
        (lambda chance: urlsafe_b64encode(chance.randbytes(32)).decode().rstrip("="), 0.88),
    ],
    ids=["32", "40", "NGC", "small 32", "AWS", "urlsafe"],
)
def test_random_keys_are_found(draw: Draw, least: float) -> None:
    """At least so many; measured over 3,000 draws: .97, .99, 1, .95, .96, .92."""
    chance = random.Random(7)

    found = sum(bool(random_words(f"got {draw(chance)} from the vault")) for _ in range(DRAWS))

    assert found >= least * DRAWS


@pytest.mark.parametrize(
    "draw",
    [
        lambda chance: hashlib.sha1(chance.randbytes(8)).hexdigest(),
        lambda chance: hashlib.md5(chance.randbytes(8)).hexdigest().upper(),
        lambda chance: hashlib.sha256(chance.randbytes(8)).hexdigest(),
        lambda chance: str(uuid.UUID(bytes=chance.randbytes(16))),
        lambda chance: "GPU-" + str(uuid.UUID(bytes=chance.randbytes(16))),
        lambda chance: "SHA256:" + b64encode(chance.randbytes(32)).decode().rstrip("="),
        lambda chance: "sha256-" + b64encode(chance.randbytes(32)).decode(),
        lambda chance: f"/tmp/torchinductor_root/ab/c{of(string.ascii_lowercase + '234567', 51)(chance)}.py",
    ],
    ids=["git", "md5", "sha256", "UUID", "GPU", "ssh fingerprint", "integrity", "inductor"],
)
def test_hashes_and_ids_stay(draw: Draw) -> None:
    """They name a commit, a device or a file, which is what an answer is about."""
    chance = random.Random(7)
    texts = [f"checked out {draw(chance)} for rank 3" for _ in range(DRAWS)]

    assert [text for text in texts if redact(text) != text] == []


def test_no_key_is_seen_in_the_labelled_examples() -> None:
    """The logs of examples/ hold no secret: whatever is replaced there is the home folder of a person."""
    lines = {
        line[:4000]
        for file in sorted((ROOT / "examples").glob("*/logs/**/*.log"))
        for line in Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    }
    assert len(lines) > 1000

    assert [line for line in lines if re.search(r"\[(?:key|secret)-", redact(line))] == []
