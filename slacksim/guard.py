"""Who may talk to the local Slack: programs of this machine, and the page whose address holds the secret."""

from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Middleware

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

# Everything from this server; no inline script or style; and nobody may frame it.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# An uploaded page runs alone: in a sandbox without an origin, and without any connection.
FILE_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def guard(port: Callable[[], int]) -> Middleware:
    """A middleware that turns away other names of this machine and requests of other web pages.

    A page on the internet may point its own name at 127.0.0.1 (so the Host header is checked), or send requests here
    blindly (so Origin and Sec-Fetch-Site are checked; programs send neither).
    """

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        origins = {f"127.0.0.1:{port()}", f"localhost:{port()}"}
        origin = request.headers.get("Origin")
        if request.headers.get("Host") not in {"127.0.0.1", "localhost", *origins}:  # slack_sdk leaves the port out
            return web.Response(status=403, text="This server answers to 127.0.0.1 only.")
        if origin is not None and origin.partition("://")[2] not in origins:
            return web.Response(status=403, text="Requests of other web pages are refused.")
        if request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site") and not _is_visit(request):
            return web.Response(status=403, text="Requests of other web pages are refused.")
        return await handler(request)

    return check


async def add_headers(_request: web.Request, response: web.StreamResponse) -> None:
    """Headers of every answer."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)


def _is_visit(request: web.Request) -> bool:
    """A link that a person followed to here."""
    return request.method == "GET" and request.headers.get("Sec-Fetch-Mode") == "navigate"
