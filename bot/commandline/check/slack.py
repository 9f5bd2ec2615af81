"""What of Slack answers: tokens, scopes by name, approvers, the state, and on request a channel."""

from collections.abc import Callable, Iterator
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web import SlackResponse

from bot.app import DATABASE
from bot.commandline.check.finding import CheckResult, CheckState, missing, off, ok
from bot.settings import Settings
from bot.slack.connect import REQUEST_PATH, make_client, no_socket, who_am_i
from bot.slack.http_server import split_address
from bot.slack.manifest import scopes
from bot.slack.people import Approvers, read_approvers
from bot.state.state import open_state
from bot.text.wording import counted
from core.errors import FirstfaultError

_KINDS = "is no user id (U0123ABCD), e-mail address or user group (@sre-oncall)"
_SCOPES = "x-oauth-scopes"  # a header of every answer to a token


def slack_findings(settings: Settings, *, channel: str | None) -> Iterator[CheckResult]:
    """Line by line; what the bot token is needed for comes only when Slack takes it."""
    token = settings.slack_bot_token.get_secret_value()
    if not token:
        yield missing("bot token", "FIRSTFAULT_SLACK_BOT_TOKEN is not set (docs/how-to/slack.md, step 3).")
    client = make_client(token, settings.slack_api_url)
    taken = _bot_token(client) if token else None
    if taken:
        yield taken
    if settings.slack_transport == "http":
        yield _http(settings)
    else:
        yield _app_token(settings)
    if taken and taken.state == "OK":
        yield _scopes(client)
        yield _approvers(client, read_approvers(settings.approvers.split(",")), settings.approvers)
        if channel:
            yield _channel(client, channel)
    yield _state(settings)


def _bot_token(client: WebClient) -> CheckResult:
    name = "bot token"
    try:
        who_am_i(client)
        answer = client.auth_test()
    except FirstfaultError as trouble:
        return missing(name, trouble)
    except (SlackClientError, OSError) as error:
        return missing(name, f"Slack answered once, and then no more: {_reason(error)}. Try again.")
    return ok(name, f"@{answer.get('user')} in {answer.get('team')}")


def _app_token(settings: Settings) -> CheckResult:
    name, token = "app token", settings.slack_app_token.get_secret_value()
    if not token:
        wanted = "FIRSTFAULT_SLACK_APP_TOKEN is not set: Socket Mode needs it (docs/how-to/slack.md, step 3)."
        return missing(name, wanted)
    try:
        make_client(token, settings.slack_api_url).apps_connections_open(app_token=token)
    except (SlackClientError, OSError) as error:
        return missing(name, no_socket(token, settings.slack_api_url, error))
    return ok(name, "Socket Mode would connect")


def _http(settings: Settings) -> CheckResult:
    name = "signed HTTP"
    if not settings.slack_signing_secret.get_secret_value():
        return missing(name, "FIRSTFAULT_SLACK_SIGNING_SECRET is not set (docs/how-to/slack.md, Signed HTTP).")
    try:
        split_address(settings.listen, "FIRSTFAULT_LISTEN")
    except FirstfaultError as trouble:
        return missing(name, trouble)
    return ok(name, f"Slack's requests are to reach {settings.listen}{REQUEST_PATH}; that they do, only Slack knows")


def _scopes(client: WebClient) -> CheckResult:
    name = "scopes"
    try:
        headers = {key.lower(): value for key, value in client.auth_test().headers.items()}
    except (SlackClientError, OSError) as error:
        return missing(name, f"Slack does not tell them: {_reason(error)}. Try again.")
    granted = {scope.strip() for scope in str(headers.get(_SCOPES, "")).split(",")} - {""}
    wanted = scopes()
    if lacking := [scope for scope in wanted if scope not in granted]:
        hint = "Add them under OAuth & Permissions, and install the app again."
        return missing(name, f"The bot token lacks {', '.join(lacking)}. {hint}")
    return ok(name, f"all {len(wanted)} that the bot needs")


def _approvers(client: WebClient, approvers: Approvers, text: str) -> CheckResult:
    name, hint = "approvers", "Look at FIRSTFAULT_APPROVERS."
    if not text.strip():
        return off(name, "FIRSTFAULT_APPROVERS is empty: nobody may approve.")
    words = [word.strip() for word in text.split(",") if word.strip()]
    trouble = [*(f"{word}: {_KINDS}" for word in words if not read_approvers([word]))]
    looked = [_channel(client, channel) for channel in approvers.channels]
    trouble += [check_result.says for check_result in looked if check_result.state is CheckState.MISSING]
    for some in (approvers, *approvers.channels.values()):
        trouble += _unknown(some.users, lambda user: _person(client.users_info(user=user)))
        trouble += _unknown(some.emails, lambda email: _person(client.users_lookupByEmail(email=email)))
        trouble += _unknown(some.groups, lambda group: _members(client, group))
    if trouble:
        return missing(name, f"{'; '.join(trouble)}. {hint}")
    return ok(name, f"{counted(len(words), 'entry', 'entries')}, all known to Slack")


def _unknown(names: frozenset[str], ask: Callable[[str], str]) -> Iterator[str]:
    """What is wrong with each of these, if anything."""
    for name in sorted(names):
        try:
            sentence = ask(name)
        except (SlackClientError, OSError) as error:
            sentence = _reason(error)
        if sentence:
            yield f"{name}: {sentence}"


def _person(answer: SlackResponse) -> str:
    user: dict[str, Any] = answer.get("user") or {}
    return "is deactivated" if user.get("deleted") else "is a bot" if user.get("is_bot") else ""


def _members(client: WebClient, group: str) -> str:
    for entry in client.usergroups_list().get("usergroups") or ():
        if group in (entry.get("id"), entry.get("handle")):
            people = client.usergroups_users_list(usergroup=entry["id"]).get("users")
            return "" if people else "has no members"
    return "no such user group"


def _channel(client: WebClient, channel: str) -> CheckResult:
    name = "channel"
    try:
        client.conversations_history(channel=channel, limit=1)
    except (SlackClientError, OSError) as error:
        reason = _reason(error)
        failures = {
            "not_in_channel": f"The bot is not in {channel}. Write /invite @Firstfault there.",
            "channel_not_found": f"The bot sees no channel {channel}. It wants the id, like C0123ABCD.",
        }
        return missing(name, failures.get(reason, f"{channel} cannot be read: {reason}."))
    return ok(name, f"the bot is in {channel}")


def _state(settings: Settings) -> CheckResult:
    name = "state"
    try:
        state = open_state(settings.state / DATABASE)
        try:
            with state.together():  # takes the lock for writing, writes nothing
                pass
        finally:
            state.close()
    except FirstfaultError as trouble:
        return missing(name, trouble)
    return ok(name, f"{settings.state} can be written to")


def _reason(error: Exception) -> str:
    """What Slack calls it, or what kind of trouble it is."""
    return str(error.response.get("error")) if isinstance(error, SlackApiError) else type(error).__name__
