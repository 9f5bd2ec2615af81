"""What all our pages share: a template beside its program, our styles, and a name of the script that may run."""

import hashlib
from base64 import b64encode
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from bot.text.harmless import harmless


@cache  # to compile it takes a fifth of a page's time
def template_of(folder: Path) -> Template:
    """The template of a folder: all that it shows is escaped, and a value that is missing is an error."""
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["clean"] = harmless
    return environment.get_template("page.html.j2")


def own_file(path: Path) -> Markup:
    """A file of ours that is put into a page as it is: styles, a script."""
    return Markup(path.read_text(encoding="utf-8"))  # noqa: S704 our own file


def script_hash(script: str) -> str:
    """The name by which the policy of a page lets this script run, and no other one."""
    return b64encode(hashlib.sha256(script.encode()).digest()).decode()


STYLES = Path(__file__).with_name("page.css")
