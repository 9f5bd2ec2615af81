"""Secrets and names of people out of a text, before anything leaves the process.

Every pattern is linear: a run of characters is measured once from its beginning, or at most a fixed number of
characters from anywhere. Equal secrets get equal placeholders (``[key-1]``), and a placeholder is never replaced.
"""

import re
import tomllib
from collections.abc import Callable
from functools import cache
from ipaddress import AddressValueError, IPv6Address
from pathlib import Path

from bot.outgoing.command_lines import COMMAND_LINES, NO_PLACEHOLDER, as_typed
from bot.outgoing.entropy import named_words, random_words

_PLACEHOLDER = re.compile(r"\[(key|secret|user|email|address)-([0-9]{1,6})\]")

# Vendors' keys, known by their first letters. The part behind them is long, or was cut off and ends in an ellipsis.
_VENDOR_KEYS = re.compile(
    r"hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|(?<![A-Za-z0-9])(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"
    r"|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{30,}|pypi-AgE[A-Za-z0-9_-]{20,}"
    r"|nvapi-[A-Za-z0-9_-]{20,}|gsk_[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{30,}"
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|dckr_pat_[A-Za-z0-9_-]{20,}|dop_v1_[a-f0-9]{40,}|wandb_v1_[A-Za-z0-9_]{20,}"
    r"|SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}|api_org_[A-Za-z0-9]{20,}|hvs\.[A-Za-z0-9_-]{20,}"
    r"|GOCSPX-[A-Za-z0-9_-]{20,}|dapi[a-f0-9]{32}|rpa_[A-Z0-9]{30,}|pcsk_[A-Za-z0-9_]{30,}|lsv2_[a-z]{2}_[a-f0-9_]{30,}"
    r"|(?<![A-Za-z0-9_./-])[sbr]\.(?=[A-Za-z]{0,23}[0-9])(?=[a-z0-9]{0,23}[A-Z])(?=[A-Z0-9]{0,23}[a-z])[A-Za-z0-9]{24}(?![A-Za-z0-9_.])"
    r"|AGE-SECRET-KEY-1[A-Z0-9]{40,}|gls?[ac]_[A-Za-z0-9+/_=]{30,}|hv[br]\.[A-Za-z0-9_-]{20,}|do[or]_v1_[a-f0-9]{40,}"
    r"|tskey-[a-z]{1,8}-[A-Za-z0-9-]{16,}|pul-[a-f0-9]{40}|lin_api_[A-Za-z0-9]{30,}|csk-[a-z0-9]{30,}|tvly-[A-Za-z0-9-]{20,}"
    r"|(?<![A-Za-z0-9_])(?:secret|fw|ntn|sgp)_(?=[A-Za-z_]{0,60}[0-9])(?=[a-z0-9_]{0,60}[A-Z])[A-Za-z0-9_]{24,}(?:\.[A-Za-z0-9]{20,})?+"
    r"|(?<![a-z])local-[a-f0-9]{40}(?![a-f0-9])|tgp_v1_[A-Za-z0-9_-]{30,}|ATATT3[A-Za-z0-9_=-]{30,}|[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}"
    # "sk-" ends many English words (disk-, task-): either nothing stands before it, or what follows is no word
    r"|(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}"
    r"|sk-(?=[A-Za-z_-]{0,60}[0-9])(?=[a-z0-9_-]{0,60}[A-Z])(?=[A-Z0-9_-]{0,60}[a-z])[A-Za-z0-9_-]{20,}"
    r"|(?:hf_|gh[pousr]_|glpat-|xox[abeoprs]-|(?<![A-Za-z0-9])sk-)[A-Za-z0-9_-]{2,128}+(?=\u2026)"
)
# Whoever knows the address of a webhook may post to it.
_WEBHOOK = re.compile(
    r"(?:(?<=hooks\.slack\.com/services/)|(?<=hooks\.slack\.com/workflows/)|(?<=hooks\.slack\.com/triggers/)"
    r"|(?<=/api/webhooks/)|(?<=/open-apis/bot/v2/hook/)|(?<=/open-apis/bot/hook/)|(?<=/cgi-bin/webhook/send\?key=)"
    r"|(?<=webhook\.office\.com/webhookb2/)|(?<=hooks\.zapier\.com/hooks/catch/))[A-Za-z0-9/_@-]{8,}"
    r"|(?<=/services/)T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{20,32}"  # of urllib3, which prints no host
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:.*?-----END [A-Z ]{0,40}PRIVATE KEY-----|.*\Z)", re.DOTALL
)
_KEY_BODY = re.compile(
    r"(?m)^\s{0,8}((?=[a-z0-9+/]{0,60}[A-Z])(?=[A-Z0-9+/]{0,60}[a-z])[A-Za-z0-9+/]{60,76}={0,2})\s{0,8}$"
)
# A run of token characters that is followed by a dot, and from its first "eyJ" on the whole of it.
_JWT = re.compile(r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]++\.[A-Za-z0-9_-])([A-Za-z0-9_-]*?)(eyJ[A-Za-z0-9_.-]++)")
# An object of JSON in base64 by itself, which is how Neptune and Grafana give out keys. Behind an option it holds
# settings: --world_info= of DeepSpeed, --config_list= of Ray.
_JSON_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_.=-])eyJ[A-Za-z0-9+/_-]{37,}={0,2}")
_IN_URL = re.compile(r"(?<=://)([^\s/:@\[\]\"']{0,128}):" + NO_PLACEHOLDER + r"([^\s/\"']{1,256})(?=@)")
_USER_IN_URL = re.compile(r"(?<=://)" + NO_PLACEHOLDER + r"([A-Za-z0-9_.~-]{16,256})(?=@)")
# Conda's channels carry the token in their path: https://HOST/t/TOKEN/CHANNEL.
_IN_PATH = re.compile(r"(?<=/t/)" + NO_PLACEHOLDER + r"(?=[A-Za-z-]{0,60}[0-9])([A-Za-z0-9-]{16,256})(?=/)")
_SIGNATURE = re.compile(
    r"(?i)((?<=[?&])(?:signature|credential|security-token|sig)|(?<![a-z0-9])x-(?:amz|goog)-(?:signature|credential|security-token))"
    r"=([^\s&\"'\[]{8,2048})"
)

