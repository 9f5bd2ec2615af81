"""Secrets as programs print them that are told of a command, a request or a variable in a form of their own.

Each line passed before there was a rule for its class (docs/LOG.md, 2026-11-27, what is done of the attack).
"""

import pytest

from bot.outgoing.redact import redact

PASSED = [
    "Command '['mysql', '-h', 'db', '-uroot', '-p@@', '-e', 'select 1']' returned non-zero exit status 1.",
    "Command '['sshpass', '-p', '@@', 'ssh', 'node-07']' returned non-zero exit status 5.",
    "Command '['docker', 'login', '-u', 'ci', '-p', '@@', 'registry:5000']' returned non-zero exit status 1.",
    "Command '['ipmitool', '-H', '10.1.1.7', '-U', 'admin', '-P', '@@', 'power', 'status']' timed out",
    "Command '['wandb', 'login', '<hash>']' returned non-zero exit status 1.",
    'entrypoint: ["curl","-u","admin:@@","https://tracker"]',
    'told: {"args": ["train.py", "--db-password", "@@"]}',
    "argv: ['train.py', '--password', '@@', '--lr', '1e-4']",
    "mycli -u root -p @@ -h db",
    "ossutil -i LTAI5tabc -k @@ cp x oss://b",
    "polyaxon login -t <hash>",
    "vast.ai set api-key <hash>",
    "rsync --password-file=<(echo @@) a b",
    r"send: b'GET /api HTTP/1.1\r\nHost: mlflow\r\nCookie: session=@@\r\n\r\n'",
    "Incorrect API key provided: <long>. You can find",
    "credential <long>. It was refused",
    "setenv MONGO_PASSWORD @@",
    "STEP 7/12 : ENV MLFLOW_TRACKING_PASSWORD @@",
    "os.environ.setdefault('COMET_API_KEY', '@@')",
    "Max retries exceeded with url: /services/T0AB12CD3/B0XY98ZW7/q7Rk2Zt9Lm4q7Rk2Zt9Lm4 (Caused by",
    'PLAY vars: {"vault_pass": "@@"}',
    "enable secret 5 $1$HThg$q7Rk2Zt9Lm4q7Rk2Zt9Lm.",
    "root:$6$QEknEJ43$q7Rk2Zt9Lm4q7Rk2Zt9Lm4q7Rk2Zt9Lm4/q7Rk2Zt9Lm4:19700:0:99999:7:::",
    "auth-user-pass: pass='@@'",
    "LDAP bind dn=cn=admin pw=@@",
    "The password is 'EwARPEzmqRkaoa'",
    "scp: root:@@@node-3:/x",
]
STAYS = [
    "cmd=['python', 'tokenize.py', '--token', 'bpe', '--vocab', '32000']",
    "Command '['torchrun', '--nproc_per_node', '8', '-p', 'train.py']' returned non-zero exit status 1.",
    "['docker', 'run', '-p', '8080:80', 'nginx']",
    "['srun', '-p', 'gpu-h100', '-N', '64', '--exclusive', 'python', 'train.py']",
    "fields: ('password', 'username', 'mail')",
    "blobs/9d7ab2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f",
    "pytorch:24.05-Py3abc@sha256:9b2cf535f27731c974343645a3985328b4f0c1a9d6e87b5c4d3e2f1a0b9c8d7e",
    "compile pass=inline_pass_v2 took 3.2s, pw=350.25",
    "Invalid user token. The password is required.",
    "vocab['$1$'] = 17",
]


WORD, HASH = "q7Rk2Zt9Lm4", "0123456789abcdef0123456789abcdef01234567"
LONG = "WyUYgBILXVCQVquUFzkmkIkOPtl2iZrHFm7FqCPjDwuaSFux"


def test_what_had_passed_does_not() -> None:
    """Some secrets stand in the lines as they are."""
    lines = [text.replace("@@", WORD).replace("<hash>", HASH).replace("<long>", LONG) for text in PASSED]

    told = [redact(line) for line in lines]

    left = (WORD, HASH, LONG, "EwARPEzmqRkaoa")
    assert [line for line in told if any(secret in line for secret in left)] == []


@pytest.mark.parametrize("text", STAYS)
def test_what_looks_like_it_stays(text: str) -> None:
    """Commands and values of the same form that hold no secret."""
    assert redact(text) == text


def test_all_but_the_secret_of_a_list_stays() -> None:
    """Quotes and commas between the words are those of the program."""
    said = """Command '['mysql', '-uroot', '-pq7Rk2Zt9Lm4', "-e", 'x'] and ['sshpass', '-p', 'a_b', 'ssh']'"""

    assert (
        redact(said)
        == """Command '['mysql', '-uroot', '-p[secret-1]', "-e", 'x'] and ['sshpass', '-p', '[secret-2]', 'ssh']'"""
    )
