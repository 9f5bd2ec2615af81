"""The Web API as far as the bot calls it (``bot.slack.manifest``), a module for each family of methods."""

from slacksim.methods import chat, conversations, files, people, rest, views
from slacksim.methods.method import Method

METHODS: dict[str, Method] = {
    **rest.METHODS,
    **chat.METHODS,
    **conversations.METHODS,
    **people.METHODS,
    **views.METHODS,
    **files.METHODS,
}
