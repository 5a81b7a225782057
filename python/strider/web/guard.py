"""Admission of requests, before all pages.

A request passes if it names this machine as its host, comes from a page of this server where browsers say
where it comes from, holds the session that a one-time token was exchanged for, and is of a bearable size.
Everything that is answered forbids the browser to load, run or frame anything that is not ours.
"""

import asyncio
import hmac
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request, cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from strider.web.connections import CONNECTION

MOST_BODY_BYTES = 1 << 20
"""A suite is text; none needs more."""
BODY_S = 30.0
"""For all of a body."""
IDLE_S, LONGEST_S = 24 * 3600.0, 7 * 24 * 3600.0
"""A session ends without a request, and at the latest."""
ENTRANCE, EXIT = "/enter", "/api/leave"
SESSION = "strider.session"
"""Where a request finds its session."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names of this machine, also where ssh forwards the page. Other names indicate DNS rebinding."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
DOCUMENT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'; sandbox allow-popups"
)
"""For reports, which are files with their styles in them and no script."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

ENTERED = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Strider</title><link rel="icon" '
    'href="/static/icon.svg" type="image/svg+xml"><meta http-equiv="refresh" content="0; '
    'url=/"></head><body><p><a href="/">Continue to Strider</a></p></body></html>'
)
"""Not a redirection: a browser that came here from elsewhere would not send the new cookie with it."""


@dataclass
class _Session:
    """When a session began, and when it was last used, on the clock of `Keys`."""

    begun_s: float
    used_s: float


@dataclass
class Keys:
    """The one-time tokens that are still good, and the sessions that began with one.

    Attributes:
        cookie: Name of this server's cookie; cookies of a host are shared by all its ports.
        used: Called when a token has been used up, so that there may be another one.
        clock: Seconds.
    """

    used: Callable[[], None]
    clock: Callable[[], float] = time.monotonic
    cookie: str = field(default_factory=lambda: f"strider-{secrets.token_hex(4)}")
    _tokens: set[str] = field(default_factory=set)
    _sessions: dict[str, _Session] = field(default_factory=dict)

    def new_token(self) -> str:
        """A token that opens the door once."""
        token = secrets.token_urlsafe(24)
        self._tokens.add(token)
        return token

    def exchange(self, token: str) -> str | None:
        """The session for a token, which is worth nothing from then on; None if it is not good."""
        good = _found(self._tokens, token)
        if good is None:
            return None
        self._tokens.discard(good)
        session = secrets.token_urlsafe(32)
        self._sessions[session] = _Session(self.clock(), self.clock())
        self.used()
        return session

    def use(self, session: str) -> bool:
        """Whether a session is one of this server's; it was used now."""
        if not self.is_open(session):
            return False
        self._sessions[session].used_s = self.clock()
        return True

    def is_open(self, session: str) -> bool:
        """Whether a session is one of this server's and has not ended."""
        now = self.clock()
        over = [
            name
            for name, one in self._sessions.items()
            if now - one.used_s > IDLE_S or now - one.begun_s > LONGEST_S
        ]
        for name in over:
            self.end(name)
        return _found(self._sessions, session) is not None

    def end(self, session: str) -> None:
        self._sessions.pop(session, None)


def _found(known: Iterable[str], given: str) -> str | None:
    """The member that is equal, found in a time that does not depend on where they differ."""
    matches = [one for one in known if hmac.compare_digest(one.encode(), given.encode("utf-8", "replace"))]
    return matches[0] if matches else None


