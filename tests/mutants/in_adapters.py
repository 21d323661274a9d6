"""Guards of `adapters/`."""

from tests.mutants.mutant import Mutant

DISCORD_CONTENTS = "tests/wire/replies/discord/test_discord_reply_contents.py"
DISCORD_FAULTS = "tests/wire/replies/discord/test_discord_reply_faults.py"
DISCORD_REPLIES = "tests/wire/replies/discord/test_discord_replies.py"
DISCORD_SHOWN = "tests/unit/adapters/discord/test_outbound.py"
SLACK_CONTENTS = "tests/wire/replies/slack/test_slack_reply_contents.py"
SLACK_FAULTS = "tests/wire/replies/slack/test_slack_reply_faults.py"
SLACK_REPLIES = "tests/wire/replies/slack/test_slack_replies.py"
SLACK_SHOWN = "tests/unit/adapters/slack/test_outbound.py"
SLACK_HEARD = "tests/unit/adapters/slack/test_inbound.py"
SIGNING = "tests/unit/adapters/slack/test_signing.py"
OVER_HTTP = "tests/wire/test_slack_bot_http.py"
READING = "tests/contracts/test_reading_courses.py"
DESK = "tests/contracts/test_front_desk.py"
SENT = "tests/security/test_sent_bodies.py"
LINKS = "tests/security/test_sent_links.py"
CLICKS = "tests/security/test_clicks.py"
ACKS = "tests/security/test_acknowledging.py"
LOST = "tests/contracts/test_lost_jobs.py"
DISCORD_WINDOWS = "tests/contracts/test_closed_windows_on_discord.py"
RAW = "tests/unit/adapters/discord/test_raw_message.py"
UNREADABLE = "tests/unit/adapters/test_unreadable.py"
LOOKS = "tests/unit/adapters/slack/test_catch_up.py"
HOLDING = "tests/unit/adapters/discord/test_holding.py"

