"""What the bot listens to: each listener acknowledges at once, checks, hands over and returns."""

from slack_bolt import App

from bot.slack import actions as act
from bot.slack.asking import Asks, Messages
from bot.slack.clicks import Clicks
from bot.slack.parts import Parts


def register(app: App, parts: Parts) -> None:
    """Let the app listen."""
    asking, thread, clicks = Asks(parts), Messages(parts), Clicks(parts)
    app.command(act.COMMAND)(asking.command)
    app.shortcut(act.DIAGNOSE_MESSAGE)(asking.shortcut)
    app.event("app_mention")(asking.mention)
    app.event("message", middleware=[thread.remember])(thread.message)
    for action, listener in (
        (act.CANCEL, clicks.cancel),
        (act.AGAIN, clicks.again),
        (act.DIAGNOSE, clicks.diagnose),
        (act.APPROVE, clicks.approve),
        (act.APPROVE_NEW, clicks.approve_new),
        (act.JOIN, clicks.join),
        (act.UNDO, clicks.undo),
        (act.EDIT, clicks.edit),
        (act.REJECT, clicks.reject),
        (act.LINES, clicks.lines),
        (act.MORE_LINES, clicks.lines),
        (act.USEFUL, clicks.useful),
    ):
        app.action(action)(listener)
    app.view(act.EDIT_FORM)(clicks.edited)
    app.view(act.REJECT_FORM)(clicks.rejected)