@dataclass(frozen=True)
class Guard:
    """Middleware: lets through what may pass, answers everything else itself."""

    app: ASGIApp
    keys: Keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one connection or request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        guarded = _with_headers(send)
        refusal = next(self._refusals(scope), None)
        if refusal is not None:
            await refusal(scope, receive, guarded)
        elif scope["path"] == ENTRANCE:
            await self._enter(Request(scope))(scope, receive, guarded)
        elif not scope[CONNECTION].admitted():
            await refuse(503, "too many open connections: close some pages")(scope, receive, guarded)
        elif scope["path"] == EXIT and scope["method"] == "POST":
            await self._leave(Headers(scope=scope))(scope, receive, guarded)
        else:
            scope[SESSION] = self._session(Headers(scope=scope))
            await self.app(scope, _limited(receive), guarded)

    def _refusals(self, scope: Scope) -> Iterator[Response]:
        """Reasons to refuse a request, first things first."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if _hostname(host) not in LOOPBACK:
            yield refuse(421, f"this server is not {host!r}: use the address that strider serve printed")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            yield refuse(403, f"requests from pages of {origin} are not accepted")
        reads = scope["method"] in ("GET", "HEAD")
        if not reads and origin is None:
            yield refuse(403, "a request that makes changes needs an Origin header")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and scope["path"] != ENTRANCE:
            yield refuse(
                403,
                "requests from other sites are not accepted: enter the address of this page in the browser",
            )
        if not _within_size_limit(headers):
            yield refuse(413, f"a request body may have at most {MOST_BODY_BYTES} bytes")
        if scope["path"] != ENTRANCE and not self.keys.use(self._session(headers)):
            yield refuse(401, "open the address with the token that strider serve printed")
        elif not reads and headers.get("content-type", "").partition(";")[0] != "application/json":
            yield refuse(415, "the request body must be JSON (Content-Type: application/json)")

    def _session(self, headers: Headers) -> str:
        return cookie_parser(headers.get("cookie", "")).get(self.keys.cookie, "")

    def _enter(self, request: Request) -> Response:
        if request.method != "GET" or not _is_page_load(request.headers):
            # Browsers and messengers look at an address before a person opens it.
            return refuse(405, "enter this address in a browser")
        session = self.keys.exchange(request.query_params.get("token", ""))
        if session is None:
            return refuse(
                401,
                "this token is invalid or was already used: use the latest address that strider serve "
                "printed",
            )
        response = HTMLResponse(ENTERED)
        response.set_cookie(self.keys.cookie, session, httponly=True, samesite="strict", path="/")
        return response

    def _leave(self, headers: Headers) -> Response:
        self.keys.end(self._session(headers))
        response = JSONResponse({}, headers={"connection": "close"})
        response.delete_cookie(self.keys.cookie, path="/")
        return response


def _is_page_load(headers: Headers) -> bool:
    """Whether a browser loads a page to show it, as far as its headers say."""
    purposes = (headers.get(name, "") for name in ("sec-purpose", "purpose", "x-purpose", "x-moz"))
    if any("prefetch" in purpose or "preview" in purpose or "prerender" in purpose for purpose in purposes):
        return False
    return headers.get("sec-fetch-dest", "document") == "document"


def refuse(status: int, why: str) -> Response:
    """A refusal in a sentence; the connection is closed, so that the rest of the request is not read."""
    return PlainTextResponse(f"strider: {why}\n", status, {"connection": "close"})


def _hostname(host: str) -> str | None:
    """The name in a Host header, without the port; None where there is none."""
    if set(host) & set("/\\@?# \t"):
        return None
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _within_size_limit(headers: Headers) -> bool:
    length = headers.get("content-length", "0")
    return length.isascii() and length.isdigit() and len(length) < 20 and int(length) <= MOST_BODY_BYTES


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return guarded


def _limited(receive: Receive) -> Receive:
    """Counts a body that did not say how long it is, and gives it its time."""
    received, whole = 0, False
    end = asyncio.get_running_loop().time() + BODY_S

    async def counted() -> Message:
        nonlocal received, whole
        if whole:  # what comes now is that the other side has gone
            return await receive()
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            detail = f"strider: the request body was not received within {BODY_S:g} s\n"
            raise HTTPException(408, detail, {"connection": "close"}) from None
        received += len(message.get("body", b""))
        whole = not message.get("more_body", False)
        if received > MOST_BODY_BYTES:
            detail = f"strider: a request body may have at most {MOST_BODY_BYTES} bytes\n"
            raise HTTPException(413, detail, {"connection": "close"})
        return message

    return counted
