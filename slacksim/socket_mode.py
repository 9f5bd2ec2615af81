"""Socket Mode: websockets that the app opens, envelopes that it acknowledges (docs.slack.dev/apis/events-api)."""

import asyncio
import itertools
import json
import secrets
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import WSMsgType, web

from slacksim.errors import NotAcknowledged, Refused
from slacksim.limits import Timing
from slacksim.state import State
from slacksim.values import Json

MOST_CONNECTIONS = 10  # docs.slack.dev/apis/events-api/using-socket-mode: of one app
REFRESH_GRACE = 10.0  # seconds until a connection that was asked to refresh is closed; Slack's is not documented
_LIFETIME = 18_060  # seconds that hello promises, as Slack does

Reason = Literal["warning", "refresh_requested", "link_disabled"]


@dataclass(eq=False)
class Connection:
    """One websocket of the app, and the envelopes that it has not acknowledged yet."""

    number: int
    socket: web.WebSocketResponse
    request: web.Request
    waiting: dict[str, asyncio.Future[Any]] = field(default_factory=dict)
    mute: bool = False


class SocketMode:
    """All websockets of the app; deliveries take turns over them."""

    def __init__(self, state: State, timing: Timing) -> None:
        self._state = state
        self._timing = timing
        self._tickets: set[str] = set()
        self._connections: list[Connection] = []
        self._numbers = itertools.count(1)
        self._turns = itertools.count()
        self._closing: set[asyncio.TimerHandle] = set()

    def new_url(self) -> str:
        """The address of apps.connections.open: for one connection."""
        if len(self._connections) >= MOST_CONNECTIONS:
            raise Refused("too_many_websockets")
        ticket = secrets.token_urlsafe(16)
        self._tickets.add(ticket)
        home = self._state.base_url.replace("http", "ws", 1)
        return f"{home}/link/?ticket={ticket}&app_id={self._state.workspace.app.id}"

    async def accept(self, request: web.Request) -> web.StreamResponse:
        """A connection, from hello to its end."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.json_response({"ok": False, "error": "invalid_ticket"}, status=403)
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse(heartbeat=self._timing.ping, autoping=False)
        await socket.prepare(request)
        connection = Connection(next(self._numbers), socket, request)
        await socket.send_json(self._hello())
        self._count(connection, there=True)
        try:
            await self._listen(connection)
        finally:
            self._count(connection, there=False)
            for envelope in connection.waiting.values():
                if not envelope.done():
                    envelope.set_exception(NotAcknowledged("timeout"))
        return socket

    async def send(self, kind: str, payload: Json, attempt: int, reason: str) -> Any:
        """Put an envelope on the next connection and wait for its acknowledgement."""
        try:
            async with asyncio.timeout(self._timing.ack):
                connection = await self._next(wait=kind == "events_api")
                return await self._exchange(connection, kind, payload, attempt, reason)
        except (TimeoutError, ConnectionError) as error:
            raise NotAcknowledged("timeout") from error

    async def disconnect(self, reason: Reason) -> None:
        """Tell every connection that it will end; after a warning it still takes its turns."""
        for connection in tuple(self._connections):
            await connection.socket.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "local"}})
            if reason != "warning":
                self._count(connection, there=False)
                loop = asyncio.get_running_loop()
                self._closing.add(loop.call_later(REFRESH_GRACE, _abort, connection))

    async def drop(self, *, hard: bool) -> None:
        """End every connection: with a close frame, or hard, as a broken line does."""
        for connection in tuple(self._connections):
            if hard:
                _abort(connection)
            else:
                await connection.socket.close(code=1001)

    def mute(self) -> None:
        """Every connection of now stays open and is dead: nothing comes in or goes out, not even a pong."""
        for connection in self._connections:
            connection.mute = True

    async def close(self) -> None:
        """End everything, at the end of the program."""
        for timer in self._closing:
            timer.cancel()
        await self.drop(hard=True)

    def _hello(self) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self._connections) + 1,
            "connection_info": {"app_id": self._state.workspace.app.id},
            "debug_info": {"host": "local", "build_number": 1, "approximate_connection_time": _LIFETIME},
        }

    async def _listen(self, connection: Connection) -> None:
        async for message in connection.socket:
            if connection.mute:
                continue
            if message.type is WSMsgType.PING:
                await connection.socket.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                _acknowledge(connection, message.data)

    async def _next(self, *, wait: bool) -> Connection:
        """The connection whose turn it is; an event waits for one, a command does not."""
        if not self._connections and not wait:
            raise NotAcknowledged("no_connection")
        await self._state.wait_for(lambda _: bool(self._connections), self._timing.ack + 1)
        return self._connections[next(self._turns) % len(self._connections)]

    async def _exchange(self, connection: Connection, kind: str, payload: Json, attempt: int, reason: str) -> Any:
        envelope: Json = {"envelope_id": secrets.token_hex(16), "type": kind, "payload": payload}
        envelope["accepts_response_payload"] = kind != "events_api"
        if kind == "events_api":
            envelope |= {"retry_attempt": attempt, "retry_reason": reason}
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        connection.waiting[envelope["envelope_id"]] = answer
        try:
            if not connection.mute:
                await connection.socket.send_json(envelope)
            return await answer
        finally:
            connection.waiting.pop(envelope["envelope_id"], None)

    def _count(self, connection: Connection, *, there: bool) -> None:
        if there:
            self._connections.append(connection)
        elif connection in self._connections:
            self._connections.remove(connection)
        self._state.connections = len(self._connections)
        self._state.changed()


def _acknowledge(connection: Connection, text: str) -> None:
    try:
        message = json.loads(text)
    except ValueError:  # builtin clients also send bare text; Slack ignores it
        return
    envelope_id = message.get("envelope_id") if isinstance(message, dict) else None
    answer = connection.waiting.get(envelope_id) if isinstance(envelope_id, str) else None
    if answer and not answer.done():
        answer.set_result(message.get("payload"))


def _abort(connection: Connection) -> None:
    if connection.request.transport is not None:
        connection.request.transport.abort()
