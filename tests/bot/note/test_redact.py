"""Secrets never leave the process, and what the checks need stays as it is."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.note.redact import Redactor, redact

HEX40 = "0123456789abcdef0123456789abcdef01234567"
GH = "ghp_" + "a1B2" * 9
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
SK = "sk-proj-" + "aB3dE6gH9" * 4

SECRET = [
    ("OPENAI_API_KEY=" + SK, SK),
    ("key is " + SK + ".", SK),
    ("'" + SK + "'", SK),
    ("x" + SK, SK),
    ("sk-ant-api03-" + "Ab1" * 10, "Ab1Ab1"),
    ("cut off: sk-proj-abcd\u2026", "abcd"),
    ("hf_" + "aZ" * 16, "aZaZaZ"),
    ("HF_TOKEN=hf_" + "aZ" * 16, "aZaZaZ"),
    (GH, GH),
    ("https://" + GH + "@github.com/x", GH),
    ("github_pat_11AAAA_" + "b2" * 20, "b2b2b2"),
    ("glpat-" + "x1Y2" * 5, "x1Y2x1Y2"),
    ("xoxb-123456789012-abcdefABCDEF", "abcdefABCDEF"),
    ("xapp-1-A0123456789-abcdef", "A0123456789"),
    ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "wJalrXUtnFEMI"),
    ("AIza" + "Sy0_" * 9, "Sy0_Sy0_"),
    ("npm_" + "q1W2" * 9, "q1W2q1W2"),
    ("nvapi-" + "q1W2" * 9, "q1W2q1W2"),
    ("gsk_" + "q1W2" * 9, "q1W2q1W2"),
    ("sk_live_" + "q1W2" * 5, "q1W2q1W2"),
    ("WANDB_API_KEY=" + HEX40, HEX40),
    ("wandb login " + HEX40, HEX40),
    ("wandb: api key: " + HEX40, HEX40),
    (JWT, JWT),
    ("cookie=" + JWT + "; path=/", "c2lnbmF0dXJl"),
    ("Authorization: Bearer abc.def-123", "abc.def-123"),
    ("authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    ('{"Authorization": "Bearer abcd1234efgh"}', "abcd1234efgh"),
    ("bearer 0123456789abcdef", "0123456789abcdef"),
    ("postgres://bob:hunter2@db:5432/x", "hunter2"),
    ("https://bob:p%40ss@host/x", "p%40ss"),
    ("redis://:s3cret@cache:6379", "s3cret"),
    ("s3://x?X-Amz-Signature=deadbeefdeadbeef&y=1", "deadbeefdeadbeef"),
    ("https://x/?sig=abcdEFGH%3D&se=1", "abcdEFGH"),
    ("hooks.slack.com/services/T000/B000/abcdefgh", "abcdefgh"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow"),
    ("-----BEGIN PRIVATE KEY----- MIIEow and cut", "MIIEow"),
    ("MIIEowIBAAKCAQEA" + "aB3+" * 12, "aB3+aB3+"),
    ("password=hunter2", "hunter2"),
    ("PASSWORD: hunter2", "hunter2"),
    ("db_password = 'hunter2'", "hunter2"),
    ('{"password": "hunter two"}', "hunter two"),
    ('{\\"password\\": \\"hunter2\\", \\"x\\": 1}', "hunter2"),
    ("password=12345", "12345"),
    ("passwd: abc", "abc"),
    ("passphrase => 'open sesame'", "open sesame"),
    ("client_secret=abc/def+1", "abc/def+1"),
    ("secret: s3cr3t", "s3cr3t"),
    ("api-key=abcd", "abcd"),
    ("apiKey: 'abcd'", "abcd"),
    ("access_token=abcd", "abcd"),
    ("SLACK_BOT_TOKEN=zzzz", "zzzz"),
    ("--password hunter2 --nodes 4", "hunter2"),
    ("--api-key abcd", "abcd"),
    ("--hf-token q1w2e3", "q1w2e3"),
    ("token=q1w2e3r4t5", "q1w2e3r4t5"),
    ("token: 'q1w2e3r4t5'", "q1w2e3r4t5"),
    ("AccountKey=q1w2e3r4t5==;Endpoint", "q1w2e3r4t5"),
    ("mail ana.b+c@corp.example.com now", "ana.b+c@corp.example.com"),
    ("/home/ana/train.py", "ana"),
    ("File '/Users/ana/x.py'", "ana"),
    ("C:\\Users\\ana\\x", "ana"),
]

HARMLESS = [
    "2026-11-21T03:59:44.976Z node-01 noded[12793]: ERROR netlink: eth0 <NO-CARRIER,UP> state DOWN",
    "NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', GPU has fallen off the bus.",
    "commit " + HEX40,
    "wandb: git commit " + HEX40,
    "sha256 " + HEX40 + "89abcdef0123456789abcdef",
    "event 427457855c9b49c8 of 9b1f60c2a4d87e35",
    "task-0123456789abcdef0123 disk-usage-of-the-whole-node risk-of-something-else",
    "tokens: 4096, num_tokens=4096 max_tokens=128 tokens/s: 12.5",
    "eos_token: <|endoftext|1> pad_token=pad00001 token: world",
    "tokenizer=meta-llama/Llama-3-8B token_type_ids",
    "key=value cache_key: 12 monkey: 3 keyboard",
    "password: None secret=null token: ''",
    "Permission denied (publickey,password).",
    "git@github.com:org/repo.git",
    "user@1000.service: Deactivated",
    "/root/work/train.py /opt/venv/bin/python /homes/x",
    "exitcode  : -9 (pid: 12207)",
    "basic training of bearer nodes",
    "[rank3]: torch.distributed.DistBackendError: NCCL error",
    "node-01 10.77.0.1:7070 [2800::400d:92f8:5c7f:0]:41394",
]


@pytest.mark.parametrize(("text", "secret"), SECRET)
def test_a_secret_is_replaced(text: str, secret: str) -> None:
    """Keys, tokens, passwords, mail addresses and home folders do not survive."""
    assert secret not in redact(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_the_checks_need_stays(text: str) -> None:
    """Ids, hashes, numbers, paths and the word token are no secrets."""
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("10.77.0.1:7070", "[address-1]:7070"),
        ("[2800::400d:92f8:5c7f:0]:1", "[[address-1]]:1"),
        ("fe80::1 and fe80::1", "[address-1] and [address-1]"),
        ("00:1a:2B:3c:4d:5e", "[address-1]"),
        ("at 03:59:44, PCI:0000:4e:00, c10d::x, version 1.2.3", "at 03:59:44, PCI:0000:4e:00, c10d::x, version 1.2.3"),
    ],
)
def test_addresses_are_replaced_when_asked(text: str, redacted: str) -> None:
    """Addresses of machines, and neither times nor PCI ids."""
    assert redact(text, addresses=True) == redacted


def test_equal_secrets_stay_equal_within_a_note() -> None:
    """A reader can see that two nodes used the same key, and that a third did not."""
    redactor = Redactor()

    shown = [redactor.redact(f"password={secret}") for secret in ("one1", "two2", "one1")]

    assert shown == ["password=[secret-1]", "password=[secret-2]", "password=[secret-1]"]


def test_a_new_secret_is_not_called_like_an_old_one() -> None:
    """A text that was redacted before keeps its placeholders apart from new ones."""
    assert redact("password=[secret-1] password=abc") == "password=[secret-1] password=[secret-2]"


PIECES = st.sampled_from([text for text, _ in SECRET] + HARMLESS) | st.text(max_size=20)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=4).map(" ".join))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    """A redacted text can pass through again."""
    assert redact(redact(text)) == redact(text)


_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["hf_", "ghp_", "glpat-", "sk-proj-", "gsk_", "xoxb-"]),
    st.text(_LETTERS, min_size=36, max_size=48),
    st.text(max_size=30),
    st.text(max_size=30),
)
def test_no_key_survives_whatever_stands_around_it(prefix: str, body: str, before: str, after: str) -> None:
    """A key is found in any text, between any other characters."""
    key = f"{prefix}aB3{body}"

    assert key not in redact(f"{before} {key}{after}")
    assert key not in redact(f"{before}={key}\n{after}")


HOSTILE = ["eyJ", "sk-", "://a:", "a@", "a.", "password=", "token=", '"password', "/home/", "Aa1", "authorization:",
           "wandb key ", "0:", "1.", 'password="\\', "--a-", 'token="a', "hf_a",
           "-----BEGIN PRIVATE KEY-----"]  # fmt: skip
HOSTILE_LENGTH = 200_000
SECONDS = 5.0  # measured: at most 0.3 s on an idle core; quadratic patterns took minutes


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_no_longer_than_other_text(piece: str) -> None:
    """No log line can stop a diagnosis: every pattern is linear."""
    text = (piece * (HOSTILE_LENGTH // len(piece) + 1))[:HOSTILE_LENGTH]
    start = time.process_time()

    redact(text, addresses=True)

    assert time.process_time() - start < SECONDS


def test_a_megabyte_takes_seconds() -> None:
    """The longest line that is ever looked at is far shorter."""
    text = ("eyJ" * 100 + " password=" + "://a:" * 50) * 1_800
    start = time.process_time()

    redact(text[:1_000_000], addresses=True)

    assert time.process_time() - start < 2 * SECONDS