_QUOTED_OR_WORD = (
    r"(\\?\"(?:[^\"\\]|\\[^\"]){1,256}+\\?\"|'(?:[^'\\]|\\.){1,256}+'"
    r"|(?:[^\s\"'`,;&<>()\[\]{}\\]|\\(?!n))[^\s\"'`,;&<>()\]}]*+)"
)
_SEPARATOR = (  # u'...' and b'...' are Python's, of Python 2 and of bytes
    r"((?:\\?[\"'\]]){0,2}\s{0,3}(?:=>|:=|[=:\uff1d\uff1a]|%3[AaDd])\s{0,3}(?:[bu](?=\\?[\"']))?)"
)
_SURE_NAME = (
    r"(?:pass(?:word|wort|wd|phrase)|(?<![a-z])psk|kennwort|mot de passe|contrase\u00f1a"
    r"|(?<![a-z])(?:senha|has\u0142o|wachtwoord|l\u00f6senord|\u015fifre|heslo)(?![a-z])"
    r"|\u043f\u0430\u0440\u043e\u043b\u044c|\u5bc6\u7801|\u5bc6\u78bc|\u53e3\u4ee4|\u30d1\u30b9\u30ef\u30fc\u30c9|\ube44\ubc00\ubc88\ud638|\uc554\ud638|(?<=[a-z0-9])(?:_pwd|\.pwd(?=\s{0,3}[=:]\s{0,3}(?![/~.]|[A-Z]:)))"
    r"|(?<![a-z])(?:(?:accounting)?storage|admin|ansible|app|auth|become|bmc|db|docker|ftp|git|http|https|imap|ipmi|jobcomp|ldap|login"
    r"|mail|mongo|my|mysql|nas|pg|postgres|proxy|rabbitmq|redis|registry|root|smtp|ssh|sudo|svc|user|vault|vpn)[_-]?pass(?![a-z_-])|shared[_-]?access[_-]?key"
    r"|client[_-]?secret|secret(?:[_.-]?access)?(?:[_.-]?key)?|private[_-]?key"
    r"|(?:api|access|account|auth|encryption|signing|master)[_-]?key(?:[_-]?id)?|credentials?"
    r"|(?:access|auth|api|refresh|session|bot|app|csrf|hf|hub|hugging_?face|git|github|gitlab|slack|wandb|vault|bearer|secret"
    r"|private|deploy|runner|registration|personal)"
    r"[_-]?token|(?<![a-z])authtok)"
)
# The value is no name itself: "chap secret: node.session.auth.password = x", or of a Secret of
# Kubernetes: secret "x" not found
_NO_NAME = rf"(?!(?:[\w.-]{{0,64}}?{_SURE_NAME}|pass|pw)\s{{0,3}}=|secret\s\\?\")"
_ASSIGNED = re.compile(rf"(?i)({_SURE_NAME}){_SEPARATOR}{_NO_NAME}{NO_PLACEHOLDER}{_QUOTED_OR_WORD}")
# In XML, as Hadoop keeps its settings; and in a sentence, where a word without a digit says something of the password.
_ELEMENT = re.compile(
    rf"(?i)(<(?:[\w.-]{{0,64}}?{_SURE_NAME}|name>[\w.-]{{0,96}}?{_SURE_NAME}</name>\s{{0,80}}<value)>)"
    rf"{NO_PLACEHOLDER}([^<>\n]{{1,256}})(?=</)"
)
_SENTENCE = re.compile(
    rf"(?i)(\bpass(?:word|phrase|wd)\s{{1,3}}(?:(?:for|of)\s{{1,3}}[\w.@/-]{{1,64}}\s{{1,3}})?is:?\s{{1,3}}|(?:\u5bc6\u7801|\u5bc6\u78bc|\u53e3\u4ee4)[\u662f\u4e3a\u70ba]\s{{0,3}}|\u30d1\u30b9\u30ef\u30fc\u30c9\u306f\s{{0,3}}"
    rf"|\b(?:password|passwd|passphrase)\s{{1,3}}(?:sent:\s{{1,3}}|(?=[\"'])|for\s{{1,3}}[^\n:]{{1,64}}(?:://[^\n:]{{1,128}})?:\s{{1,3}})"
    rf"|\b(?:user(?:name)?|login)\s{{1,3}}[\w.@-]{{1,64}}\s{{1,3}}(?:and\s{{1,3}}|with\s{{1,3}})?pass(?:word)?\s{{1,3}}"
    rf"|(?<![\w.$/-])pwd\s{{0,3}}[:=]\s{{0,3}}(?![/~.]|[A-Z]:))(?=[^\s0-9]{{0,40}}[0-9]|[^\s]{{0,40}}?(?-i:[a-z][A-Z]))"
    rf"{NO_PLACEHOLDER}(\"[^\"\n]{{6,256}}\"|'[^'\n]{{6,256}}'|[^\s,;\"']{{6,256}})"
)
# A list of variables, as Kubernetes and its clients print them; a session that a web server knows its user by.
_LISTED = re.compile(
    rf"(\bname[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"']?(?!(?:EOS|BOS|PAD|UNK|SEP|CLS|MASK)_)[A-Z][A-Z0-9_]{{1,60}}_(?:KEY|TOKEN|PASS(?:WORD|WD)?|PWD|SECRET)[\"']?,?\s{{1,40}}"
    rf"[\"']?value[\"']?\s{{0,3}}[:=]\s{{0,3}}|\b(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|connect\.sid)=)"
    rf"{NO_PLACEHOLDER}(\"[^\"\n]{{1,256}}\"|'[^'\n]{{1,256}}'|[^\s\"'`,;&<>()\[\]{{}}]{{4,256}})"
)
# A variable that a shell or an image is given without "=", and a pair in brackets: putenv("X_KEY", "...").
_GIVEN = re.compile(
    rf"((?:\b(?:setenv|ENV|ARG)\s{{1,3}}[A-Z][A-Z0-9_]{{0,60}}(?:KEY|TOKEN|PASS(?:WORD|WD)?|PWD|SECRET)\s{{1,3}}"
    rf"|\(\s?[\"'][\w.-]{{0,64}}?(?i:{_SURE_NAME}|_token)[\"'],\s{{0,3}}(?=[\"'][^\"'\n]{{4,256}}[\"']\s?\))))"
    rf"{NO_PLACEHOLDER}(\"[^\"\n]{{1,256}}\"|'[^'\n]{{1,256}}'|[^\s\"'`,;&<>()\[\]{{}}]{{4,256}})"
)
# Somebody at a machine, as scp and rsync are told; a tag of an image stands before a digest.
_AT_MACHINE = re.compile(
    rf"((?<![\w/.:@-])[a-z_][a-z0-9_-]{{0,31}}:){NO_PLACEHOLDER}(?=[a-z0-9]{{0,40}}[A-Z])(?=[A-Z0-9]{{0,40}}[a-z])"
    r"([A-Za-z0-9!#$%^*+=_-]{8,64})(?=@(?!sha|md5)[\w.-]{2})"
)
# What expect types, which prints it: send "...\r".
_SENT = re.compile(
    rf"(\bsend\s{{1,3}}(?:--\s{{1,3}})?\"){NO_PLACEHOLDER}(?=[^\s0-9]{{0,40}}[0-9])([^\s\"\\]{{6,256}})(?=\\[rn]\")"
)
# A setting of Spark or Hadoop, which print them with blanks between name and value.
_SETTING = re.compile(
    rf"(\bfs\.[\w.-]{{1,160}}?\b(?:key|secret|password|token)\b[\w.-]{{0,120}}\s{{1,8}}){NO_PLACEHOLDER}"
    rf"(?=[A-Za-z+/]{{0,60}}[0-9])([A-Za-z0-9+/]{{16,256}}={{0,2}})"
)
_OPTION = re.compile(
    rf"(?i)(--(?:[a-z0-9]{{1,20}}[_-]){{0,3}}(?:{_SURE_NAME}|token(?=\s{{1,6}}\S{{8}})))(\s{{1,6}}){NO_PLACEHOLDER}(?!-){_QUOTED_OR_WORD}"
)
# A "token" is a word of text far more often than a secret: only a value that looks like a key counts.
_TOKEN = re.compile(
    r"(?i)(?<!eos_)(?<!bos_)(?<!pad_)(?<!unk_)(?<!sep_)(?<!cls_)(?<!mask_)(token)"
    rf"{_SEPARATOR}{NO_PLACEHOLDER}(?=[\"'\\]{{0,2}}[A-Za-z_:.-]{{0,60}}[0-9])(?=[\"'\\]{{0,2}}[0-9_:.-]{{0,60}}[A-Za-z])"
    r"(?=[\"'\\]{0,2}[^\s\"'`,;&]{8})"
    rf"{_QUOTED_OR_WORD}"
)
_AUTHORIZATION = re.compile(
    rf"(?i)(authorization){_SEPARATOR}([\"']?+(?:(?:bearer|basic|token|digest|negotiate|(?:api|genie|shared)-?key(?:lite)?|oauth|jwt|hmac|key|splunk)\s{{1,3}}+)?+)"
    rf"{NO_PLACEHOLDER}([^\s\"'`,;\[\]]{{4,4096}})"
)
_BEARER = re.compile(
    r"(?i)\b(bearer\s{1,3})(?=[A-Za-z._~+/=-]{0,60}[0-9]|[A-Za-z._~+/=-]{24})([A-Za-z0-9._~+/=-]{8,4096})"
)
_HEX_KEY = re.compile(
    r"(?i)((?:wandb(?:\.login\(|[_ -]{0,6}(?:api[_ -]?key|login|key))|api[_ -]?key|\.netrc|machine api\.wandb\.ai)"
    r"[^\n\[]{0,40}?)(?<![0-9a-f])([0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})(?![0-9a-f])"
)
# A variable in capitals that is called a key. EOS_TOKEN is a word of a tokenizer, FORWARD_PASS=0.12 a time.
_ENVIRONMENT = re.compile(
    r"((?<![A-Za-z0-9_])(?:SSHPASS|(?!(?:EOS|BOS|PAD|UNK|SEP|CLS|MASK)_)[A-Z][A-Z0-9_]{1,60}_(?:KEY(?:_BASE)?|AUTH|TOKEN|PASS|PWD|SECRET|CREDS))"
    rf"(?:\s?(?:=|->)\s?|\s(?:is|was)\sset\sto\s(?=\S{{0,60}}[0-9]))){NO_PLACEHOLDER}(?![0-9.]{{1,20}}(?:\s|$))(\"[^\"\n]{{1,256}}\"|'[^'\n]{{1,256}}'|[^\s\"'`,;&<>()\[\]{{}}/]{{4,256}}+(?!/))"
)
# Hashes of passwords as crypt(3) makes them: whoever has one may look for the password at home.
_CRYPT = re.compile(r"\$(?:1|5|6|y|2[aby])\$[./A-Za-z0-9$=,]{20,256}")
# What HTTP, Docker, npm and netrc keep where no name says "secret".
_COOKIE = re.compile(
    rf"(?i)(?:\b|(?<=\\n))((?:set-)?cookie2?[\"']?\s{{0,3}}[:,]\s{{0,3}}[\"']?|--cookie[ =][\"']?)(?=[\w.-]{{1,64}}=)"
    rf"{NO_PLACEHOLDER}([^\r\n\"']{{3,4096}})"
)
_DOCKER_AUTH = re.compile(
    rf"(\\?\"(?:auth|identitytoken|registrytoken)\\?\"\s{{0,3}}:\s{{0,3}}\\?\"){NO_PLACEHOLDER}([A-Za-z0-9+/=_.-]{{6,4096}})"
)
_NPM_AUTH = re.compile(rf"(:?_auth(?:Token)?\s{{0,3}}=\s{{0,3}}){NO_PLACEHOLDER}([A-Za-z0-9+/=_.-]{{6,512}})")
_NETRC = re.compile(rf"(\blogin\s{{1,3}}\S{{1,128}}\s{{1,8}}password\s{{1,3}}){NO_PLACEHOLDER}(\S{{1,256}})")
# What a program is told with a user's name: AUTH PLAIN of SMTP and IMAP, addauth of ZooKeeper, a pair in Python.
_WITH_USER = re.compile(
    r"(\bAUTH(?:ENTICATE)?\s{1,3}(?:PLAIN|LOGIN|XOAUTH2)\s{1,3}(?=[A-Za-z0-9+/]{8})|\b(?:add)?auth\s{1,3}digest\s{1,3}[\"']?[\w.-]{1,64}:"
    r"|\b(?:login|\w{0,20}[Aa]uth)\s{0,3}=?\s{0,3}\(\s{0,3}(?:\"[^\"\n]{0,128}\"|'[^'\n]{0,128}'),\s{0,3}(?=[\"'])"
    r"|\b[Uu]ser(?:name)?\s{0,2}=\s{0,2}[^\s,;&=]{1,64}[\s,;&]{1,3}(?:key|pass|pwd|pw)\s{0,2}=\s{0,2}"
    r"|\b[Uu]ser(?:name)?[\"']?:\s{1,3}[^\s,;&]{1,64},\s{1,3}[\"']?(?:pass|pwd|pw)[\"']?:\s{1,3}|(?<![a-z])(?:bind|root|admin|ldap)_?pw\s{0,3}[=:]?\s{1,3}|(?<![a-z])(?:bind|root|admin|ldap)_?pw="
    r"|(?<![\w.$-])(?:pw\s{0,2}[=:]|pass\s{0,2}=)\s{0,2}(?=[\"']?[a-z]{0,40}[A-Z0-9])(?=[\"']?[A-Z0-9]{0,40}[a-z])(?=[\"']?[^\s,;&\"'<>()]{8}))"
    rf"{NO_PLACEHOLDER}(\"[^\"\n]{{1,256}}\"|'[^'\n]{{1,256}}'|[^\s\"'`,;&<>()\[\]{{}}]{{4,4096}})"
)
# Names that stand before a topic, a table or a file as well: there only what no person would write counts.
_MACHINE_MADE = re.compile(
    r"(?i)((?<![a-z])(?:(?:routing|integration|licen[cs]e|subscription|ingest(?:ion)?|events?|fernet|app(?:lication)?|service)[_-]?key"
    rf"|secret[_-]?id){_SEPARATOR}[\"']?){NO_PLACEHOLDER}([0-9a-f]{{8}}(?:-?[0-9a-f]{{4}}){{3}}-?[0-9a-f]{{12,44}})(?![0-9a-z])"
)
_HASH = re.compile(r"(?i)commit|sha|hash|rev|md5|checksum|digest")
_EMAIL = re.compile(
    r"[A-Za-z0-9._%+-]{1,64}@(?![0-9]{1,8}\.(?:service|slice|socket|scope|timer|mount)\b)"
    r"(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}"
)
_HOME = re.compile(
    r"((?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2}))" + NO_PLACEHOLDER + r"([^\s/\\:;,\"'`<>()\[\]\u2026]{1,64})"
)
_MAC = re.compile(r"(?i)(?<![0-9a-f:.-])[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}(?![0-9a-f:-])")
_IPV4 = re.compile(
    r"(?<![0-9.])(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(?![0-9]|\.[0-9])"
)
_IPV6 = re.compile(r"(?<![\w:.])(?=[0-9a-fA-F]{0,4}:)[0-9a-fA-F:]{2,45}+(?![\w])")

