"""Keys that nothing announces: words of random characters. Hashes, UUIDs, checksums and names of code stay.

A key of an API is 32 to 128 letters and digits without a pattern. So is a git hash, which is worth more in an answer
than the rare secret that looks like one: what is hexadecimal stays unless a name stands before it (redact.py). Every
threshold is from docs/LOG.md: the share of random keys that is found, the words of labelled logs that are struck.
"""

import re
from collections import Counter
from itertools import pairwise
from math import log2

# Whole words: what continues behind a dot, a slash or a dollar is a path, a module or a mangled name. A dot may end a
# sentence.
_WORD = re.compile(
    r"(?<![A-Za-z0-9_.~/+=$@%?&-])(?=[A-Za-z0-9_-]{0,127}[0-9])([A-Za-z0-9][A-Za-z0-9_-]{31,127}={0,2})(?![A-Za-z0-9_~/+=$@%-]|\.\w)"
)
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9_.~/+=$@%-])([A-Za-z0-9+][A-Za-z0-9+/]{39})(?![A-Za-z0-9_~/+=$@%-]|\.\w)")
# A word behind a name that speaks of a secret somewhere in it, as settings print it. What finds a thing is no secret.
_NAMED = re.compile(
    r"(?i)(?<![a-z0-9_.-])(?![a-z0-9_.-]{0,40}(?:cache|public|primary|foreign|partition|sort|monkey|keyboard|author|section))"
    r"(?=[a-z0-9_.-]{0,40}(?:tok|key|secret|cred|auth|pass|pwd)|(?:[a-z0-9_.-]{0,40}[_.-])?[as]k[\"' ]{0,2}[=:])"
    r"[a-z0-9_.-]{2,96}(?:\\?[\"'\]]){0,2}\s{0,3}[=:]\s{0,3}\\?[\"']?"
    r"(?!/)(?=[A-Za-z+/_-]{0,40}[0-9])([A-Za-z0-9+/_-]{16,256}={0,2})(?![A-Za-z0-9+/=_%@:-]|\.\w)"
)
# The second of two that a client is made with: Client("id", "secret").
_PAIR = re.compile(
    r"(?:Client|Credentials?|Session|Minio|Config)\(\s{0,3}[\"'][^\"'\n]{1,128}[\"'],\s{0,3}"
    r"(?:[\"'][^\"'\n]{1,128}[\"'],\s{0,3})?[\"'](?=[A-Za-z+/]{0,60}[0-9])(?=[a-z0-9+/]{0,60}[A-Z])(?=[A-Z0-9+/]{0,60}[a-z])"
    r"([A-Za-z0-9+][A-Za-z0-9+/]{15,255}={0,2})[\"']"
)
# A variable in capitals with a word of letters and digits behind it, as usage texts and shells print it.
_FOLLOWS_VARIABLE = re.compile(
    r"(?:(?<![A-Za-z0-9_])[A-Z][A-Z0-9_]{0,60}_(?:TOKEN|KEY|SECRET|PASSWORD|PASS)"
    r"|\b(?:auth|access|api|bearer)[ _-]token)\s{1,3}[\"']?"
    r"(?=[A-Za-z]{0,40}[0-9])(?=[0-9]{0,40}[A-Za-z])([A-Za-z0-9+/]{16,256}={0,2})(?![A-Za-z0-9+/=_%@:-]|\.\w)"
)
# A word that follows such a name in a sentence or on a command line.
_FOLLOWS = re.compile(
    r"(?i)\b(?:pass(?:word|wd|phrase)|secret|token|credentials?|auth|api[ _-]?key)"
    r"(?:\s{1,3}(?:provided|given|used|supplied|sent)(?:\s{1,3}(?:is|was))?)?:?\s{1,3}[\"']?"
    r"(?=[A-Za-z]{0,40}[0-9])([A-Za-z0-9]{12,256})(?![A-Za-z0-9+/=_%@:-]|\.\w)"
)
_HEXADECIMAL = re.compile(r"(?:0x)?[0-9a-f_-]+|(?:0X)?[0-9A-F_-]+")
# PyTorch names what it compiled by a SHA-256 in base32 (torch/_inductor/codecache.py, sha256_hash); peers of libp2p, of
# which hivemind is made, are called by their public key (libp2p/specs, peer-ids).
_CHECKSUM_ITSELF = re.compile(
    r"[a-z]?[a-z2-7]{51}$|(?:12D3KooW|Qm)[1-9A-HJ-NP-Za-km-z]{44}$|(?i:(?:sha-?[0-9]{1,3}|md5|crc[0-9]{0,2})[_-])"
)
_CHECKSUM = re.compile(
    r"(?i)(?:sha-?[0-9]{1,3}|md5|crc[0-9]{0,2}|digest|fingerprint|checksum|integrity|hash|etag|x-amz-id-2|host-?id)"
    r"[ :=-]{1,3}[\"']?$"
)
_LOOKED_BACK = 16  # characters before a word in which a checksum is announced
_NAMED_LENGTH = 16  # letters and digits behind a name: 73 % of random words of 16 are found then, 90 % of 24
_FOLLOWING_LENGTH = 12  # the same where a name of a password or token precedes: none of 24,043 labelled lines is struck
_LENGTH = 30  # letters and digits: of 32 characters two may be something else
_LONGEST_WORD = 5  # characters of a part of a path that may be anything
_BITS = 3.9  # a character: 32 random letters and digits have 4.5 on average, and 4.0 or less once in 10,000
_TURNS = 0.35  # of the neighbours differ in kind (capital, small, digit): random ones .63, CamelCase2Names about .2
_SMALL_TURNS = 0.25  # the same for letters of one size and digits: random ones .40
_SHORT_BITS = 0.85  # of the bits that different letters would have: of 16 random ones 1.8 % have less
_SMALL_BITS = 3.6  # the same: 32 of 36 characters have 4.3
_LEAST = 2  # of digits, and of small and capital letters where both are; a random word of 32 has fewer digits in 3 %
_PART = 8  # characters between two dashes or underscores, on average: kernels and GPUs have names of shorter parts


