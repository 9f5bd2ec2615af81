"""Secrets and names of people out of a text, before anything leaves the process.

Every pattern is linear: a run of characters is measured once from its beginning, or at most a fixed number of
characters from anywhere. Equal secrets get equal placeholders (``[key-1]``), and a placeholder is never replaced.
"""

import re
from collections.abc import Callable
from ipaddress import AddressValueError, IPv6Address

from bot.outgoing.entropy import random_words
from bot.outgoing.vendors import vendor_keys

_PLACEHOLDER = re.compile(r"\[(key|secret|user|email|address)-([0-9]{1,6})\]")
_NO_PLACEHOLDER = r"(?!\[(?:key|secret|user|email|address)-[0-9])"

# Vendors' keys, known by their first letters. The part behind them is long, or was cut off and ends in an ellipsis.
_VENDOR_KEYS = re.compile(
    r"hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|(?<![A-Za-z0-9])(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"
    r"|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{30,}|pypi-AgE[A-Za-z0-9_-]{20,}"
    r"|nvapi-[A-Za-z0-9_-]{20,}|gsk_[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{30,}"
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|dckr_pat_[A-Za-z0-9_-]{20,}|dop_v1_[a-f0-9]{40,}|wandb_v1_[A-Za-z0-9_]{20,}"
    r"|SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}|api_org_[A-Za-z0-9]{20,}|hvs\.[A-Za-z0-9_-]{20,}"
    r"|GOCSPX-[A-Za-z0-9_-]{20,}|dapi[a-f0-9]{32}|rpa_[A-Z0-9]{30,}|pcsk_[A-Za-z0-9_]{30,}|lsv2_[a-z]{2}_[a-f0-9_]{30,}"
    r"|tgp_v1_[A-Za-z0-9_-]{30,}|ATATT3[A-Za-z0-9_=-]{30,}|[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}"
    # "sk-" ends many English words (disk-, task-): either nothing stands before it, or what follows is no word
    r"|(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}"
    r"|sk-(?=[A-Za-z_-]{0,60}[0-9])(?=[a-z0-9_-]{0,60}[A-Z])(?=[A-Z0-9_-]{0,60}[a-z])[A-Za-z0-9_-]{20,}"
    r"|(?:hf_|gh[pousr]_|glpat-|xox[abeoprs]-|(?<![A-Za-z0-9])sk-)[A-Za-z0-9_-]{2,128}+(?=\u2026)"
)
_WEBHOOK = re.compile(r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{8,}")
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:.*?-----END [A-Z ]{0,40}PRIVATE KEY-----|.*\Z)", re.DOTALL
)
_KEY_BODY = re.compile(
    r"(?m)^\s{0,8}((?=[A-Za-z0-9]{0,60}[+/A-Z])(?=[A-Z0-9+/]{0,60}[a-z])[A-Za-z0-9+/]{60,76}={0,2})\s{0,8}$"
)
# A run of token characters that is followed by a dot, and from its first "eyJ" on the whole of it.
_JWT = re.compile(r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]++\.[A-Za-z0-9_-])([A-Za-z0-9_-]*?)(eyJ[A-Za-z0-9_.-]++)")
_IN_URL = re.compile(r"(?<=://)([^\s/:@\[\]\"']{0,128}):" + _NO_PLACEHOLDER + r"([^\s/\"']{1,256})(?=@)")
_USER_IN_URL = re.compile(r"(?<=://)" + _NO_PLACEHOLDER + r"([A-Za-z0-9_.~-]{16,256})(?=@)")
_SIGNATURE = re.compile(r"(?i)(?<=[?&])((?:x-amz-)?(?:signature|credential|security-token)|sig)=([^\s&\"'\[]{8,2048})")

