"""Guards of what is asked for from a gateway session that was left."""

from tests.mutants.mutant import Mutant

REPLAY = "tests/unit/adapters/discord/test_replay.py"
SESSIONS = "tests/unit/adapters/discord/test_sessions.py"

IN_SESSIONS: tuple[Mutant, ...] = (
    Mutant(
        "end a session of Discord's gateway when the bot stops",
        "adapters/discord/gateway/connections.py",
        "_MAY_GO_ON = 4000\n",
        "_MAY_GO_ON = 1000\n",
        "a first direct message to a bot that was stopped is answered after its next start",
        (
            "tests/wire/test_discord_resumed.py"
            "::test_a_first_direct_message_while_the_bot_is_away_is_answered_once",
        ),
    ),
    Mutant(
        "note a session further than the inbox is",
        "adapters/discord/gateway/session_notes.py",
        "        until = clock - _SETTLED if since is None else min(clock, since) - _SETTLED\n",
        "        until = clock\n",
        "what is not stored yet is told again",
        (f"{SESSIONS}::test_a_session_is_kept_at_once_and_noted_as_far_as_all_is_stored",),
    ),
    Mutant(
        "take a session from a process that lives",
        "adapters/discord/gateway/sessions.py",
        "        return self.notes.is_alone and is_old and session.shards == self.notes.shards\n",
        "        return True\n",
        "processes that hear the same shard leave one another their sessions",
        (
            f"{SESSIONS}::"
            "test_a_session_of_another_process_is_asked_for_when_it_is_not_noted_any_more",
        ),
    ),
    Mutant(
        "keep however many events are replayed",
        "adapters/discord/gateway/replay.py",
        "        if self._kept >= MOST_EVENTS:\n",
        "        if False:\n",
        "a replay takes so much memory and no more",
        (f"{REPLAY}::test_why_not_all_can_be_had_is_told_and_what_came_is_kept",),
    ),
)