def is_random(word: str, *, least: int = _LENGTH) -> bool:
    """Whether a word of letters, digits, ``-`` and ``_``, of so many at least, looks like a key that a machine made."""
    if _CHECKSUM_ITSELF.match(word):
        return False
    parts = re.split("[_-]", word.rstrip("="))
    letters = "".join(parts)
    if len(letters) < least or len(letters) < _PART * len(parts) or _HEXADECIMAL.fullmatch(word):
        return False
    kinds = _kinds(letters)
    of = Counter(kinds)
    if of["9"] < _LEAST:
        return False
    share, possible = _turns(kinds) / (len(kinds) - 1), _SHORT_BITS * log2(len(letters))
    if of["a"] >= _LEAST and of["A"] >= _LEAST:
        return share >= _TURNS and bits(letters) >= min(_BITS, possible)
    return len(parts) == 1 and share >= _SMALL_TURNS and bits(letters) >= min(_SMALL_BITS, possible)


def bits(word: str) -> float:
    """Shannon's entropy of a word, bits a character."""
    return sum(-count / len(word) * log2(count / len(word)) for count in Counter(word).values())


def random_words(text: str) -> list[str]:
    """The keys of a text, as they stand there."""
    found = [
        match[1]
        for match in _WORD.finditer(text)
        if is_random(match[1]) and not _CHECKSUM.search(text[max(0, match.start() - _LOOKED_BACK) : match.start()])
    ]
    return [*found, *(match[1] for match in _AWS_SECRET.finditer(text) if _is_secret(match[1]))]


def named_words(text: str) -> list[str]:
    """The keys of a text behind a name that speaks of one, as they stand there."""
    behind = [match[1] for match in _NAMED.finditer(text) if _is_named(match[1])]
    follows = [match[1] for match in _FOLLOWS.finditer(text) if is_random(match[1], least=_FOLLOWING_LENGTH)]
    sure = [match[1] for pattern in (_PAIR, _FOLLOWS_VARIABLE) for match in pattern.finditer(text)]
    return [*behind, *follows, *sure]


def _is_named(word: str) -> bool:
    """Whether a word behind such a name looks random; the parts of a path are words."""
    parts = [part for part in re.split(r"[/+]", word.rstrip("=")) if len(part) > _LONGEST_WORD]
    is_path = "/" in word and any(_turns(_kinds(part)) < _LEAST for part in parts)
    return not is_path and is_random(re.sub(r"[/+]", "", word), least=_NAMED_LENGTH)


def _is_secret(word: str) -> bool:
    """A secret of AWS: 40 characters of base64. The parts of a path are words."""
    parts = [part for part in re.split(r"[/+]", word) if part]
    long = [part for part in parts if len(part) > _LONGEST_WORD]
    return bool(long) and all(_turns(_kinds(part)) >= _LEAST for part in long) and is_random("".join(parts))


def _kinds(word: str) -> str:
    return "".join("9" if text.isdigit() else "A" if text.isupper() else "a" for text in word)


def _turns(kinds: str) -> int:
    return sum(left != right for left, right in pairwise(kinds))
