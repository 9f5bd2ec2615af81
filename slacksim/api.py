"""The Web API over HTTP: arguments, token, scope, rate limit and fault of a call, then its method, then the journal."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from slacksim.errors import Refused
from slacksim.faults import Fault, Faults
from slacksim.journal import Call, Journal
from slacksim.limits import Buckets
from slacksim.methods import METHODS
from slacksim.methods.method import Method
from slacksim.respond import show_answer
from slacksim.team import Team
from slacksim.values import Json

_JSON_IN_FORMS = ("blocks", "attachments", "metadata", "view", "chunks", "files", "prompts", "loading_messages")
_UNANSWERED = 0  # the status of a call whose answer never went out

Answer = Callable[[], web.Response]


class Api:
    """All methods, and the response URLs."""

    def __init__(self, team: Team, journal: Journal, faults: Faults, buckets: Buckets) -> None:
        self._team = team
        self._journal = journal
        self._faults = faults
        self._buckets = buckets

    async def method(self, request: web.Request) -> web.Response:
        """A call of a method."""
        name = request.match_info["method"]
        try:
            args, token = await _arguments(request)
        except Refused as error:
            refused = error
            return await self._journaled(request, name, {}, lambda: self._json(refused.answer()))
        return await self._journaled(request, name, args, lambda: self._called(name, args, token))

    async def response_url(self, request: web.Request) -> web.Response:
        """A use of a response URL."""
        key = request.match_info["key"]
        try:
            args, _ = await _arguments(request)
        except Refused:
            args = {}
        return await self._journaled(request, "response_url", args, lambda: self._responded(key, args))

    async def upload(self, request: web.Request) -> web.Response:
        """The bytes of a file, bare or as a form."""
        file = self._team.state.files.get(request.match_info["file"])
        if file is None:
            return web.Response(status=404, text="file_not_found")
        data = await _body(request)

        def store() -> web.Response:
            self._team.state.files[file.id] = type(file)(**{**vars(file), "data": data})
            return web.Response(text=f"OK - {len(data)}")

        return await self._journaled(request, "upload", {"file": file.id, "length": len(data)}, store)

    async def private_file(self, request: web.Request) -> web.Response:
        """A file for the app itself: ``url_private`` needs the bot's token."""
        file = self._team.state.files.get(request.match_info["file"])
        if request.headers.get("Authorization") != f"Bearer {self._team.app.bot_token}":
            return web.Response(status=403, text="not_authed")
        if file is None or file.data is None:
            return web.Response(status=404, text="file_not_found")
        return web.Response(body=file.data, content_type="application/octet-stream")

    def _called(self, name: str, args: Json, token: str) -> web.Response:
        try:
            method = self._allowed(name, token)
            seconds = self._buckets.wait(name, str(args.get("channel")), method.per_minute, self._team.state.clock())
            if seconds:
                return _ratelimited(seconds)
            return self._json({"ok": True, **method.run(self._team, args)})
        except Refused as error:
            return self._json(error.answer())

    def _allowed(self, name: str, token: str) -> Method:
        app, method = self._team.app, METHODS.get(name)
        if method is None:
            raise Refused("unknown_method", req_method=name)
        if not token:
            raise Refused("not_authed")
        if token not in (app.bot_token, app.app_token):
            raise Refused("invalid_auth")
        if token != (app.app_token if method.token == "app" else app.bot_token):  # noqa: S105 - a kind of token
            raise Refused("not_allowed_token_type")
        if method.scopes and not set(method.scopes) & set(app.scopes):
            raise Refused("missing_scope", needed=method.scopes[0], provided=",".join(app.scopes))
        return method

    def _responded(self, key: str, args: Json) -> web.Response:
        try:
            place = self._team.response_urls.use(key)
        except Refused as error:
            return web.json_response(error.answer(), status=404)
        try:
            show_answer(self._team, place, args)
        except Refused as error:
            return web.json_response(error.answer(), status=400)
        return web.Response(text="ok")

    def _json(self, body: Json) -> web.Response:
        return web.json_response(body, headers={"x-oauth-scopes": ",".join(self._team.app.scopes)})

    async def _journaled(self, request: web.Request, name: str, args: Json, answer: Answer) -> web.Response:
        """Do the call with the fault that is due, and write down what happened."""
        started, fault = self._team.state.clock(), self._faults.of_call(name)
        response = await _WITH_FAULT[fault.kind](fault, answer) if fault else answer()
        status = _UNANSWERED if response is None else response.status
        outcome = _outcome(response)
        kind = fault.kind if fault else ""
        self._journal.add(Call(name, args, outcome, status, started, self._team.state.clock(), kind))
        if response is None:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)  # nobody gets it
        return response


async def _arguments(request: web.Request) -> tuple[Json, str]:
    """What a call says, and its token; slack_sdk sends an empty body as JSON for calls without arguments."""
    args: Json = dict(request.query)
    if request.content_type == "application/json":
        sent = _parsed(await request.text() or "{}", "invalid_json")
        sent.pop("token", None)  # not taken from JSON
        args |= sent
    elif request.method == "POST":
        args |= {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
    for name in _JSON_IN_FORMS:
        if isinstance(args.get(name), str) and args[name]:
            try:
                args[name] = json.loads(args[name])
            except ValueError as error:
                raise Refused(f"invalid_{name}_format") from error
    bearer = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    token = str(args.pop("token", "") or "")
    return args, bearer or token


def _parsed(text: str, error: str) -> Json:
    try:
        body = json.loads(text)
    except ValueError as cause:
        raise Refused(error) from cause
    if not isinstance(body, dict):
        raise Refused("json_not_object")
    return body


async def _body(request: web.Request) -> bytes:
    if not request.content_type.startswith("multipart/"):
        return await request.read()
    for value in (await request.post()).values():
        if isinstance(value, web.FileField):
            return value.file.read()
    return b""


def _outcome(response: web.Response | None) -> str:
    if response is None:
        return "no answer"
    if response.status != 200:
        return "ratelimited" if response.status == 429 else f"status {response.status}"
    text = response.text or ""
    try:
        body: Any = json.loads(text)
    except ValueError:
        return "ok" if text.lower().startswith("ok") else "malformed"
    return "ok" if body.get("ok") else str(body.get("error"))


def _ratelimited(seconds: float) -> web.Response:
    body = {"ok": False, "error": "ratelimited"}
    return web.json_response(body, status=429, headers={"Retry-After": str(max(1, round(seconds)))})


async def _limit(fault: Fault, _answer: Answer) -> web.Response | None:
    return _ratelimited(fault.seconds)


async def _error(_fault: Fault, _answer: Answer) -> web.Response | None:
    return web.Response(status=500, text="internal server error")


async def _malformed(_fault: Fault, _answer: Answer) -> web.Response | None:
    return web.Response(text='{"ok": tru', content_type="application/json")


async def _timeout(fault: Fault, _answer: Answer) -> web.Response | None:
    await asyncio.sleep(fault.seconds)
    return None


async def _drop(_fault: Fault, _answer: Answer) -> web.Response | None:
    return None


async def _lost(_fault: Fault, answer: Answer) -> web.Response | None:
    answer()
    return None


async def _slow(fault: Fault, answer: Answer) -> web.Response | None:
    await asyncio.sleep(fault.seconds)
    return answer()


_WITH_FAULT: dict[str, Callable[[Fault, Answer], Awaitable[web.Response | None]]] = {
    "ratelimited": _limit,
    "error": _error,
    "malformed": _malformed,
    "timeout": _timeout,
    "drop": _drop,
    "lost": _lost,
    "slow": _slow,
}
