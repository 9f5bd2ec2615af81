"""Secrets that programs are told on their command lines, as their documents write them; a shell with -x prints them.

Each pattern has two groups: what stands before the secret, and the secret, which is a word or stands in quotes. Up to
six blanks stand between two words, as many as ``as_typed`` leaves.
"""

import re

NO_PLACEHOLDER = r"(?!\[(?:key|secret|user|email|address)-[0-9])"
_VALUE = r"(\"[^\"\n]{1,256}\"|'[^'\n]{1,256}'|[^\s\"';|&<>]{1,256})"
_WORDS = r"(?:\s{1,6}[^\s;|&]{1,200}){0,12}?\s{1,6}"

# Between two words of a list, in Python or JSON and in JSON within a string of JSON: ['mysql', '-pSECRET'].
_BETWEEN_WORDS = re.compile(r"(?<=[^\s\[(,])\\?[\"'],\s?\\?[\"'](?=[^\s,])")

_SHORT_OPTION = re.compile(
    r"(\b(?:sshpass|mycli|mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump)\b(?:\s{1,6}(?!-p)[^\s;|&]{1,80}){0,12}?\s{1,6}-p"
    r"|\b(?:sshpass|mycli)\b(?:\s{1,6}(?!-p)[^\s;|&]{1,80}){0,4}?\s{1,6}-p\s{1,6}"
    r"|\b(?:docker|podman|nerdctl|helm|az|oras|skopeo|crane)\b(?:\s{1,6}[a-z]{1,20}){0,2}\s{1,6}login\b(?:\s{1,6}(?!-p\b)[^\s;|&]{1,80}){0,12}?\s{1,6}-p\s{1,6}"
    r"|\bredis-cli\b(?:\s{1,6}(?!-a\b)[^\s;|&]{1,80}){0,12}?\s{1,6}-a\s{1,6}"
    rf"|\bcurl\b(?:\s{{1,6}}[^\s;|&]{{1,200}}){{0,12}}?\s{{1,6}}(?:-u|-U|--user|--proxy-user)\s{{1,6}}[\"']?[^\s:\"'\[]{{1,64}}:){NO_PLACEHOLDER}"
    + _VALUE
)
_OF_COMMANDS = re.compile(
    rf"(\b(?:(?:ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami)\b{_WORDS}-w\s{{1,6}}|7z[ar]?\b{_WORDS}-p"
    rf"|(?:zip|unzip|sqlcmd|bcp)\b{_WORDS}-P\s{{1,6}}|(?:useradd|usermod)\b{_WORDS}-p\s{{1,6}}|ssh-keygen\b{_WORDS}-N\s{{1,6}}"
    rf"|smbclient\b{_WORDS}-U\s{{1,6}}[^\s%]{{1,64}}%|etcdctl\b{_WORDS}--user[ =][^\s:]{{1,64}}:"
    rf"|lftp\b{_WORDS}(?:-u|--user)\s{{1,6}}[^\s,]{{1,64}},|(?:mongo|mongosh|mongodump|mongorestore)\b{_WORDS}-p\s{{1,6}}"
    rf"|redis-cli\b{_WORDS}--pass\s{{1,6}}|influx\b{_WORDS}-password\s{{1,6}}"
    r"|rabbitmqctl\s{1,6}(?:add_user|change_password)\s{1,6}\S{1,64}\s{1,6}"
    r"|htpasswd\s{1,6}-[A-Za-z]{0,8}b[A-Za-z]{0,8}\s{1,6}\S{1,128}\s{1,6}\S{1,64}\s{1,6}"
    r"|(?:aws_)?(?:secret_access_key|session_token)\s{1,6}(?=\S{0,64}[0-9]))|-pass(?:in|out)?\s{1,6}pass:"
    r"|;\s{0,2}(?:Pwd|PWD|pwd)\s{0,2}=\s{0,2}|\b[\w.*-]{1,64}:5432:[\w*-]{1,64}:[\w-]{1,64}:"
    rf"|\"username\"\s{{0,3}}:\s{{0,3}}\"[^\"\n]{{1,64}}\",\s{{0,3}}\"key\"\s{{0,3}}:\s{{0,3}}){NO_PLACEHOLDER}"
    + _VALUE
)
# Controllers of machines, which power a node that failed off and on; clients of stores and trackers of experiments.
_OF_MACHINES = re.compile(
    rf"(\b(?:ipmitool\b{_WORDS}-P(?:\s{{1,6}}|(?=[\"']))"
    rf"|(?:racadm|redfishtool|ipmipower|ipmi-(?:chassis|power|sel|sensors)|bmc-(?:device|info)|fence_[a-z0-9]{{2,16}})\b{_WORDS}-p\s{{1,6}}"
    rf"|(?:swanlab|wandb)\s{{1,6}}login\b{_WORDS}(?:-k|--key)\s{{1,6}}|ossutil(?:64)?\b{_WORDS}-k\s{{1,6}}"
    rf"|obsutil\s{{1,6}}config\b{_WORDS}-k=|mc\s{{1,6}}alias\s{{1,6}}set\s{{1,6}}\S{{1,64}}\s{{1,6}}\S{{1,128}}\s{{1,6}}\S{{1,128}}\s{{1,6}}|openssl\s{{1,6}}(?:enc|aes\S{{1,16}}|des\S{{0,8}})\b{_WORDS}-[kK]\s{{1,6}}"
    rf"|[a-z][a-z0-9-]{{1,31}}\s{{1,6}}login\b{_WORDS}-t\s{{1,6}}(?=[A-Za-z0-9_-]{{16}})"
    r"|vault\s{1,6}login\s{1,6}(?:-[\w=-]{1,40}\s{1,6}){0,4}(?:token=)?(?=[A-Za-z.-]{0,40}[0-9])"
    rf"|kubectl\b{_WORDS}--from-literal[= ][\"']?[\w.-]{{1,128}}="
    r"|(?:dvc|rclone|poetry|pip|npm|yarn|conda|git)\s{1,6}(?:config|remote)\b(?:\s{1,6}[^\s;|&]{1,200}){0,8}?"
    r"\s{1,6}(?:[\w.:/-]{1,64}[._:/-])?(?:password|pass|secret_access_key|sas_token|connection_string|account_key)\s{1,6}"
    rf"))(?!-){NO_PLACEHOLDER}" + _VALUE
)
# Switches are asked with a community, or with a password each for who asks and for what is said.
_OF_SWITCHES = re.compile(
    rf"(\bsnmp(?:bulk)?(?:get(?:next)?|walk|set|table|status|trap|delta)\b{_WORDS}-[cAX]\s{{1,6}}){NO_PLACEHOLDER}"
    + _VALUE
)
# What is written into a program that asks for a password.
_PIPED = re.compile(
    rf"(\b(?:echo|printf)\s{{1,6}}(?:-[neE]{{1,3}}\s{{1,6}})?(?:[\"']?%s(?:\\n)?[\"']?\s{{1,6}})?(?:[\"']?[a-z_][\w-]{{0,31}}:(?=[^\s|]{{1,128}}\s{{0,3}}\|\s{{0,3}}(?:sudo\s{{1,6}})?chpasswd))?)"
    rf"{NO_PLACEHOLDER}(\"[^\"\n]{{1,256}}\"|'[^'\n]{{1,256}}'|[^\s\"'|]{{1,256}})[\"']?"
    r"(?=\s{0,3}\|\s{0,3}(?:(?:sudo\s{1,6})?(?:chpasswd|kinit|cryptsetup)\b|sudo\s{1,6}(?:-[A-Za-z]{1,4}\s{1,6}){0,3}(?:-[A-Za-z]{0,4}S|--stdin)"
    r"|[^|\n]{1,200}?--(?:password-stdin|passphrase-fd|with-token|stdin)\b))"
)
# A file that a shell makes of a password: --password-file=<(echo SECRET).
_MADE_FILE = re.compile(
    rf"(pass(?:word|wd|phrase)?-?file[= ]<\((?:echo|printf)\s{{1,6}}(?:-[neE]{{1,3}}\s{{1,6}})?)"
    rf"{NO_PLACEHOLDER}(\"[^\"\n]{{1,256}}\"|'[^'\n]{{1,256}}'|[^\s\"')]{{1,256}})"
)
# Of databases, which print the statement that failed, and of Redis' MONITOR.
_STATEMENTS = re.compile(
    r"((?i:\bidentified\s{1,6}(?:with\s{1,6}\S{1,40}\s{1,6})?by\s{1,6}|\bpassword\s{1,6}(?='|\"[^\"\n]{1,64}\"(?:;|$)))"
    rf"|\"(?:AUTH|auth)\"\s{{1,6}}(?:\"[^\"\n]{{1,64}}\"\s{{1,6}}(?=\"))?){NO_PLACEHOLDER}('[^'\n]{{1,256}}'|\"[^\"\n]{{1,256}}\")"
)

# What a shell writes into a program, and what clients of FTP print of what they send.
_TYPED = re.compile(
    r"(\b(?:kinit|sudo|docker|podman|chpasswd|cryptsetup|ipmitool)\b[^\n|;<]{0,200}<<<\s{0,3}"
    rf"|(?:(?i:\bftp> ?)|---> ?|(?:^|\n)> )PASS ){NO_PLACEHOLDER}" + _VALUE
)

COMMAND_LINES = (
    _SHORT_OPTION, _OF_COMMANDS, _OF_MACHINES, _OF_SWITCHES, _OF_SWITCHES, _PIPED, _MADE_FILE, _TYPED, _STATEMENTS,
)  # fmt: skip


def as_typed(text: str) -> str:
    """A text of the same length in which the words of a printed list stand as on a command line, between blanks."""
    return _BETWEEN_WORDS.sub(lambda between: " " * len(between[0]), text)
