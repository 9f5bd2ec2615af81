"""The generated parts of docs/: what the program says of itself. ``pytest --update-golden`` writes them anew.

A page holds ``<!-- generated: settings -->``, the part, and ``<!-- end -->``; all else is written by hand.
"""

import re
from collections.abc import Callable, Mapping

from tests.docs import of_lines, of_program, of_rules

PARTS: Mapping[str, Callable[[], str]] = {
    "bar": of_lines.bar,
    "blocks": of_lines.blocks,
    "clocks": of_lines.clocks,
    "dialects": of_rules.dialects,
    "error-table": of_program.error_table,
    "error-tree": of_program.error_tree,
    "facts": of_rules.facts,
    "frames": of_rules.frames,
    "help": of_program.command_help,
    "layouts": of_lines.layouts,
    "layouts-alone": of_lines.layouts_alone,
    "masks": of_lines.masks,
    "metrics": of_program.metrics,
    "packages": of_program.packages,
    "patterns": of_rules.patterns,
    "prefixes": of_lines.prefixes,
    "processes": of_rules.processes,
    "rooms-bot": of_program.rooms_of_bot,
    "rooms-core": of_program.rooms_of_core,
    "series": of_rules.series,
    "settings": of_program.settings,
    "stages": of_rules.stages,
}
GENERATED = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def render(page: str) -> str:
    """The page with every generated part made anew."""
    return GENERATED.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n{part[3]}", page)