IN_ADAPTERS = (
    # --- who may read a course -------------------------------------------------------------
    Mutant(
        "list every course to every reader",
        "adapters/chat/course_directory.py",
        "        return {course.course_id: known[course.course_id] for course in courses}\n",
        "        return known\n",
        "a course that may not be read is as if there were none",
        (
            f"{READING}::test_facts_and_settings_tell_of_readable_courses_alone",
            f"{READING}::test_a_later_server_has_no_course_and_is_told_no_name",
        ),
    ),
    Mutant(
        "answer from the course that a channel is bound to, whoever may read it",
        "adapters/chat/places.py",
        "        if mark is not None:\n            return mark.course.course_id\n",
        "        if here.rules.course_id:\n            return here.rules.course_id\n",
        "a binding opens no course",
        (f"{READING}::test_a_later_server_has_no_course_and_is_told_no_name",),
    ),
    Mutant(
        "bind a channel to any course",
        "adapters/actions/settings.py",
        "        if course in courses:\n            return None\n",
        "        if course:\n            return None\n",
        "what may not be read cannot be bound",
        (f"{READING}::test_facts_and_settings_tell_of_readable_courses_alone",),
    ),
    Mutant(
        "answer what was accepted before a revoke",
        "adapters/chat/access.py",
        "            return job if is_readable else replace(job, arrival=_refused(arrival))\n",
        "            return job\n",
        "a question is checked again when it is answered",
        (f"{READING}::test_a_question_of_before_a_revoke_is_not_answered",),
    ),
    Mutant(
        "open an answer in another tenant",
        "adapters/actions/answers.py",
        "[one for one in events if Tenant(one.platform, one.workspace) in tenants]",
        "[*events]",
        "a button opens the answers of its own tenant",
        (f"{READING}::test_an_answers_id_opens_nothing_that_is_not_the_clickers",),
    ),
    Mutant(
        "open a private answer to everybody",
        "adapters/actions/answers.py",
        "one.user_id == clicker.user_id or not _is_private(one) for one in here",
        "one is not None for one in here",
        "a private answer is its asker's",
        (f"{READING}::test_an_answers_id_opens_nothing_that_is_not_the_clickers",),
    ),
    Mutant(
        "show the evidence of a course that is closed",
        "adapters/actions/answers.py",
        "turn.agent_response.course_id) is None:\n"
        '            raise Declined(text("answer-gone"))\n',
        "turn.agent_response.course_id) is None:\n            pass\n",
        "an answer from a closed course is not shown again",
        (f"{READING}::test_an_answers_id_opens_nothing_that_is_not_the_clickers",),
    ),
    Mutant(
        "choose a course that may not be read",
        "adapters/actions/answers.py",
        '        if mark is None:\n            raise Declined(text("course-none-such-any-more"))\n',
        "        if mark is None:\n            return course_id\n",
        "a choice is one of the courses that may be read",
        (f"{READING}::test_several_courses_are_asked_about_and_the_question_waits",),
    ),
    Mutant(
        "keep what the operator's file does not allow",
        "adapters/actions/settings.py",
        "            if value is not None and getattr(held, name) != value:\n",
        "            if value is not None and name == '':\n",
        "chat changes nothing that is locked",
        (f"{READING}::test_a_change_that_the_file_does_not_allow_is_refused_and_not_kept",),
    ),
    Mutant(
        "export the words of closed courses",
        "adapters/actions/reports.py",
        '    if is_closed and "response_text" in stored:\n'
        '        return text("privacy-export-withheld")\n',
        "",
        "an export shows nothing of a closed course",
        (
            f"{READING}::test_an_export_leaves_out_the_words_of_closed_courses_"
            "and_keeps_the_questions",
        ),
    ),
    # --- what is sent to Discord -----------------------------------------------------------
    Mutant(
        "send to Discord without the lease, or when it ran out while a limit was waited out",
        "adapters/discord/rest.py",
        "    _CHECK.get()()",
        "    _CHECK.get()",
        "who lost an event sends nothing more",
        (
            f"{DISCORD_REPLIES}::test_whoever_lost_the_lease_sends_nothing_more",
            "tests/wire/replies/discord/test_discord_reply_faults.py"
            "::test_what_waited_out_a_limit_does_not_spoil_what_others_finished_meanwhile",
        ),
    ),
    Mutant(
        "drop allowed_mentions on edit",
        "adapters/discord/rest.py",
        '        **{"allowed_mentions": discord.AllowedMentions.none(), **extra},\n',
        "        **extra,\n",
        "an edit pings nobody",
        (f"{SENT}::test_every_message_to_discord_allows_no_mention_and_no_preview",),
    ),
    Mutant(
        "drop allowed_mentions on what is told privately",
        "adapters/discord/notices.py",
        "            suppress_embeds=True,\n            allowed_mentions=nobody,\n",
        "            suppress_embeds=True,\n",
        "what is told to a clicker pings nobody",
        (f"{SENT}::test_every_call_of_discord_py_that_sends_names_its_mentions",),
    ),
    Mutant(
        "let Discord's client mention by default",
        "adapters/discord/client.py",
        "            allowed_mentions=discord.AllowedMentions.none(),\n",
        "",
        "what a call forgets to say pings nobody either",
        (f"{SENT}::test_a_discord_client_mentions_nobody_unless_it_is_told_to",),
    ),
    Mutant(
        "let Discord fetch previews",
        "adapters/discord/rest.py",
        "        flags=discord.MessageFlags(suppress_embeds=True, ephemeral=hidden),\n",
        "",
        "nothing is fetched for a preview",
        (f"{SENT}::test_every_message_to_discord_allows_no_mention_and_no_preview",),
    ),
    Mutant(
        "reuse a nonce at random",
        "adapters/discord/answer_messages.py",
        '    post = f"{key}:{channel}:{part}:{again}"\n',
        '    post = f"{key}:{channel}:{part}:{again}" + __import__("os").urandom(8).hex()\n',
        "a post that is repeated is not posted twice",
        (
            "tests/unit/adapters/discord/test_posting.py::"
            "test_a_nonce_is_the_same_each_time_fits_discord_and_differs_by_place_part_and_loss",
            f"{DISCORD_FAULTS}::test_whatever_happens_to_a_request_a_mention_is_answered_once",
        ),
    ),
    Mutant(
        "post without a nonce",
        "adapters/discord/rest.py",
        '        extra: dict[str, Any] = {"nonce": nonce} | (',
        "        extra: dict[str, Any] = {} | (",
        "a post whose connection broke is not posted twice",
        (f"{DISCORD_FAULTS}::test_whatever_happens_to_a_request_a_mention_is_answered_once",),
    ),
    Mutant(
        "skip everybody's escaping on Discord",
        "adapters/discord/outbound.py",
        '    text = _EVERYBODY.sub(f"@{_GAP}", text)\n',
        "",
        "no word is a mention of everybody",
        (f"{DISCORD_SHOWN}::test_a_mention_or_link_stays_words_wherever_it_is_planted",),
    ),
    Mutant(
        "skip mention escaping on Discord",
        "adapters/discord/outbound.py",
        'rf"\\g<0>{_GAP}", _ANGLE.sub(f"<{_GAP}", text))',
        'rf"\\g<0>{_GAP}", text)',
        "no word is a mention or a link in angle brackets",
        (f"{DISCORD_SHOWN}::test_a_mention_or_link_stays_words_wherever_it_is_planted",),
    ),
    Mutant(
        "let bare URLs stand on Discord",
        "adapters/discord/outbound.py",
        '    text = without_links(visible(text)).replace("://", f":{_GAP}//")\n',
        "    text = visible(text)\n",
        "links come from the footnotes alone",
        (f"{DISCORD_SHOWN}::test_a_mention_or_link_stays_words_wherever_it_is_planted",),
    ),
    Mutant(
        "name a thread as it was asked",
        "adapters/discord/outbound.py",
        "    name = plain_text(text, disarm, without_pings).strip()\n",
        "    name = plain_text(text).strip()\n",
        "the name of a thread calls nobody and leads nowhere",
        (f"{DISCORD_SHOWN}::test_a_mention_or_link_stays_words_wherever_it_is_planted",),
    ),
    Mutant(
        "fill a channel without an end",
        "adapters/discord/outbound.py",
        "    if len(parts) <= most:\n        return parts\n",
        "    if parts:\n        return parts\n",
        "a model that never ends fills no channel",
        (f"{DISCORD_SHOWN}::test_a_model_that_never_ends_fills_twelve_messages_and_no_more",),
    ),
    Mutant(
        "keep directions and controls",
        "adapters/chat/markdown/layout.py",
        '    return _CONTROLS.sub("", _LINE_ENDS.sub("\\n", text))\n',
        '    return _LINE_ENDS.sub("\\n", text)\n',
        "no text looks like another",
        (
            "tests/unit/adapters/chat/test_discord.py::"
            "test_bidirectional_controls_are_gone_even_from_code",
        ),
    ),
    # --- what is sent to Slack -------------------------------------------------------------
    Mutant(
        "keep Slack's default retry handlers",
        "adapters/slack/client.py",
        "session=session, retry_handlers=[])\n",
        "session=session)\n",
        "a post whose connection broke is not posted twice",
        (f"{SLACK_FAULTS}::test_whatever_happens_to_a_call_there_is_one_whole_answer",),
    ),
    Mutant(
        "skip mention escaping in the fallback text",
        "adapters/slack/outbound.py",
        '    return controls_escaped(short[0]) if short else "…"\n',
        '    return short[0] if short else "…"\n',
        "what a notification shows calls nobody",
        (f"{SLACK_SHOWN}::test_a_mention_or_link_stays_words_wherever_it_is_planted",),
    ),
    Mutant(
        "skip mention escaping in the blocks",
        "adapters/slack/outbound.py",
        "        text = markdown_escaped(parts.before, escape_code=escape_code)\n",
        "        text = parts.before\n",
        "an answer calls nobody",
        (f"{SLACK_SHOWN}::test_a_mention_or_link_stays_words_wherever_it_is_planted",),
    ),
    Mutant(
        "skip escaping in what a stream shows",
        "adapters/slack/outbound.py",
        "    return divided(_below_question(asked, body)).before.rstrip()",
        "    return _below_question(asked, body).rstrip()",
        "an answer that grows calls nobody",
        (f"{LINKS}::test_nothing_that_grows_on_slack_has_a_control_of_slacks",),
    ),
    Mutant(
        "skip escaping in small print",
        "adapters/slack/mrkdwn.py",
        '    return "".join(_ENTITIES.get(character, character) for character in shown)\n',
        "    return shown\n",
        "titles and notices call nobody",
        (f"{SLACK_SHOWN}::test_a_mention_or_link_stays_words_wherever_it_is_planted",),
    ),
    Mutant(
        "let Slack fetch previews",
        "adapters/slack/rest.py",
        '    "unfurl_links": False,\n    "unfurl_media": False,\n}\n',
        "}\n",
        "nothing is fetched for a preview",
        (f"{SENT}::test_every_message_to_slack_finds_no_names_and_fetches_no_preview",),
    ),
    Mutant(
        "let Slack find names",
        "adapters/slack/rest.py",
        '    "link_names": False,\n    "parse": "none",\n',
        "",
        "no name becomes a mention",
        (f"{SENT}::test_every_message_to_slack_finds_no_names_and_fetches_no_preview",),
    ),
    # --- whose lease it is -----------------------------------------------------------------
    Mutant(
        "send to Slack without the lease",
        "adapters/slack/client.py",
        "        self._check()\n        try:\n            answer = await super().api_call(",
        "        try:\n            answer = await super().api_call(",
        "who lost an event sends nothing more",
        (f"{SLACK_REPLIES}::test_who_lost_the_lease_sends_nothing_more",),
    ),
    # --- what Slack sends ------------------------------------------------------------------
    Mutant(
        "ack before commit",
        "adapters/slack/events.py",
        "        if not accepting.done():\n            return BoltResponse(status=NOT_YET)\n",
        "        if not accepting.done():\n            return None\n",
        "Slack is told that an event is taken in when the database has it",
        (f"{ACKS}::test_slack_is_told_nothing_before_the_database_has_it",),
    ),
    Mutant(
        "compare a signature after re-serialising",
        "adapters/slack/http.py",
        "            check.feed(part)\n",
        "            check.feed(json.dumps(json.loads(part)).encode())\n",
        "exactly what was signed is taken in",
        (f"{OVER_HTTP}::test_a_body_that_was_changed_or_written_anew_is_refused",),
    ),
    Mutant(
        "log the request body",
        "adapters/slack/http.py",
        "        body = await self._signed(request)\n",
        '        body = await self._signed(request)\n        logger.info("an event: %s", body)\n',
        "no message text is in the log",
        ("tests/wire/test_no_secrets.py::test_no_text_of_a_message_is_logged",),
    ),
    Mutant(
        "take signatures of the future",
        "adapters/slack/http.py",
        "        if abs(late) > _WINDOW:\n",
        "        if late > _WINDOW:\n",
        "a signature is good for five minutes",
        (f"{SIGNING}::test_a_request_is_recent_by_slacks_clock_whatever_ours_shows",),
    ),
    Mutant(
        "take signatures of any age",
        "adapters/slack/http.py",
        "            self._tell(late)\n            return False\n",
        "            self._tell(late)\n",
        "what was recorded cannot be sent again later",
        (f"{SIGNING}::test_a_request_is_recent_by_slacks_clock_whatever_ours_shows",),
    ),
    Mutant(
        "sign the body without its time",
        "adapters/slack/http.py",
        'b"v0:" + timestamp.encode() + b":"',
        'b"v0:" + b":"',
        "the time of a request is signed, too",
        (f"{SIGNING}::test_what_slack_signs_is_slacks",),
    ),
    Mutant(
        "take an empty signing secret",
        "adapters/slack/http.py",
        "        if not secret:\n",
        "        if False:\n",
        "without a secret nothing is taken in",
        (f"{SIGNING}::test_without_a_secret_there_is_nothing_to_check_with",),
    ),
    Mutant(
        "read a body of any size",
        "adapters/slack/http.py",
        "_LARGEST_CHECKED = 16_000_000\n",
        "_LARGEST_CHECKED = 1_000_000_000\n",
        "a huge body is refused before it is read",
        (f"{OVER_HTTP}::test_a_huge_body_is_refused_before_it_is_read",),
    ),
    # --- what cannot be read ---------------------------------------------------------------
    Mutant(
        "refuse a question for what is odd about its message",
        "adapters/discord/payloads.py",
        '        edited_at=moment(said.get("edited_timestamp")),\n',
        '        edited_at=datetime.fromisoformat(said.get("edited_timestamp") or "2026-01-01"),\n',
        "a question is answered whatever else its message holds",
        (f"{RAW}::test_a_question_is_heard_whatever_else_is_odd",),
    ),
    Mutant(
        "take what is said in a server for a direct message",
        "adapters/discord/payloads.py",
        '        raise UnreadableEvent("guild_id")\n',
        "        return None\n",
        "a course is told in its own server",
        (f"{RAW}::test_what_is_said_in_a_server_is_never_taken_for_a_direct_message",),
    ),
    Mutant(
        "log what cannot be read with its text",
        "adapters/chat/acceptor.py",
        "            exc_info=without_text(error),\n",
        "            exc_info=error,\n",
        "no message text is in the log",
        (f"{UNREADABLE}::test_a_failure_is_contained_logged_and_counted",),
    ),
    Mutant(
        "count events by whatever they call themselves",
        "adapters/chat/acceptor.py",
        "kind if kind in self._events else OTHER",
        "kind",
        "nobody fills the metrics with names",
        (f"{UNREADABLE}::test_the_labels_are_few_whatever_an_event_calls_itself",),
    ),
    # --- who is answered -------------------------------------------------------------------
    Mutant(
        "accept bots' messages on Discord",
        "adapters/discord/inbound.py",
        "    return message.author.bot or message.by_webhook or message.kind",
        "    return message.kind",
        "two bots that answer each other end",
        ("tests/unit/adapters/discord/test_inbound.py::test_no_bot_and_no_webhook_is_heard",),
    ),
    Mutant(
        "accept bots' messages on Slack",
        "adapters/slack/inbound.py",
        "    if from_app and origin.me not in everybody:\n        return None",
        "    if False:\n        return None",
        "two apps that answer each other end",
        (f"{SLACK_HEARD}::test_what_is_no_persons_word_is_not_heard",),
    ),
    Mutant(
        "answer itself on Slack",
        "adapters/slack/inbound.py",
        '    ours = origin.me in (author, event.get("user")) or _is_own(event, origin)\n',
        "    ours = False\n",
        "the bot does not answer itself",
        (f"{SLACK_HEARD}::test_what_is_no_persons_word_is_not_heard",),
    ),
    Mutant(
        "answer guests and other apps unasked",
        "adapters/chat/front_desk.py",
        "        if incoming.outsider and not rules.outsiders:\n            return None\n",
        "",
        "the book is for the course's own people",
        (
            "tests/wire/test_slack_bot_guests.py::"
            "test_other_apps_and_guests_are_not_answered_unless_staff_allow_it",
        ),
    ),
    Mutant(
        "answer everybody where staff alone may ask",
        "adapters/chat/arrivals.py",
        '        if rules.askers is Askers.STAFF and role != "staff" and not about_me:\n',
        "        if False:\n",
        "staff say who may ask",
        (f"{DESK}::test_where_staff_only_may_ask_students_are_told_so",),
    ),
    Mutant(
        "answer where it is switched off",
        "adapters/chat/attention.py",
        "        if rules.excluded:\n            return SILENT\n",
        "",
        "staff say where the bot is silent",
        (f"{DESK}::test_in_an_excluded_channel_only_commands_are_told_so",),
    ),
    Mutant(
        "answer what was deleted before it was heard",
        "adapters/chat/front_desk.py",
        " > _MAY_STILL_COME or not await self._inbox.tombstone(unheard):\n",
        " > _MAY_STILL_COME or True:\n",
        "what somebody deleted is neither answered nor kept",
        (f"{DESK}::test_what_was_deleted_before_it_is_heard_is_not_accepted",),
    ),
    Mutant(
        "list the courses to everybody where none is set",
        "adapters/chat/places.py",
        "            if not await is_staff():\n"
        '                return CourseChoice(refusal=text("course-unset-tell"))\n',
        "",
        "a channel without a course lists courses to staff alone",
        (f"{DESK}::test_an_unbound_channel_is_told_how_to_bind_it",),
    ),
    Mutant(
        "ask any course where the channel's is gone",
        "adapters/chat/places.py",
        "            return None  # staff have to choose again",
        "            pass  # staff have to choose again",
        "no course stands in for another",
        (f"{DESK}::test_a_course_that_is_gone_is_not_replaced_by_another",),
    ),
    Mutant(
        "take guests and apps for members",
        "adapters/slack/people.py",
        " or any(found.get(no) for no in _NO_MEMBERS)",
        "",
        "guests and apps are never staff",
        (
            "tests/wire/test_slack_people.py::"
            "test_staff_are_admins_and_who_is_named_for_the_course_that_answers",
        ),
    ),
    Mutant(
        "take who may manage messages for an admin",
        "adapters/discord/members.py",
        "granted.administrator or granted.manage_guild",
        "granted.administrator or granted.manage_messages",
        "moderators of channels set nothing up",
        (
            "tests/unit/adapters/discord/test_members.py::"
            "test_staff_are_admins_and_who_is_named_for_the_course_that_answers",
        ),
    ),
    Mutant(
        "let staff name staff",
        "adapters/actions/settings.py",
        "        return member is not None and member.is_admin\n",
        "        return member is not None\n",
        "who is staff is for admins to say",
        (
            "tests/wire/test_discord_staff_roles.py::"
            "test_staff_name_nobody_and_set_nothing_for_the_whole_server",
        ),
    ),
    Mutant(
        "take another admin for staff",
        "adapters/slack/people.py",
        "not _is_of(home, found) or ",
        "",
        "admins of other workspaces set nothing up in ours",
        ("tests/unit/adapters/slack/test_people.py::test_only_our_own_admins_are_admins",),
    ),
    Mutant(
        "read any linked message",
        "adapters/slack/surroundings.py",
        '            if address.asker in page["members"]:\n',
        '            if page["members"]:\n',
        "what the asker may not read is not read for them",
        (
            "tests/wire/test_slack_bot_threads.py::"
            "test_a_link_into_a_channel_that_the_asker_is_not_in_stays_text",
        ),
    ),
    Mutant(
        "show a linked message to who may not read it",
        "adapters/slack/surroundings.py",
        "        if not is_here and not address.is_private:\n            return False\n",
        "",
        "a private channel is not quoted in another",
        (
            "tests/wire/test_slack_bot_threads.py::"
            "test_a_link_into_another_channel_is_a_quote_only_where_the_asker_alone_sees_the_answer",
        ),
    ),
    # --- who may click ---------------------------------------------------------------------
    Mutant(
        "let anybody share a private answer",
        "adapters/actions/answers.py",
        "        asked = next((one for one in events if one.user_id == clicker.user_id), None)\n",
        "        asked = next(iter(events), None)\n",
        "who asked in private decides who sees it",
        (f"{CLICKS}::test_a_private_answer_is_shared_by_its_asker_alone",),
    ),
    Mutant(
        "let anybody stop an answer",
        "adapters/actions/answers.py",
        "        if event.user_id != clicker.user_id and not await is_staff():\n"
        '            raise Declined(text("answer-not-yours"))\n'
        "        if await self._sessions.turn_of",
        "        if await self._sessions.turn_of",
        "an answer is its asker's and staff's to stop",
        (f"{CLICKS}::test_an_answer_is_stopped_by_its_asker_and_staff_alone",),
    ),
    Mutant(
        "let anybody delete an answer",
        "adapters/actions/answers.py",
        "        if event.user_id != clicker.user_id and not await is_staff():\n"
        '            raise Declined(text("answer-not-yours"))\n'
        "        original",
        "        original",
        "an answer is its asker's and staff's to delete",
        (f"{CLICKS}::test_an_answer_is_deleted_by_its_asker_and_staff_alone",),
    ),
    Mutant(
        "let anybody ask within a section",
        "adapters/actions/answers.py",
        '            raise Declined(text("card-section-not-yours"))\n',
        "            pass\n",
        "a refusal is its asker's",
        (
            "tests/wire/test_discord_sections.py::test_a_section_is_searched_once_and_only_for_who_asked",
        ),
    ),
    # --- several processes -----------------------------------------------------------------
    Mutant(
        "stay connected when another process holds the gateway",
        "adapters/discord/gateway_lease.py",
        "                if not self._holds:\n                    logger",
        "                if False:\n                    logger",
        "two processes are not connected for long",
        (f"{HOLDING}::test_who_lost_the_lease_closes_its_connections",),
    ),
    Mutant(
        "release the gateway while still connected",
        "adapters/discord/gateway_lease.py",
        "            await asyncio.wait({closing}, timeout=_FAREWELL)\n",
        "",
        "the gateway is handed over by who has left it",
        (f"{HOLDING}::test_the_lease_is_released_when_the_connections_are_closed",),
    ),
    Mutant(
        "keep to discord.py's pauses, however long",
        "adapters/discord/gateway_lease.py",
        "                if self._liveness.away_for() > _LONGEST_AWAY:\n",
        "                if False:\n",
        "a Discord that is back is soon heard again",
        (f"{HOLDING}::test_a_connection_that_is_lost_for_long_is_begun_anew",),
    ),
    Mutant(
        "send on a route without a limit of its own what another process was refused",
        "adapters/discord/rest.py",
        "        return (_GLOBAL,)\n",
        "        return ()\n",
        "no request goes into the limit of all requests that another process has met",
        (
            f"{DISCORD_WINDOWS}::test_the_limit_of_all_requests_is_waited_for_on_every_route",
            f"{DISCORD_WINDOWS}"
            "::test_nothing_is_sent_on_any_route_while_the_limit_of_all_requests_is_met_for_long",
        ),
    ),
    Mutant(
        "have the answer to a click wait for the limit of all requests",
        "adapters/discord/rest.py",
        "    if url.scheme in _SOCKETS or _OF_AN_INTERACTION.search(url.path):\n",
        "    if url.scheme in _SOCKETS:\n",
        "what is exempt from a limit does not wait for it",
        (
            f"{DISCORD_WINDOWS}"
            "::test_what_does_not_count_for_the_limit_of_all_requests_does_not_wait_for_it",
        ),
    ),
    Mutant(
        "note how far a shard was heard over a look back that failed",
        "adapters/discord/gateway_lease.py",
        "or self._unfinished.get(shard_id):\n",
        "or False:\n",
        "nothing is noted over a gap",
        (
            "tests/unit/adapters/discord/test_holding.py"
            "::test_nothing_is_noted_over_the_gap_of_a_look_back_that_failed",
        ),
    ),
    Mutant(
        "look up in Slack what another process was refused",
        "adapters/slack/client.py",
        "            elsewhere = await self._shared.seconds_left(window)\n",
        "            pass\n",
        "no call goes into a window that another process knows to be closed",
        (
            "tests/contracts/test_closed_windows.py"
            "::test_what_is_looked_up_in_slack_waits_for_the_same_windows",
        ),
    ),
    Mutant(
        "decorate by bolt's own client",
        "adapters/slack/adapter.py",
        '        context["client"] = clients.with_token(context.bot_token)\n',
        "",
        "what only decorates is left out when Slack takes no more of it",
        (
            "tests/wire/test_slack_bot_agents.py"
            "::test_what_only_decorates_stops_when_slack_takes_no_more_of_it",
        ),
    ),
    Mutant(
        "forget what Slack refused this process",
        "adapters/slack/client.py",
        "        self._until = still_closed | {window: until}\n",
        "        self._until = still_closed\n",
        "a bot on SQLite knows its own refusals",
        (
            "tests/wire/test_slack_bot_agents.py"
            "::test_what_only_decorates_stops_when_slack_takes_no_more_of_it",
        ),
    ),
    Mutant(
        "ask who we are while another process has to wait",
        "adapters/slack/client.py",
        "            await asyncio.sleep(seconds)\n",
        "            break\n",
        "processes that start together do not keep a window closed",
        (
            "tests/contracts/test_closed_windows.py"
            "::test_processes_that_start_together_wait_for_one_anothers_refusals",
        ),
    ),
    Mutant(
        "close a socket with something unacknowledged",
        "adapters/slack/sockets.py",
        "                    await self._acknowledged(self._socket.message_queue)\n",
        "                    pass\n",
        "a rolling restart costs no redelivery",
        (
            "tests/wire/test_slack_sockets.py"
            "::test_all_that_was_told_by_a_socket_is_acknowledged_before_it_is_closed",
        ),
    ),
    Mutant(
        "try one address of a Slack socket for good",
        "adapters/slack/sockets.py",
        "                self.wss_uri = None\n",
        "                pass\n",
        "a socket whose address is used up is replaced",
        (
            "tests/wire/test_slack_sockets.py"
            "::test_an_address_that_is_used_up_is_given_up_for_another_one",
        ),
    ),
    # --- what Slack told nobody ------------------------------------------------------------
    Mutant(
        "look through Slack's history after pauses alone",
        "adapters/slack/catch_up.py",
        "            await self._look(now(), after_pause=False)\n",
        "            pass\n",
        "an event that Slack lost while all seemed well is found",
        (f"{LOOKS}::test_without_a_pause_the_history_is_looked_through_now_and_then",),
    ),
    Mutant(
        "note that all was heard while an event waits for the inbox",
        "adapters/slack/catch_up.py",
        "        if are_given_up and not self._intake.waiting:\n",
        "        if are_given_up:\n",
        "what is not stored yet is not counted as heard",
        (f"{LOOKS}::test_the_cursor_stays_while_an_event_waits_for_the_inbox",),
    ),
    Mutant(
        "count an event that was given up as heard",
        "adapters/chat/acceptor.py",
        "                    self.gave_up = True\n",
        "",
        "what was given up is looked for later",
        (
            "tests/unit/adapters/chat/test_acceptor.py"
            "::test_what_is_given_up_fails_and_is_never_counted_as_heard",
        ),
    ),
    # --- what is stored --------------------------------------------------------------------
    Mutant(
        "keep the turn of a deleted question when it is stored late",
        "adapters/chat/delivery/delivery.py",
        "(is_forgotten or await inbox.is_overtaken(job))",
        "is_forgotten",
        "a process that stood still brings nothing back that was forgotten meanwhile",
        (
            f"{LOST}::test_the_turn_of_a_deleted_question_does_not_come_back",
            f"{LOST}::test_the_turn_of_an_edited_question_does_not_stand_beside_the_new_one",
            f"{LOST}::test_of_two_edits_the_turn_of_the_later_one_stays",
        ),
    ),
    # --- the terminal ----------------------------------------------------------------------
    Mutant(
        "let control characters reach the terminal",
        "adapters/chat/markdown/printable.py",
        '    return _CONTROL.sub("", text)\n',
        "    return text\n",
        "no text steers a terminal",
        ("tests/unit/adapters/test_console.py::test_control_characters_never_reach_the_terminal",),
    ),
)