_SELDOM = (_ELEMENT, _SENTENCE, _LISTED, _GIVEN, _AT_MACHINE, _SENT, _SETTING, _WITH_USER, _MACHINE_MADE)

_NO_SECRET = re.compile(
    r"(?i)none|null|nil|true|false|yes|no|n/a|unset|empty|redacted|required|missing|invalid|\*+|\.+|\u2026"
    r"|files|compat|sss|on|off|is|was|for|not|and|the|to|an?|in"
)
# An option behind a name without a value, and a call: authkey=process.current_process().authkey
_OPTION_WORD, _CALLED = re.compile(r"--?[A-Za-z]"), re.compile(r"[A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){1,8}")
# Where containers find their secrets (docs.docker.com, Kubernetes' service accounts): a place, and no secret.
_MOUNTED = re.compile(r"/(?:var/)?run/secrets/[\w./-]{1,200}")
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
        text = self._whole(_JSON_BASE64, "key", text)
        text = _IN_URL.sub(lambda m: f"{m[1]}:{m[2] if set(m[2]) == {'*'} else self._name('secret', m[2])}", text)
        text = _USER_IN_URL.sub(self._last_group("secret"), text)
        text = _IN_PATH.sub(self._last_group("secret"), text)
        text = self._whole(_WEBHOOK, "key", text)
        text = self._whole(_VENDOR_KEYS, "key", text)
        text = self._whole(vendor_keys(), "key", text)
        text = self._whole(_CRYPT, "secret", text)
        return _SIGNATURE.sub(lambda m: f"{m[1]}={self._name('key', m[2])}", text)

    def _assigned(self, text: str) -> str:
        text = _as_typed_sub(_HEX_KEY, lambda m: m[0] if _HASH.search(m[1]) else m[1] + self._name("key", m[2]), text)
        text = _AUTHORIZATION.sub(lambda m: m[1] + m[2] + m[3] + self._name("key", m[4]), text)
        text = _BEARER.sub(lambda m: m[1] + self._name("key", m[2]), text)
        text = _COOKIE.sub(self._second, text)
        for pattern in COMMAND_LINES:
            text = _as_typed_sub(pattern, self._second, text)
        for pattern in (_ENVIRONMENT, _DOCKER_AUTH, _NPM_AUTH, _NETRC, *_SELDOM):
            text = pattern.sub(self._second, text)
        text = _ASSIGNED.sub(self._value, text)
        text = _as_typed_sub(_OPTION, self._value, text)
        text = _TOKEN.sub(self._value, text)
        for word in dict.fromkeys([*random_words(text), *named_words(text)]):
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
        if not core or any(form.fullmatch(core.rstrip(".")) for form in (_NO_SECRET, _WEAK_WORD, _MOUNTED)):
            return match[0]
        if _PLACEHOLDER.search(core) or (match[2].endswith(" ") and _OPTION_WORD.match(value)):
            return match[0]
        if match.string.startswith("(", match.end()) and _CALLED.fullmatch(core):
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


def _as_typed_sub(pattern: re.Pattern[str], replaced: Callable[[re.Match[str]], str], text: str) -> str:
    """``pattern.sub``, and once more with words of printed lists as on a command line; all but the last group stays."""
    text = pattern.sub(replaced, text)
    typed = as_typed(text)
    if typed == text:
        return text
    parts, at = [], 0
    for match in pattern.finditer(typed):
        told = replaced(match)
        if told != match[0]:
            begin = match.start(pattern.groups)
            parts += [text[at:begin], told[begin - match.start() :]]
            at = match.end()
    return "".join([*parts, text[at:]])


def redact(text: str, *, addresses: bool = False) -> str:
    """A text without secrets, whose placeholders count from 1."""
    return Redactor(addresses=addresses).redact(text)


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return any(character.isdigit() for character in text)


RULES = Path(__file__).with_name("vendors.toml")


@cache
def vendor_keys() -> re.Pattern[str]:
    """All rules as one pattern."""
    rules = tomllib.loads(RULES.read_text(encoding="utf-8"))["rule"]
    return re.compile("|".join(f"(?i:{rule['regex']})" if rule["any_case"] else rule["regex"] for rule in rules))
