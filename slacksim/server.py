"""The server: puts the parts together, listens on loopback, and runs in a thread of its own."""

import asyncio
import secrets
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from aiohttp import web

from slacksim.api import Api
from slacksim.control import Control
from slacksim.delivery import Delivery
from slacksim.errors import LocalSlackError
from slacksim.faults import Faults
from slacksim.guard import add_headers, guard
from slacksim.http_mode import HttpMode
from slacksim.journal import Journal
from slacksim.limits import Buckets, Limits, Timing
from slacksim.people_acting import People
from slacksim.people_clicking import Clicks
from slacksim.short_lived import ResponseUrls, Triggers
from slacksim.socket_mode import SocketMode
from slacksim.state import Clock, State
from slacksim.team import Team
from slacksim.workspace import Workspace

T = TypeVar("T")
LARGEST_UPLOAD = 64 * 1024 * 1024  # bytes; Slack takes 1 GB, a report of ours is far smaller
STARTS_IN, ENDS_IN = 10.0, 10.0  # seconds; both take milliseconds


class Server:
    """All parts, and the loop on which they run."""

    def __init__(self, workspace: Workspace, limits: Limits, timing: Timing, clock: Clock) -> None:
        self.journal = Journal()
        self.faults = Faults()
        self.state = State(workspace, clock)
        self.secret = secrets.token_urlsafe(24)
        self._timing = timing
        self._http: list[HttpMode] = []
        self._port = 0
        sockets = SocketMode(self.state, timing)
        delivery = Delivery(sockets, self.journal, self.faults, timing, clock)
        triggers, urls = Triggers(self.state, timing), ResponseUrls(self.state, timing)
        self.team = Team(self.state, delivery, sockets, triggers, urls)
        self.people = People(self.team)
        self.clicks = Clicks(self.people)
        self._api = Api(self.team, self.journal, self.faults, Buckets(limits))
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="slacksim", daemon=True)
        self._started = threading.Event()
        self._failure: OSError | None = None

    def start(self, port: int) -> None:
        """Listen; returns when the first request can come."""
        self._port = port
        self._thread.start()
        if not self._started.wait(STARTS_IN) or self._failure:
            raise LocalSlackError(f"The local Slack cannot listen on port {port}: {self._failure}.", "Is it taken?")

    def stop(self) -> None:
        """End everything that was started."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(ENDS_IN)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something on the server's loop and wait for it, from another thread."""
        if not self._thread.is_alive():
            work.close()
            raise LocalSlackError("The local Slack has ended.")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def call(self, work: Callable[[], T]) -> T:
        """Call a plain function in the server's loop."""

        async def done() -> T:
            return work()

        return self.run(done())

    async def use_http(self, url: str) -> None:
        """From now on deliver by signed HTTP, once the address has passed the handshake."""
        mode = HttpMode(self.state, self._timing, url)
        self._http.append(mode)
        await mode.verify()
        self.team.delivery.transport = mode
        self.state.connections = 1  # for the page: somebody is there
        self.state.changed()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._started.set()
            self._loop.close()

    async def _serve(self) -> None:
        app = web.Application(client_max_size=LARGEST_UPLOAD, middlewares=[guard(lambda: self._port)])
        app.on_response_prepare.append(add_headers)
        app.add_routes(self._routes())
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", self._port)
            await site.start()
            self._port = runner.addresses[0][1]
            self.state.base_url = f"http://127.0.0.1:{self._port}"
            self._started.set()
            await self._stopping.wait()
        except OSError as error:  # told to the person by start()
            self._failure = error
        finally:
            await self.team.delivery.close()
            await self.team.sockets.close()
            for mode in self._http:
                await mode.close()
            await runner.cleanup()

    def _routes(self) -> list[web.RouteDef]:
        control = Control(self.people, self.clicks, self.journal, self.faults)
        return [
            web.post("/api/{method}", self._api.method),
            web.get("/api/{method}", self._api.method),
            web.get("/link/", self.team.sockets.accept),
            web.post("/respond/{key}", self._api.response_url),
            web.post("/upload/{file}", self._api.upload),
            web.get("/files-pri/{file}/{name}", self._api.private_file),
            *control.routes(self.secret),
        ]
