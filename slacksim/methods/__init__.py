"""The Web API, a module for each family of methods."""

from slacksim.methods import chat, conversations, files, people, rest, streams, views
from slacksim.methods.method import Method

METHODS: dict[str, Method] = {
    **rest.METHODS,
    **chat.METHODS,
    **streams.METHODS,
    **conversations.METHODS,
    **people.METHODS,
    **views.METHODS,
    **files.METHODS,
}