_QUOTED_OR_WORD = (
    r"(\\?\"(?:[^\"\\]|\\[^\"]){1,256}+\\?\"|'(?:[^'\\]|\\.){1,256}+'"
    r"|(?:[^\s\"'`,;&<>()\[\]{}\\]|\\(?!n))[^\s\"'`,;&<>()\]}]*+)"
)
_SEPARATOR = r"((?:\\?[\"'\]])?\s{0,3}(?:=>|:=|=|:)\s{0,3})"
_SURE_NAME = (
    r"(?:pass(?:word|wd|phrase)|(?<=[a-z0-9])_pwd"
    r"|(?<![a-z])(?:admin|app|auth|db|docker|ftp|git|http|https|imap|ldap|login|mail|mongo|my|mysql|pg|postgres|proxy"
    r"|rabbitmq|redis|registry|root|smtp|ssh|sudo|user|vpn)[_-]?pass(?![a-z_-])|shared[_-]?access[_-]?key"
    r"|client[_-]?secret|secret(?:[_-]?access)?(?:[_-]?key)?|private[_-]?key"
    r"|(?:api|access|account|auth|encryption|signing|master)[_-]?key(?:[_-]?id)?|credentials?"
    r"|(?:access|auth|api|refresh|session|bot|app|csrf|hf|hub|hugging_?face|git|github|gitlab|slack|wandb|vault|bearer|secret)"
    r"[_-]?token)"
)
_ASSIGNED = re.compile(rf"(?i)({_SURE_NAME}){_SEPARATOR}{_NO_PLACEHOLDER}{_QUOTED_OR_WORD}")
_OPTION = re.compile(
    rf"(?i)(--(?:[a-z0-9]{{1,20}}[_-]){{0,3}}(?:{_SURE_NAME}|token))(\s{{1,3}}){_NO_PLACEHOLDER}(?!-){_QUOTED_OR_WORD}"
)
# A "token" is a word of text far more often than a secret: only a value that looks like a key counts.
_TOKEN = re.compile(
    r"(?i)(?<!eos_)(?<!bos_)(?<!pad_)(?<!unk_)(?<!sep_)(?<!cls_)(?<!mask_)(token)"
    rf"{_SEPARATOR}{_NO_PLACEHOLDER}(?=[\"'\\]{{0,2}}[A-Za-z_:.-]{{0,60}}[0-9])(?=[\"'\\]{{0,2}}[0-9_:.-]{{0,60}}[A-Za-z])"
    r"(?=[\"'\\]{0,2}[^\s\"'`,;&]{8})"
    rf"{_QUOTED_OR_WORD}"
)
_AUTHORIZATION = re.compile(
    rf"(?i)(authorization){_SEPARATOR}([\"']?+(?:(?:bearer|basic|token|digest|negotiate)\s{{1,3}}+)?+)"
    rf"{_NO_PLACEHOLDER}([^\s\"'`,;\[\]]{{4,4096}})"
)
_BEARER = re.compile(
    r"(?i)\b(bearer\s{1,3})(?=[A-Za-z._~+/=-]{0,60}[0-9]|[A-Za-z._~+/=-]{24})([A-Za-z0-9._~+/=-]{8,4096})"
)
_HEX_KEY = re.compile(
    r"(?i)((?:wandb[_ -]?(?:api[_ -]?key|login|key)|api[_ -]?key|\.netrc|machine api\.wandb\.ai)"
    r"[^\n\[]{0,40}?)(?<![0-9a-f])([0-9a-f]{40})(?![0-9a-f])"
)
# What programs are told on their command lines, and what HTTP, Docker, npm and netrc keep where no name says "secret".
_SHORT_OPTION = re.compile(
    r"(\b(?:sshpass|mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump)\b(?:\s{1,3}(?!-p)[^\s;|&]{1,80}){0,12}?\s{1,3}-p"
    r"|\bsshpass\b(?:\s{1,3}(?!-p)[^\s;|&]{1,80}){0,4}?\s{1,3}-p\s{1,3}"
    r"|\b(?:docker|podman|nerdctl|helm|az|oras|skopeo|crane)\b(?:\s{1,3}[a-z]{1,20}){0,2}\s{1,3}login\b(?:\s{1,3}(?!-p\b)[^\s;|&]{1,80}){0,12}?\s{1,3}-p\s{1,3}"
    r"|\bredis-cli\b(?:\s{1,3}(?!-a\b)[^\s;|&]{1,80}){0,12}?\s{1,3}-a\s{1,3}"
    rf"|\bcurl\b(?:\s{{1,3}}[^\s;|&]{{1,200}}){{0,12}}?\s{{1,3}}(?:-u|--user)\s{{1,3}}[\"']?[^\s:\"'\[]{{1,64}}:){_NO_PLACEHOLDER}"
    r"(\"[^\"\n]{1,256}\"|'[^'\n]{1,256}'|[^\s\"';|&<>]{1,256})"
)
# Further commands, as their own documents write them: what stands before the secret, which is the next word.
_WORDS = r"(?:\s{1,3}[^\s;|&]{1,200}){0,12}?\s{1,3}"
_OF_COMMANDS = re.compile(
    rf"(\b(?:(?:ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami)\b{_WORDS}-w\s{{1,3}}|7z[ar]?\b{_WORDS}-p"
    rf"|(?:zip|unzip|sqlcmd|bcp)\b{_WORDS}-P\s{{1,3}}|(?:useradd|usermod)\b{_WORDS}-p\s{{1,3}}|ssh-keygen\b{_WORDS}-N\s{{1,3}}"
    rf"|smbclient\b{_WORDS}-U\s{{1,3}}[^\s%]{{1,64}}%|etcdctl\b{_WORDS}--user[ =][^\s:]{{1,64}}:"
    rf"|redis-cli\b{_WORDS}--pass\s{{1,3}}|influx\b{_WORDS}-password\s{{1,3}}"
    r"|rabbitmqctl\s{1,3}(?:add_user|change_password)\s{1,3}\S{1,64}\s{1,3}"
    r"|htpasswd\s{1,3}-[A-Za-z]{0,8}b[A-Za-z]{0,8}\s{1,3}\S{1,128}\s{1,3}\S{1,64}\s{1,3}"
    r"|(?:aws_)?(?:secret_access_key|session_token)\s{1,3}(?=\S{0,64}[0-9]))|-pass(?:in|out)?\s{1,3}pass:"
    r"|;\s{0,2}(?:Pwd|PWD|pwd)\s{0,2}=\s{0,2}|\b[\w.*-]{1,64}:5432:[\w*-]{1,64}:[\w-]{1,64}:"
    rf"|\"username\"\s{{0,3}}:\s{{0,3}}\"[^\"\n]{{1,64}}\",\s{{0,3}}\"key\"\s{{0,3}}:\s{{0,3}}){_NO_PLACEHOLDER}"
    r"(\"[^\"\n]{1,256}\"|'[^'\n]{1,256}'|[^\s\"';|&<>]{1,256})"
)
# A variable in capitals that is called a key. EOS_TOKEN is a word of a tokenizer, FORWARD_PASS=0.12 a time.
_ENVIRONMENT = re.compile(
    r"((?<![A-Za-z0-9_])(?:SSHPASS|(?!(?:EOS|BOS|PAD|UNK|SEP|CLS|MASK)_)[A-Z][A-Z0-9_]{1,60}_(?:KEY(?:_BASE)?|AUTH|TOKEN|PASS|PWD|SECRET|CREDS))"
    rf"\s?=\s?){_NO_PLACEHOLDER}(?![0-9.]{{1,20}}(?:\s|$))(\"[^\"\n]{{1,256}}\"|'[^'\n]{{1,256}}'|[^\s\"'`,;&<>()\[\]{{}}/]{{4,256}}+(?!/))"
)
_COOKIE = re.compile(
    rf"(?i)\b((?:set-)?cookie2?[\"']?\s{{0,3}}[:,]\s{{0,3}}[\"']?|--cookie[ =][\"']?)(?=[\w.-]{{1,64}}=)"
    rf"{_NO_PLACEHOLDER}([^\r\n\"']{{3,4096}})"
)
_DOCKER_AUTH = re.compile(
    rf"(\\?\"(?:auth|identitytoken|registrytoken)\\?\"\s{{0,3}}:\s{{0,3}}\\?\"){_NO_PLACEHOLDER}([A-Za-z0-9+/=_.-]{{6,4096}})"
)
_NPM_AUTH = re.compile(rf"(:?_auth(?:Token)?\s{{0,3}}=\s{{0,3}}){_NO_PLACEHOLDER}([A-Za-z0-9+/=_.-]{{6,512}})")
_NETRC = re.compile(rf"(\blogin\s{{1,3}}\S{{1,128}}\s{{1,8}}password\s{{1,3}}){_NO_PLACEHOLDER}(\S{{1,256}})")
_HASH = re.compile(r"(?i)commit|sha|hash|rev")
_EMAIL = re.compile(
    r"[A-Za-z0-9._%+-]{1,64}@(?![0-9]{1,8}\.(?:service|slice|socket|scope|timer|mount)\b)"
    r"(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}"
)
_HOME = re.compile(
    r"((?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2}))" + _NO_PLACEHOLDER + r"([^\s/\\:;,\"'`<>()\[\]\u2026]{1,64})"
)
_MAC = re.compile(r"(?i)(?<![0-9a-f:.-])[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}(?![0-9a-f:-])")
_IPV4 = re.compile(
    r"(?<![0-9.])(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(?![0-9]|\.[0-9])"
)
_IPV6 = re.compile(r"(?<![\w:.])(?=[0-9a-fA-F]{0,4}:)[0-9a-fA-F:]{2,45}+(?![\w])")

