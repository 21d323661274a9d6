"""The gateway: sessions begun, resumed and ended over WebSocket connections."""

from aiohttp import web

from tests.wire.discord.connection import Connection, Op
from tests.wire.discord.entities import Application, Guild
from tests.wire.discord.errors import Json
from tests.wire.discord.faults import Faults
from tests.wire.discord.payloads import application_flags, full_member_payload, own_user_payload
from tests.wire.discord.session import Session
from tests.wire.discord.sight import Intent, Sight
from tests.wire.discord.state import Event
from tests.wire.discord.world import World

_ENDS_SESSION = {1000, 1001, 4003, 4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014}
_ALL_INTENTS = (1 << 17 | 1 << 16) - 1 | 1 << 20 | 1 << 21 | 1 << 24 | 1 << 25


class Gateway:
    """Serves every bot's connections; tests reach in to disturb them."""

    def __init__(self, world: World, faults: Faults) -> None:
        self.world = world
        self.faults = faults
        self.url = ""
        self.sessions: dict[str, Session] = {}
        self.connections: list[Connection] = []
        self._identified: dict[tuple[int, int], float] = {}
        world.watch(self._spread)

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Hold one connection until it ends."""
        connection = Connection(self, request)
        self.connections.append(connection)
        try:
            return await connection.run()
        finally:
            self.connections.remove(connection)

    async def close(self, code: int) -> None:
        """Close all connections with a code, as Discord does; some codes end the session."""
        for connection in list(self.connections):
            await connection.close(code)

    async def reconnect(self) -> None:
        """Ask all connections to come back (op 7)."""
        for connection in list(self.connections):
            connection.send({"op": Op.RECONNECT, "d": None, "s": None, "t": None})

    async def invalidate(self, *, resumable: bool) -> None:
        """Tell all connections that their session is invalid (op 9)."""
        for connection in list(self.connections):
            if connection.session and not resumable:
                connection.session.ended = True
            frame = {"op": Op.INVALID_SESSION, "d": resumable, "s": None, "t": None}
            connection.send(frame)

    def silence(self) -> None:
        """Send nothing more on the present connections, not even acknowledgements."""
        for connection in self.connections:
            connection.silent = True

    async def drop(self) -> None:
        """Cut all connections without a close frame."""
        for connection in list(self.connections):
            connection.abort()

    async def connected(self, count: int = 1, timeout: float = 10.0) -> None:  # noqa: ASYNC109
        """Wait until so many sessions have a connection."""
        await self.world.until(lambda: len(self._live()) >= count, timeout)

    def connected_shards(self) -> list[int]:
        """Return the shard of every session that has a connection, in order."""
        return sorted(one.sight.shard for one in self._live())

    def application_by_token(self, token: str) -> Application | None:
        """Return the application that a token belongs to."""
        token = token.removeprefix("Bot ")
        found = (a for a in self.world.applications.values() if a.token == token)
        return next(found, None)

    def start_limit(self, application: Application) -> Json:
        """Return the session_start_limit of `GET /gateway/bot`."""
        limits = self.world.limits
        return {
            "total": limits.identifies_a_day,
            "remaining": max(limits.identifies_a_day - application.sessions_started, 0),
            "reset_after": round(limits.identifies_again_after * 1_000),
            "max_concurrency": limits.max_concurrency,
        }

    def identify(self, connection: Connection, data: Json) -> int | bool:
        """Begin a session; return a close code, or False to invalidate, or True."""
        application = self.application_by_token(str(data.get("token", "")))
        if application is None:
            return 4004
        place = _shard_of(data)
        if place is None:
            return 4010
        intents = data.get("intents")
        if not isinstance(intents, int) or intents & ~_ALL_INTENTS:
            return 4013
        if Intent(intents) & _forbidden(application):
            return 4014
        if application.sessions_started >= self.world.limits.identifies_a_day:
            return 4004
        sight = Sight(application, Intent(intents), *place)
        if len(self._guilds(sight)) > self.world.limits.guilds_a_shard:
            return 4011
        if not self._paced(application, sight.shard):
            return False
        application.sessions_started += 1
        self._begin(connection, sight)
        return True

    def resume(self, connection: Connection, data: Json) -> int | bool:
        """Take up a session; the result is that of `identify`."""
        application = self.application_by_token(str(data.get("token", "")))
        if application is None:
            return 4004
        session = self.sessions.get(str(data.get("session_id")))
        if session is None or session.sight.application is not application:
            return False
        if not session.resumable():
            return False
        sequence = data.get("seq")
        if not isinstance(sequence, int) or sequence > session.sequence:
            return 4007
        connection.session = session
        session.resume(connection.send, sequence)
        return True

    def left(self, session: Session, code: int | None) -> None:
        """Take note that a session lost its connection."""
        session.leave(for_good=code in _ENDS_SESSION)

    def members_chunk(self, session: Session, data: Json) -> None:
        """Answer a request for a guild's members."""
        guild = self.world.guilds.get(int(data["guild_id"]))
        if guild is None:
            return
        chunk = {
            "guild_id": str(guild.id),
            "members": _members(guild, data),
            "chunk_index": 0,
            "chunk_count": 1,
        }
        session.dispatch("GUILD_MEMBERS_CHUNK", chunk | _nonce(data))

    def _live(self) -> list[Session]:
        return [session for session in self.sessions.values() if session.send is not None]

    def _spread(self, event: Event) -> None:
        for session in list(self.sessions.values()):
            session.see(event)

    def _paced(self, application: Application, shard: int) -> bool:
        limits, now = self.world.limits, self.world.clock.now()
        key = (application.id, shard % limits.max_concurrency)
        last = self._identified.get(key)
        if last is not None and now - last < limits.identify_interval:
            return False
        self._identified[key] = now
        return True

    def _begin(self, connection: Connection, sight: Sight) -> None:
        session = Session(self.world, self.faults, sight, connection.send)
        self.sessions[session.id] = session
        connection.session = session
        guilds = self._guilds(sight)
        session.dispatch("READY", self._ready(session, [str(guild.id) for guild in guilds]))
        for guild in guilds:
            data = sight.rendered(Event("GUILD_CREATE", {}, guild), self.world)
            if data is not None:
                session.dispatch("GUILD_CREATE", data)

    def _guilds(self, sight: Sight) -> list[Guild]:
        return [
            guild
            for guild in self.world.guilds.values()
            if sight.user.id in guild.members and sight.serves(guild.id)
        ]

    def _ready(self, session: Session, guilds: list[str]) -> Json:
        application = session.sight.application
        return {
            "v": 10,
            "user": own_user_payload(application.user),
            "session_id": session.id,
            "session_type": "normal",
            "resume_gateway_url": self.url,
            "shard": [session.sight.shard, session.sight.shards],
            "guilds": [{"id": guild, "unavailable": True} for guild in guilds],
            "application": {"id": str(application.id), "flags": application_flags(application)},
            "private_channels": [],
            "relationships": [],
            "user_settings": {},
            "_trace": [],
        }


def _shard_of(data: Json) -> tuple[int, int] | None:
    """Return the shard that an IDENTIFY names, and how many there are; None for nonsense."""
    match data.get("shard", [0, 1]):
        case [int(shard), int(shards)] if 0 <= shard < shards:
            return shard, shards
    return None


def _forbidden(application: Application) -> Intent:
    """Return the privileged intents that the portal has switched off."""
    forbidden = Intent(0)
    if not application.message_content:
        forbidden |= Intent.MESSAGE_CONTENT
    if not application.server_members:
        forbidden |= Intent.GUILD_MEMBERS
    if not application.presences:
        forbidden |= Intent.PRESENCES
    return forbidden


def _members(guild: Guild, data: Json) -> list[Json]:
    wanted = {int(user_id) for user_id in data.get("user_ids") or []}
    query, limit = data.get("query") or "", data.get("limit") or 1000
    found = [
        full_member_payload(member)
        for member in guild.members.values()
        if (member.user.id in wanted if wanted else member.user.name.startswith(query))
    ]
    return found[:limit]


def _nonce(data: Json) -> Json:
    return {"nonce": data["nonce"]} if "nonce" in data else {}
