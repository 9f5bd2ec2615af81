"""The page and the control API: both below a secret path, so that only who knows the address can act as a person."""

import asyncio
import json
import secrets
from contextlib import suppress
from functools import partial
from importlib import resources
from typing import Annotated, Any, Literal

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from slacksim.errors import LocalSlackError, Refused
from slacksim.faults import CALL_FAULTS, Faults
from slacksim.guard import FILE_POLICY, PAGE_POLICY
from slacksim.journal import Journal
from slacksim.page_state import page_state
from slacksim.people_acting import People
from slacksim.people_clicking import Clicks
from slacksim.socket_mode import Reason
from slacksim.state import Snapshot
from slacksim.values import Json
from slacksim.workspace import Member

BEAT = 15.0  # seconds after which a quiet stream says that it lives
REDRAW = 0.02  # seconds; several changes at once are one redraw
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_SHOWN = ("image/png", "image/jpeg", "image/gif", "image/webp", "text/html", "text/plain", "application/json")


class _Act(BaseModel):
    model_config = ConfigDict(extra="forbid")

    user: str


class Say(_Act):
    """A message or a reply."""

    do: Literal["say"]
    channel: str
    text: str
    thread_ts: str | None = None


class Edit(_Act):
    """Other words for an own message."""

    do: Literal["edit"]
    channel: str
    ts: str
    text: str


class Delete(_Act):
    """Take an own message away."""

    do: Literal["delete"]
    channel: str
    ts: str


class React(_Act):
    """An emoji below a message."""

    do: Literal["react"]
    channel: str
    ts: str
    name: str


class SlashCommand(_Act):
    """A slash command."""

    do: Literal["command"]
    channel: str
    text: str


class RunShortcut(_Act):
    """A shortcut on a message."""

    do: Literal["shortcut"]
    callback_id: str
    channel: str
    ts: str


class Click(_Act):
    """A button or a menu of a message."""

    do: Literal["click"]
    channel: str
    ts: str
    action: str
    value: Any = None


class ClickInModal(_Act):
    """A button or a menu of the modal on top."""

    do: Literal["click_in_modal"]
    action: str
    value: Any = None
    values: Json | None = None


class ClickInHome(_Act):
    """A button or a menu of the app's page."""

    do: Literal["click_in_home"]
    action: str
    value: Any = None


class Submit(_Act):
    """Submit the modal on top."""

    do: Literal["submit"]
    values: Json | None = None


class Cancel(_Act):
    """Close the modal on top."""

    do: Literal["cancel"]


class OpenHome(_Act):
    """Open the app's page, or its messages."""

    do: Literal["open_home"]
    tab: Literal["home", "messages"] = "home"


class FaultOrder(BaseModel):
    """A fault that is to come."""

    do: Literal["fault"]
    kind: str
    target: str = "*"
    times: int = 1
    seconds: float = 1.0


class Disconnect(BaseModel):
    """End the websockets: with a word, a close frame, or hard."""

    do: Literal["disconnect"]
    how: Reason | Literal["close", "hard", "mute"]


Order = (
    Say | Edit | Delete | React | SlashCommand | RunShortcut | Click | ClickInModal | ClickInHome | Submit | Cancel
    | OpenHome | FaultOrder | Disconnect
)  # fmt: skip
_ORDER: TypeAdapter[Order] = TypeAdapter(Annotated[Order, Field(discriminator="do")])