_NO_SECRET = re.compile(
    r"(?i)none|null|nil|true|false|yes|no|n/a|unset|empty|redacted|required|missing|invalid|\*+|\.+|\u2026"
    r"|on|off|is|was|for|not|and|the|to|an?|in"
)
_WEAK_WORD = re.compile(r"(?i)\*+|x{3,}|<[^>]*>?|\$\{?\w+\}?")


class Redactor:
    """Redacts the texts of one note: the same secret is the same placeholder in all of them.

    addresses: network addresses as well.
    """

    def __init__(self, *, addresses: bool = False) -> None:
        self._addresses = addresses
        self._known: dict[tuple[str, str], str] = {}
        self._last: dict[str, int] = {}

    def redact(self, text: str) -> str:
        """The text with placeholders for what is nobody's business."""
        self.heed(text)
        text = self._keys(text)
        text = self._assigned(text)
        text = _EMAIL.sub(lambda m: m[0] if m[0].startswith("git@") else self._name("email", m[0]), text)
        text = _HOME.sub(lambda m: m[1] + self._name("user", m[2]), text)
        return self._network(text) if self._addresses else text

    def heed(self, text: str) -> None:
        """Give no name that stands in this text already."""
        for kind, number in _PLACEHOLDER.findall(text):
            self._last[kind] = max(self._last.get(kind, 0), int(number))

    def _keys(self, text: str) -> str:
        text = self._whole(_PRIVATE_KEY, "key", text)
        text = _KEY_BODY.sub(self._last_group("key"), text)
        text = _JWT.sub(lambda m: m[1] + self._name("key", m[2]), text)
        text = _IN_URL.sub(lambda m: f"{m[1]}:{self._name('secret', m[2])}", text)
        text = _USER_IN_URL.sub(self._last_group("secret"), text)
        text = self._whole(_WEBHOOK, "key", text)
        text = self._whole(_VENDOR_KEYS, "key", text)
        text = self._whole(vendor_keys(), "key", text)
        return _SIGNATURE.sub(lambda m: f"{m[1]}={self._name('key', m[2])}", text)

    def _assigned(self, text: str) -> str:
        text = _HEX_KEY.sub(lambda m: m[0] if _HASH.search(m[1]) else m[1] + self._name("key", m[2]), text)
        text = _AUTHORIZATION.sub(lambda m: m[1] + m[2] + m[3] + self._name("key", m[4]), text)
        text = _BEARER.sub(lambda m: m[1] + self._name("key", m[2]), text)
        for pattern in (_COOKIE, _SHORT_OPTION, _OF_COMMANDS, _ENVIRONMENT, _DOCKER_AUTH, _NPM_AUTH, _NETRC):
            text = pattern.sub(self._second, text)
        for pattern in (_ASSIGNED, _OPTION, _TOKEN):
            text = pattern.sub(self._value, text)
        for word in dict.fromkeys(random_words(text)):
            text = text.replace(word, self._name("key", word))
        return text

    def _network(self, text: str) -> str:
        text = self._whole(_MAC, "address", text)
        text = self._whole(_IPV4, "address", text)
        return _IPV6.sub(lambda m: self._name("address", m[0]) if _is_ipv6(m[0]) else m[0], text)

    def _value(self, match: re.Match[str]) -> str:
        value = match[3]
        edge = value[: len(value) - len(value.lstrip("\\\"'"))]
        end = value[len(value.rstrip("\\\"'")) :]
        core = value.strip("\\\"'")
        if not core or _NO_SECRET.fullmatch(core.rstrip(".")) or _WEAK_WORD.fullmatch(core):
            return match[0]
        if _PLACEHOLDER.search(core):
            return match[0]
        return f"{match[1]}{match[2]}{edge}{self._name('secret', core)}{end}"

    def _second(self, match: re.Match[str]) -> str:
        value = match[2].strip("\"'")
        if not value or _NO_SECRET.fullmatch(value) or _WEAK_WORD.fullmatch(value) or _PLACEHOLDER.search(value):
            return match[0]
        return match[1] + match[2].replace(value, self._name("secret", value), 1)

    def _whole(self, pattern: re.Pattern[str], kind: str, text: str) -> str:
        return pattern.sub(lambda match: self._name(kind, match[0]), text)

    def _last_group(self, kind: str) -> Callable[[re.Match[str]], str]:
        return lambda match: match[0].replace(match[1], self._name(kind, match[1]), 1)

    def _name(self, kind: str, secret: str) -> str:
        if (kind, secret) not in self._known:
            self._last[kind] = self._last.get(kind, 0) + 1
            self._known[kind, secret] = f"[{kind}-{self._last[kind]}]"
        return self._known[kind, secret]


def redact(text: str, *, addresses: bool = False) -> str:
    """One text by itself."""
    return Redactor(addresses=addresses).redact(text)


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return any(character.isdigit() for character in text)
