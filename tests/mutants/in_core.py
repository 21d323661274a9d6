"""Guards of `core/`."""

from tests.mutants.mutant import Mutant

AGENT = "tests/unit/core/test_agent.py"
COMPOSITION = "tests/unit/core/test_composition.py"
INBOX = "tests/contracts/test_inbox.py"
SESSIONS = "tests/contracts/test_session_store.py"
BUDGETS = "tests/contracts/test_token_budgets.py"
PROMPT = "tests/unit/core/generation/test_prompt.py"
TOOLS = "tests/unit/core/generation/test_tools.py"
QUOTING = "tests/unit/core/grounding/test_quoting.py"
FETCH = "tests/unit/core/ingestion/test_fetch_safety.py"
SANDBOX = "tests/unit/core/ingestion/test_sandbox.py"
CONFINED = "tests/unit/core/ingestion/test_confinement.py"
COURSES = "tests/security/test_courses_apart.py"

IN_CORE = (
    # --- nothing leaves the machine --------------------------------------------------------
    Mutant(
        "let the embedding engine report to its maker",
        "core/embeddings/reports.py",
        'os.environ["ORT_DISABLE_TELEMETRY"] = "1"',
        'os.environ.setdefault("ORT_DISABLE_TELEMETRY", "0")',
        "offline is offline: no library tells anybody that it runs",
        (
            "tests/unit/core/test_no_reports.py::test_no_device_id_and_no_events_are_kept_for_sending",
        ),
    ),
    # --- courses and conversations apart ---------------------------------------------------
    Mutant(
        "drop the course filter",
        "core/catalogue.py",
        "select(EditionRow).where(EditionRow.course_id == course_id))",
        "select(EditionRow).limit(1))",
        "a question is answered from its own course",
        (f"{COURSES}::test_nobody_is_told_anything_of_another_course",),
    ),
    Mutant(
        "skip the second course check",
        "core/retrieval/retriever.py",
        "    if chunk.course_id != course.course_id or chunk.generation != shelf.",
        "    if False and chunk.generation != shelf.",
        "what an index returns of another course is dropped",
        (f"{AGENT}::test_a_chunk_of_another_course_or_edition_never_appears",),
    ),
    Mutant(
        "skip the course check of quotes",
        "core/retrieval/locating.py",
        "if (chunk.course_id, chunk.generation) == (edition.course_id, edition.generation):",
        "if chunk.course_id:",
        "what an index returns of another course is not found as a quote",
        (f"{AGENT}::test_a_passage_of_another_course_is_not_found_though_the_index_returns_it",),
    ),
    Mutant(
        "cite what lies off the course's site",
        "core/retrieval/retriever.py",
        "return chunk.source_url is None or is_on_site(chunk.source_url, course.base_url)",
        "return True",
        "links lead to the course's own site",
        (f"{AGENT}::test_a_chunk_of_another_course_or_edition_never_appears",),
    ),
    Mutant(
        "take any path for the course's site",
        "core/models/course.py",
        'return _place(mine) == _place(site) and (mine.path or "/").startswith(folder)',
        'return (mine.path or "/").startswith(folder)',
        "links lead to the course's own host",
        ("tests/unit/core/test_domain_model.py::test_another_host_or_place_is_not",),
    ),
    Mutant(
        "forget the section of a search",
        "core/index/shard.py",
        "    return edge.Filter(must=conditions) if conditions else None",
        "    return None",
        "a search in a section stays in it",
        ("tests/contracts/test_vector_index.py::test_section_and_document_filters_apply_together",),
    ),
    Mutant(
        "mix two editions in one answer",
        "core/composition.py",
        "            return []  # the book was replaced in mid-answer: an answer has one edition\n",
        "            pass\n",
        "an answer rests on one edition",
        (f"{COMPOSITION}::test_a_second_look_into_another_edition_is_not_mixed_in",),
    ),
    Mutant(
        "let a session change its course",
        "core/sessions/store.py",
        "    if course_id != asked:\n",
        "    if False:\n",
        "a conversation belongs to one course",
        (
            f"{SESSIONS}::test_a_session_of_another_course_takes_no_turn",
            f"{AGENT}::test_the_session_of_another_course_is_refused",
        ),
    ),
    Mutant(
        "recall the turns of every session",
        "core/sessions/store.py",
        "    return select(TurnRow).where(TurnRow.session_id == session_id)\n",
        "    return select(TurnRow)\n",
        "conversations know nothing of one another",
        (f"{SESSIONS}::test_sessions_never_see_one_anothers_turns",),
    ),
    # --- what a model says -----------------------------------------------------------------
    Mutant(
        "skip the verification of quotes",
        "core/grounding/citations.py",
        "        return Place(chunk_number, *span) if span else None\n",
        "        return Place(chunk_number, *(span or (0, 1)))\n",
        "quoted words stand in the book",
        (
            f"{AGENT}::test_a_quote_that_is_not_in_its_chunk_is_dropped",
            f"{COMPOSITION}::test_a_quote_that_does_not_stand_in_its_chunk_has_no_place",
        ),
    ),
    Mutant(
        "believe every quote that was found",
        "core/composition.py",
        '        self._misquote = misquote_of(request.selected_text or "", passages)\n',
        "",
        "a quote that says otherwise than the book is told",
        (
            f"{COMPOSITION}"
            "::test_a_quote_without_the_denial_of_its_sentence_is_told_with_the_whole_sentence",
        ),
    ),
    Mutant(
        "take halves of words for quotes",
        "core/grounding/quoting.py",
        "        if all(book.holds_word_border(content, border) for border in borders):\n",
        "        if borders:\n",
        "a quote is of whole words",
        (f"{QUOTING}::test_other_words_halves_of_words_and_scraps_are_not_found",),
    ),
    Mutant(
        "let the model's URL through",
        "core/grounding/citations.py",
        "    text = without_links(text.strip())\n",
        "    text = text.strip()\n",
        "links come from the citation table alone",
        (f"{COMPOSITION}::test_no_url_of_the_book_or_of_a_writer_reaches_the_answer",),
    ),
    Mutant(
        "let javascript: and data: through",
        "core/text/links.py",
        "javascript|vbscript|data|mailto",
        "vbscript|mailto",
        "no scheme that acts reaches a reader",
        ("tests/security/test_sent_links.py::test_no_active_scheme_is_left_in_what_is_sent",),
    ),
    Mutant(
        "keep markers that a model wrote",
        "core/grounding/citations.py",
        '    return _BRACKETED_NUMBER.sub(r"(\\1)", plain)\n',
        "    return plain\n",
        "only code numbers citations",
        (f"{COMPOSITION}::test_marks_of_the_book_that_look_like_citations_are_not",),
    ),
    Mutant(
        "believe what its quote does not carry",
        "core/drafting.py",
        "            flaw = support.flaw\n",
        "            flaw = None\n",
        "a claim says no more than its quote",
        (f"{AGENT}::test_what_its_quote_does_not_carry_is_not_told",),
    ),
    Mutant(
        "tell what is not cited",
        "core/drafting.py",
        "            flaw: Flaw | None = Flaw.UNCITED\n",
        "            flaw: Flaw | None = None\n",
        "every sentence has a source",
        (f"{AGENT}::test_a_writer_that_cites_nothing_is_not_believed",),
    ),
    Mutant(
        "show what was not checked",
        "core/drafting.py",
        "claim = replace(claim, text=shown_prose(claim.text))  # what is checked is what is shown",
        "pass",
        "no link or tag of a model's prose is shown",
        (f"{AGENT}::test_what_a_model_links_to_is_shown_without_its_target",),
    ),
    # --- what a model is told --------------------------------------------------------------
    Mutant(
        "fence every request alike",
        "core/generation/prompt.py",
        "    return secrets.token_hex(8)\n",
        '    return "0123456789abcdef"\n',
        "nobody can write the fence of a prompt into a text before",
        (f"{PROMPT}::test_each_request_has_a_mark_of_its_own",),
    ),
    Mutant(
        "tell material unescaped",
        "core/generation/prompt.py",
        'return f"<{tag}{told}>\\n{escape(visible(text)).strip()}\\n</{tag}>"',
        'return f"<{tag}{told}>\\n{visible(text).strip()}\\n</{tag}>"',
        "no text reads like a tag of ours",
        (f"{PROMPT}::test_no_text_closes_its_own_block_or_opens_another",),
    ),
    Mutant(
        "tell the model what nobody sees",
        "core/generation/escaping.py",
        '    return _INVISIBLE.sub("", text)\n',
        "    return text\n",
        "hidden characters carry no instructions",
        (f"{PROMPT}::test_hidden_characters_are_not_told",),
    ),
    Mutant(
        "answer any tool",
        "core/generation/tools.py",
        "    if name != RETRIEVE:\n",
        "    if False:\n",
        "a model has one tool",
        (f"{TOOLS}::test_an_unknown_tool_is_explained_to_the_model",),
    ),
    Mutant(
        "answer any number of searches",
        "core/generation/tools.py",
        "        if number >= MOST_CALLS:\n",
        "        if False:\n",
        "a model searches a few times at most",
        (f"{TOOLS}::test_only_three_calls_are_answered_at_a_time",),
    ),
    # --- budgets and fairness --------------------------------------------------------------
    Mutant(
        "never find a budget spent",
        "core/budgets/store.py",
        "if used.get(s, 0) >= limit), None)",
        "if used.get(s, 0) < 0), None)",
        "a spent budget costs nothing more",
        (
            f"{BUDGETS}::test_the_narrowest_spent_budget_is_named",
            f"{AGENT}::test_a_spent_budget_leaves_the_books_own_sentences_and_a_line_that_says_so",
        ),
    ),
    Mutant(
        "spend what cannot be counted",
        "core/writing.py",
        "            return self._fallback  # nothing is spent that cannot be counted\n",
        "            return self.generator\n",
        "nothing is spent while the budgets cannot be read",
        ("tests/security/test_budgets.py::test_nothing_is_spent_that_cannot_be_counted",),
    ),
    Mutant(
        "let forgetting refill a budget",
        "core/budgets/store.py",
        "delete(TokenUsageRow).where(own, TokenUsageRow.day < day)",
        "delete(TokenUsageRow).where(own)",
        "forgetting oneself is no way round a budget",
        (f"{BUDGETS}::test_forgetting_is_no_way_round_the_budget_of_the_day",),
    ),
    Mutant(
        "accept any number of questions",
        "core/inbox/limits.py",
        "        if now[user] > self._limits.user_per_minute:\n",
        "        if False:\n",
        "one user asks so much in a minute and no more",
        (f"{INBOX}::test_a_user_too_fast_is_told_once_a_minute",),
    ),
    Mutant(
        "let one user take all places",
        "core/inbox/claiming.py",
        "        row.user_id.not_in(_busy(limits.user_in_flight, held.c.user_id)),\n",
        "",
        "one user's questions leave room for others'",
        (
            "tests/security/test_fairness.py::test_one_user_has_two_answers_under_way_wherever_they_ask",
        ),
    ),
    Mutant(
        "queue a spammer before others",
        "core/inbox/claiming.py",
        "query.order_by(row.round, row.channel_round, row.accepted_at, row.key)",
        "query.order_by(row.accepted_at, row.key)",
        "a spammer delays nobody",
        (f"{INBOX}::test_a_spammer_of_a_thousand_delays_nobody",),
    ),
    # --- once, in order, by its holder -----------------------------------------------------
    Mutant(
        "remove the fence check",
        "core/inbox/store.py",
        "InboxRow.key == job.arrival.key, InboxRow.fence == job.fence, is_waiting())",
        "InboxRow.key == job.arrival.key, is_waiting())",
        "who lost an event writes nothing more",
        (f"{INBOX}::test_after_its_lease_an_event_is_taken_over",),
    ),
    Mutant(
        "claim without a new fence",
        "core/inbox/claiming.py",
        ".values(fence=InboxRow.fence + 1, lease_until=moment + lease)",
        ".values(lease_until=moment + lease)",
        "each holder has a number of its own",
        (f"{INBOX}::test_after_its_lease_an_event_is_taken_over",),
    ),
    Mutant(
        "keep no order in a lane",
        "core/inbox/claiming.py",
        "        ~_has_one_before(row),\n",
        "",
        "a thread is answered in its order",
        (f"{INBOX}::test_a_lane_is_answered_in_the_platforms_order_one_by_one",),
    ),
    Mutant(
        "answer two of a lane at once",
        "core/inbox/claiming.py",
        "        row.lane.not_in(select(held.c.lane)),\n",
        "",
        "a turn knows the turns before it",
        (f"{INBOX}::test_a_late_event_waits_for_the_one_under_way",),
    ),
    Mutant(
        "store a turn twice",
        "core/sessions/store.py",
        '.on_conflict_do_nothing(index_elements=["request_id"])',
        "",
        "a request has one turn",
        (f"{SESSIONS}::test_the_same_request_twice_is_one_turn",),
    ),
    # --- what is stored and told -----------------------------------------------------------
    Mutant(
        "store tokens in the clear",
        "core/inbox/store.py",
        "        token = self._seal(arrival.token) if arrival.token is not None else None\n",
        "        token = arrival.token.encode() if arrival.token is not None else None\n",
        "a token at rest is sealed",
        (f"{INBOX}::test_a_token_is_sealed_and_gone_when_it_has_expired",),
    ),
    Mutant(
        "keep what was asked beside its turn",
        "core/inbox/accepting.py",
        '    "request": None,\n    "refusal": None,\n    "token": None,\n',
        '    "token": None,\n',
        "a question is stored in one place",
        (f"{INBOX}::test_what_was_asked_is_blanked_at_the_end",),
    ),
    Mutant(
        "remember where a forgotten user asked",
        "core/inbox/forgetting.py",
        '"address": {}, "session_id": None}',
        '"session_id": None}',
        "nothing is left of who wants to be forgotten",
        (f"{INBOX}::test_a_forgotten_user_leaves_keys_only",),
    ),
    Mutant(
        "keep the turns of a forgotten user",
        "core/sessions/store.py",
        "== user_id)\n        .values(user_id=FORGOTTEN_USER, content=None)",
        "== user_id)\n        .values(user_id=FORGOTTEN_USER)",
        "nothing is left of what they asked",
        (f"{SESSIONS}::test_a_user_leaves_no_trace_and_others_keep_theirs",),
    ),
    Mutant(
        "show parameters in errors of the database",
        "core/database.py",
        '{"hide_parameters": True, ',
        '{"hide_parameters": False, ',
        "no text of a question is in an error",
        (
            "tests/unit/core/test_database.py::"
            "test_a_failing_statement_is_a_store_error_without_its_parameters",
        ),
    ),
    # --- documents and addresses -----------------------------------------------------------
    Mutant(
        "check the first address alone",
        "core/ingestion/pinned.py",
        "        for address in addresses:\n            if not (is_public",
        "        for address in addresses[:1]:\n            if not (is_public",
        "no document is fetched from inside",
        (f"{FETCH}::test_a_name_with_any_address_inside_is_refused",),
    ),
    Mutant(
        "look the host up again to connect",
        "core/ingestion/pinned.py",
        "            target.url.copy_with(host=str(address)),\n",
        "            target.url,\n",
        "what is checked is what is connected to",
        (f"{FETCH}::test_a_public_name_is_fetched_from_the_address_that_was_checked",),
    ),
    Mutant(
        "obey the proxies of the environment",
        "core/ingestion/pinned.py",
        "httpx.AsyncHTTPTransport(trust_env=False)",
        'httpx.AsyncHTTPTransport(proxy=__import__("os").environ.get("HTTP_PROXY"))',
        "no proxy leads elsewhere",
        (f"{FETCH}::test_proxies_of_the_environment_are_ignored",),
    ),
    Mutant(
        "follow from https to http",
        "core/ingestion/targets.py",
        'if self.url.scheme == "https" and target.url.scheme == "http":',
        "if False:",
        "a redirect takes no encryption away",
        (f"{FETCH}::test_a_redirect_from_https_to_http_is_not_followed",),
    ),
    Mutant(
        "take a shared address for public",
        "core/ingestion/addresses.py",
        "    return address.is_global and not address.is_multicast\n",
        "    return not address.is_loopback\n",
        "private networks are not public",
        (
            "tests/unit/core/ingestion/test_addresses.py::"
            "test_special_purpose_addresses_are_not_public",
        ),
    ),
    Mutant(
        "give the parser our environment",
        "core/ingestion/parser_process.py",
        "                env=_environment(),\n",
        "                env={**os.environ, **_environment()},\n",
        "a parser sees no secrets",
        (f"{SANDBOX}::test_the_child_sees_no_secrets",),
    ),
    Mutant(
        "let the parser use any memory",
        "core/ingestion/child.py",
        "    limit_resources()\n",
        "",
        "a bomb ends at one gibibyte",
        ("tests/security/test_parser_limits.py::test_the_kernel_bounds_the_child",),
    ),
    Mutant(
        "let the parser reach the network",
        "core/ingestion/child.py",
        "    hook.install()\n",
        "",
        "a document opens no connection and no file",
        ("tests/security/test_parser_limits.py::test_the_child_keeps_its_hook_to_the_end",),
    ),
    Mutant(
        "include hidden files",
        "core/ingestion/confinement.py",
        '    return not any(part.startswith(".") for part in real.relative_to(root).parts)\n',
        "    return True\n",
        "a page includes no hidden file",
        (f"{CONFINED}::test_a_page_cannot_include_what_is_not_its_courses",),
    ),
    Mutant(
        "read what a page hides",
        "core/ingestion/formats/html_visibility.py",
        '    if "hidden" in attributes:\n        return True\n',
        "",
        "hidden text is not part of a book",
        ("tests/unit/core/ingestion/test_html.py::test_hidden_text_is_left_out",),
    ),
    # --- several processes -----------------------------------------------------------------
    Mutant(
        "take a turn that somebody has",
        "core/leases.py",
        "upsert = self._upsert(name, until, LeaseRow.until <= moment)",
        "upsert = self._upsert(name, until)",
        "what is held is nobody else's",
        ("tests/contracts/test_leases.py::test_a_name_is_taken_by_one_until_it_runs_out",),
    ),
    Mutant(
        "take a lease that somebody holds",
        "core/leases.py",
        "select(row.name).where(row.name.in_(free), row.until <= moment)",
        "select(row.name).where(row.name.in_(free))",
        "what another process has just taken is not taken again",
        ("tests/contracts/test_leases.py::test_what_has_just_been_taken_is_not_taken_again",),
    ),
    Mutant(
        "hand over to a process that has only joined",
        "core/leases.py",
        "[size for holder, size in sizes.items() if members[holder]]",
        "[*sizes.values()]",
        "a process that dies as often as it starts takes nothing away",
        (
            "tests/contracts/test_leases.py"
            "::test_processes_that_die_as_they_start_take_nothing_away",
        ),
    ),
    Mutant(
        "leave free what only the dead want",
        "core/leases.py",
        "max(self._wanted(sizes, len(keys)), self._left_over(free, moment))",
        "self._wanted(sizes, len(keys))",
        "nothing stays free that somebody alive could hold",
        (
            "tests/contracts/test_leases.py"
            "::test_what_is_handed_over_to_a_process_that_has_died_is_taken_back",
        ),
    ),
    Mutant(
        "release what another process holds",
        "core/leases.py",
        "ours = (LeaseRow.name == _key(group, name), LeaseRow.holder == self._holder)",
        "ours = (LeaseRow.name == _key(group, name),)",
        "what is held is its holder's to release",
        ("tests/contracts/test_leases.py::test_what_somebody_has_is_not_released_by_another",),
    ),
    Mutant(
        "trust any certificate of a Qdrant server",
        "core/index/qdrant_connection.py",
        "                verify=verified,",
        "                verify=False,",
        "a key is sent to nobody but the server",
        (
            "tests/wire/test_qdrant_tls.py::test_an_authority_that_signed_nothing_is_told_by_the_doctor",
        ),
    ),
    Mutant(
        "keep for good where a rate limit was used up",
        "core/retention.py",
        "[(_counts, moment - _COUNTED_FOR), (_windows, moment - KEPT)]",
        "[(_counts, moment - _COUNTED_FOR)]",
        "the id of direct messages is gone soon after they are forgotten",
        (
            "tests/contracts/test_retention.py"
            "::test_a_rate_limit_that_was_used_up_a_while_ago_is_forgotten",
        ),
    ),
)
