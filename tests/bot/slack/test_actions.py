"""Buttons carry ids that are checked when they come back."""

import pytest

from bot.slack import actions
from bot.slack.actions import BadButton, DraftClick, LinesClick, UsefulClick


def test_what_is_written_is_read_again() -> None:
    """Run, revision, evidence and voice survive the way through Slack."""
    for click in (DraftClick("r-7f3k2q", 3), LinesClick("r-7f3k2q", "E12"), UsefulClick("r-7f3k2q", "no")):
        assert type(click).read(str(click)) == click


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        7,
        {},
        "r-7f3k2q",
        "r-7f3k2q:",
        "r-7f3k2q:-1",
        "r-7f3k2q:3 ",
        "r-7f3k2q:3\n",
        "r-../../x:3",
        "r-7f3k2q:٣",
        "x:" + "9" * 99,
    ],
)
def test_made_up_values_are_refused(value: object) -> None:
    """A value that this program has not written ends in a message with a hint, never in a lookup."""
    for kind in (DraftClick, LinesClick, UsefulClick):
        with pytest.raises(BadButton) as refused:
            kind.read(value)
        assert refused.value.hint


def test_a_menu_carries_its_value_in_the_chosen_option() -> None:
    """Buttons and menus are read alike."""
    assert actions.value_of({"type": "button", "value": "r-1:2"}) == "r-1:2"
    assert actions.value_of({"type": "static_select", "selected_option": {"value": "r-1:E2"}}) == "r-1:E2"
    assert actions.value_of({"type": "static_select", "selected_option": None}) is None


def test_action_ids_differ() -> None:
    """No two buttons are mistaken for each other."""
    names = [
        value for name, value in vars(actions).items() if name.isupper() and isinstance(value, str) and name[0] != "_"
    ]

    assert len(names) == len(set(names))