class Control:
    """All that lives below the secret path."""

    def __init__(self, people: People, clicks: Clicks, journal: Journal, faults: Faults) -> None:
        self._people = people
        self._clicks = clicks
        self._team = people.team
        self._journal = journal
        self._faults = faults

    def routes(self, secret: str) -> list[web.RouteDef]:
        """Every address."""
        home = f"/p/{secret}"
        return [
            web.get(f"{home}/", self._page),
            web.get(f"{home}/page/{{name}}", self._page),
            web.get(f"{home}/state", self._state),
            web.get(f"{home}/stream", self._stream),
            web.get(f"{home}/journal", self._read_journal),
            web.get("/file/{key}/{name}", self._file),
            web.post(f"{home}/do", self._do),
        ]

    async def _page(self, request: web.Request) -> web.Response:
        name = request.match_info.get("name", "index.html")
        found = resources.files("slacksim").joinpath("page", name)
        kind = _TYPES.get(f".{name.rpartition('.')[2]}")
        if kind is None or not found.is_file():
            raise web.HTTPNotFound
        headers = {"Content-Security-Policy": PAGE_POLICY}
        return web.Response(body=found.read_bytes(), content_type=kind, charset="utf-8", headers=headers)

    async def _state(self, request: web.Request) -> web.Response:
        """What one person sees; with ``after`` only once there is something newer than that version."""
        me = self._me(request)
        if after := request.query.get("after"):
            try:
                known, seconds = int(after), float(request.query.get("seconds", 10))
            except ValueError as error:
                raise web.HTTPBadRequest from error
            with suppress(LocalSlackError):  # nothing new in time: what is there is the answer
                await self._team.state.wait_for(partial(_newer, known), seconds)
        return web.json_response(page_state(self._team.state, me))

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        """The same again after every change, as server-sent events."""
        me = self._me(request)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        with suppress(ConnectionError):  # the page was closed
            await self._tell(response, me)
        return response

    async def _tell(self, response: web.StreamResponse, me: Member) -> None:
        version = -1
        while True:
            seen = page_state(self._team.state, me)
            if seen["version"] != version:
                await response.write(f"data: {json.dumps(seen)}\n\n".encode())
                version = seen["version"]
            try:
                await self._team.state.wait_for(partial(_newer, version), BEAT)
            except LocalSlackError:
                await response.write(b": beat\n\n")
            await asyncio.sleep(REDRAW)

    def _me(self, request: web.Request) -> Member:
        first = next(m for m in self._team.state.workspace.members if not m.is_bot)
        try:
            return self._people.member(request.query.get("as") or first.id)
        except LocalSlackError as error:
            raise web.HTTPNotFound(text=str(error)) from error

    async def _read_journal(self, _request: web.Request) -> web.Response:
        return web.json_response(self._journal.as_json())

    async def _file(self, request: web.Request) -> web.Response:
        key = request.match_info["key"]
        file = next((f for f in self._team.state.files.values() if secrets.compare_digest(f.key, key)), None)
        if file is None or file.data is None:
            raise web.HTTPNotFound
        shown = file.mimetype in _SHOWN and "download" not in request.query
        how = "inline" if shown else "attachment"
        name = "".join(sign for sign in file.name if sign.isalnum() or sign in "._- ") or "file"
        headers = {"Content-Security-Policy": FILE_POLICY, "Content-Disposition": f'{how}; filename="{name}"'}
        kind = file.mimetype if shown else "application/octet-stream"
        charset = "utf-8" if kind.startswith("text/") else None
        return web.Response(body=file.data, content_type=kind, charset=charset, headers=headers)

    async def _do(self, request: web.Request) -> web.Response:
        """One act of a person, one fault, or the end of the websockets."""
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType
        try:
            order = _ORDER.validate_json(await request.read())
            result = await self._done(order)
        except ValidationError as error:
            return web.json_response({"ok": False, "error": str(error)}, status=400)
        except (LocalSlackError, Refused) as error:
            return web.json_response({"ok": False, "error": str(error)}, status=409)
        return web.json_response({"ok": True, "result": None if result is None else vars(result)})

    async def _done(self, order: Order) -> Any:
        if isinstance(order, FaultOrder):
            add = self._faults.call if order.kind in CALL_FAULTS else self._faults.delivery
            return add(order.target, order.kind, times=order.times, seconds=order.seconds)
        if isinstance(order, Disconnect):
            return await self._disconnected(order)
        clicks: dict[str, Any] = {
            "click": self._clicks.in_message,
            "click_in_modal": self._clicks.in_modal,
            "click_in_home": self._clicks.in_home,
            "submit": self._clicks.submit,
            "cancel": self._clicks.cancel,
        }
        act = clicks[order.do] if order.do in clicks else getattr(self._people, order.do)
        return await act(**order.model_dump(exclude={"do"}))

    async def _disconnected(self, order: Disconnect) -> None:
        sockets = self._team.sockets
        if order.how == "mute":
            sockets.mute()
        elif order.how in ("close", "hard"):
            await sockets.drop(hard=order.how == "hard")
        else:
            await sockets.disconnect(order.how)  # type: ignore[arg-type]


def _newer(version: int, now: Snapshot) -> bool:
    return now.version > version
