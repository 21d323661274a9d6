"""Guards of `core/`."""

from tests.mutants.mutant import Mutant

ACCESS = "tests/unit/core/access/test_reading.py"
AGENT = "tests/unit/core/answering/test_agent.py"
COMPOSITION = "tests/unit/core/answering/test_answer.py"
INBOX = "tests/contracts/test_inbox.py"
SESSIONS = "tests/contracts/test_session_store.py"
BUDGETS = "tests/contracts/test_token_budgets.py"
RETENTION = "tests/contracts/test_retention.py"
PROMPT = "tests/unit/core/generation/claims/test_prompt.py"
TOOLS = "tests/unit/core/generation/test_tools.py"
READER = "tests/unit/core/generation/claims/test_reader.py"
FETCH = "tests/unit/core/ingestion/test_fetch_safety.py"
SANDBOX = "tests/unit/core/ingestion/test_sandbox.py"
CONFINED = "tests/unit/core/ingestion/test_confinement.py"
COURSES = "tests/security/test_courses_apart.py"

STAFF = "tests/contracts/test_staff_answers.py"
_NOT_THEIRS = (f"{STAFF}::test_nothing_of_a_tenant_is_written_for_another",)

IN_CORE = (
    # --- whose what is written is -------------------------------------------------------------
    Mutant(
        "let any staff revise an answer",
        "core/verified_answers/store.py",
        "        of_tenants(row, [draft.tenant]),\n",
        "",
        "an answer is revised by its own tenant's staff alone",
        _NOT_THEIRS,
    ),
    Mutant(
        "let any staff retire an answer",
        "core/verified_answers/store.py",
        "row.state != VerifiedState.RETIRED.value,\n                of_tenants(row, tenants))",
        "row.state != VerifiedState.RETIRED.value)",
        "an answer is retired by its own tenant's staff alone",
        _NOT_THEIRS,
    ),
    Mutant(
        "let any staff judge wordings",
        "core/verified_answers/store.py",
        "    return select(VerifiedAnswerRow.answer_id)"
        ".where(of_tenants(VerifiedAnswerRow, tenants))\n",
        "    return select(VerifiedAnswerRow.answer_id)\n",
        "wordings are judged by the answer's own staff alone",
        _NOT_THEIRS,
    ),
    Mutant(
        "let guests propose wordings",
        "core/verified_answers/store.py",
        "        of_tenants(answer, tenants),\n",
        "",
        "wordings are proposed among the people of the answer's own staff",
        _NOT_THEIRS,
    ),
    Mutant(
        "count proposed wordings as confirmed",
        "core/verified_answers/base.py",
        "(one.text for one in self.confirmed)",
        "(one.text for one in self.phrasings)",
        "a click is no judgement",
        (f"{STAFF}::test_a_wording_is_kept_once_and_goes_with_its_person",),
    ),
    Mutant(
        "let any staff take a request",
        "core/help_requests/store.py",
        "        own = (row.help_id == help_id, of_tenants(row, tenants))\n",
        "        own = (row.help_id == help_id,)\n",
        "a request is taken by its own tenant's staff alone",
        _NOT_THEIRS,
    ),
    Mutant(
        "let any staff close a request",
        "core/help_requests/store.py",
        "    own = (row.help_id == help_id, of_tenants(row, tenants), free)\n",
        "    own = (row.help_id == help_id, free)\n",
        "a request is closed by its own tenant's staff alone",
        _NOT_THEIRS,
    ),
    Mutant(
        "take votes on answers of other tenants",
        "core/storage/feedback.py",
        "_EVENTS.c.request_id == vote.request_id, of_tenants(_EVENTS.c, tenants))",
        "_EVENTS.c.request_id == vote.request_id,)",
        "an answer takes votes of its own tenant alone",
        (
            "tests/contracts/test_feedback.py::"
            "test_an_answer_that_was_given_in_another_tenant_takes_no_vote",
        ),
    ),
    # --- who may read a course -------------------------------------------------------------
    Mutant(
        "count the staff of one course for all",
        "core/access/staff.py",
        "        one.counts_for(course_id) and _is_of(member, one) for one in named\n",
        "        _is_of(member, one) for one in named\n",
        "staff of one course set nothing up for another",
        (
            "tests/unit/core/access/test_staff.py::"
            "test_who_is_limited_to_a_course_counts_only_where_it_answers",
        ),
    ),
    Mutant(
        "let a person's id name a role",
        "core/access/staff.py",
        "    return named.id in member.holds\n",
        "    return named.id in {*member.holds, member.id}\n",
        "an id names what it is the id of",
        (
            "tests/unit/core/access/test_staff.py::"
            "test_an_id_names_what_it_is_the_id_of_and_nothing_else",
        ),
    ),
    Mutant(
        "let a granted course be read by all tenants",
        "core/access/reading.py",
        "(course.course_id, tenant) in permits.grants",
        "course.course_id in {granted for granted, _ in permits.grants}",
        "a grant opens a course to its tenant alone",
        (f"{ACCESS}::test_a_grant_opens_a_course_to_its_tenant_alone",),
    ),
    Mutant(
        "let every tenant read the operator's courses",
        "core/access/reading.py",
        "    if course.tenant is None and is_home(reader, permits):\n",
        "    if course.tenant is None:\n",
        "a tenant that comes later reads nothing of the operator's",
        (f"{ACCESS}::test_a_course_is_open_for_one_of_five_reasons_and_for_no_other",),
    ),
    Mutant(
        "let the operator's tenants read what others own",
        "core/access/reading.py",
        "    if course.tenant is None and is_home(reader, permits):\n",
        "    if is_home(reader, permits):\n",
        "a tenant's own course is its own",
        (f"{ACCESS}::test_a_tenants_own_course_is_not_the_other_homes",),
    ),
    Mutant(
        "make every tenant the operator's own",
        "core/access/store.py",
        "    is_first = not db.scalar(",
        "    is_first = True or db.scalar(",
        "the first tenant alone is the operator's own",
        (
            "tests/contracts/test_access.py::test_the_first_tenant_of_each_platform_is_the_operators_own",
        ),
    ),
    Mutant(
        "let chat lift what the file restricts",
        "core/storage/channels/rules.py",
        "not (locked or restricted)",
        "not locked",
        "chat lifts nothing that the operator's file restricts",
        (
            "tests/unit/core/channels/test_rules.py::test_chat_lifts_nothing_that_the_file_restricts",
        ),
    ),
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
        "core/storage/catalogue.py",
        "select(EditionRow).where(EditionRow.course_id == course_id))",
        "select(EditionRow).limit(1))",
        "a question is answered from its own course",
        (f"{COURSES}::test_nobody_is_told_anything_of_another_course",),
    ),
    Mutant(
        "skip the second course check",
        "core/retrieval/editions/open_edition.py",
        "return is_of(self.edition, chunk) and self._is_on_site(chunk)",
        "return self._is_on_site(chunk)",
        "what an index returns of another course is dropped",
        (f"{AGENT}::test_a_chunk_of_another_course_or_edition_never_appears",),
    ),
    Mutant(
        "skip the course check of quotes",
        "core/retrieval/quote_location/windows.py",
        "found += runs(opened.own(c for c in chunks if c.document_id not in part.hidden))",
        "found += runs(c for c in chunks if c.document_id not in part.hidden)",
        "what an index returns of another course is not found as a quote",
        (f"{AGENT}::test_a_passage_of_another_course_is_not_found_though_the_index_returns_it",),
    ),
    Mutant(
        "cite what lies off the course's site",
        "core/retrieval/editions/open_edition.py",
        "return chunk.source_url is None or is_on_site(chunk.source_url, self.course.base_url)",
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
        "core/index/embedded/edge_query.py",
        "            return edge.Filter(must=self._must) if self._must else None",
        "            return None",
        "a search in a section stays in it",
        ("tests/contracts/test_vector_index.py::test_section_and_document_filters_apply_together",),
    ),
    Mutant(
        "mix two editions in one answer",
        "core/answering/material.py",
        "            return []  # the book was replaced in mid-answer: an answer has one edition\n",
        "            pass\n",
        "an answer rests on one edition",
        (f"{COMPOSITION}::test_a_second_look_into_another_edition_is_not_mixed_in",),
    ),
    Mutant(
        "let a session change its course",
        "core/storage/sessions/store.py",
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
        "core/storage/sessions/store.py",
        "    return select(TurnRow).where(TurnRow.session_id == session_id)\n",
        "    return select(TurnRow)\n",
        "conversations know nothing of one another",
        (f"{SESSIONS}::test_sessions_never_see_one_anothers_turns",),
    ),
    # --- what a model says -----------------------------------------------------------------
    Mutant(
        "skip the verification of quotes",
        "core/grounding/citations.py",
        "        if not self.evidence[chunk_number].content_text.startswith(quote, start):\n",
        "        if False:\n",
        "quoted words stand in the book",
        (
            f"{AGENT}::test_a_quote_that_is_not_in_its_chunk_is_dropped",
            f"{COMPOSITION}::test_a_quote_that_does_not_stand_in_its_chunk_has_no_place",
        ),
    ),
    Mutant(
        "believe every quote that was found",
        "core/answering/answer.py",
        "self._differences = differences(quote, passages)",
        "self._differences = []",
        "a quote that says otherwise than the book is told",
        (f"{COMPOSITION}::test_what_a_quote_has_otherwise_is_told_with_the_whole_sentence",),
    ),
    Mutant(
        "believe a number that no sentence has",
        "core/generation/claims/sentences.py",
        "        if any(not 1 <= number <= len(self) for number in numbers):\n",
        "        numbers = [n for n in numbers if 1 <= n <= len(self)]\n        if False:\n",
        "a claim names sentences that there are",
        (f"{READER}::test_a_number_that_no_sentence_has_makes_a_claim_unknown",),
    ),
    Mutant(
        "let the model's URL through",
        "core/grounding/citations.py",
        '_BACKTICK.sub("‘", without_links(text))',
        '_BACKTICK.sub("‘", text)',
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
        "tell what is not cited",
        "core/answering/checks.py",
        "        return Flaw.UNCITED\n",
        "        return None\n",
        "every sentence has a source",
        (f"{AGENT}::test_a_writer_that_cites_nothing_is_not_believed",),
    ),
    Mutant(
        "show what was not checked",
        "core/answering/checks.py",
        "with_code_of(shown_prose(claim.text), words)",
        "with_code_of(claim.text, words)",
        "no link or tag of a model's prose is shown",
        (f"{AGENT}::test_what_a_model_links_to_is_shown_without_its_target",),
    ),
    # --- what a model is told --------------------------------------------------------------
    Mutant(
        "fence every request alike",
        "core/generation/claims/prompt.py",
        "    mark = delimiter or secrets.token_hex(8)\n",
        '    mark = delimiter or "0123456789abcdef"\n',
        "nobody can write the fence of a prompt into a text before",
        (f"{PROMPT}::test_each_request_has_a_mark_of_its_own",),
    ),
    Mutant(
        "fence material with a mark that a text may know",
        "core/generation/claims/prompt.py",
        '    tag = f"{kind}-{mark}"',
        '    tag = f"{kind}-0123456789abcdef"',
        "no text closes its own block",
        (f"{PROMPT}::test_no_text_closes_its_own_block_or_opens_another",),
    ),
    Mutant(
        "tell the model what nobody sees",
        "core/text/characters.py",
        '    return _INVISIBLE.sub("", text)\n',
        "    return text\n",
        "hidden characters carry no instructions",
        (f"{PROMPT}::test_hidden_characters_are_not_told",),
    ),
    Mutant(
        "answer any tool",
        "core/generation/tools.py",
        "    if call.name != RETRIEVE:\n",
        "    if False:\n",
        "a model has one tool",
        (f"{TOOLS}::test_an_unknown_tool_is_explained_to_the_model",),
    ),
    Mutant(
        "answer any number of searches",
        "core/generation/tools.py",
        "for call in calls[:MOST_CALLS]]",
        "for call in calls]",
        "a model searches a few times at most",
        (f"{TOOLS}::test_only_three_calls_are_answered_at_a_time",),
    ),
    # --- budgets and fairness --------------------------------------------------------------
    Mutant(
        "never find a budget spent",
        "core/storage/budgets/store.py",
        "if used.get(s, 0) + held[s] >= limit), None)",
        "if used.get(s, 0) + held[s] < 0), None)",
        "a spent budget costs nothing more",
        (
            f"{BUDGETS}::test_the_narrowest_spent_budget_is_named",
            f"{AGENT}::test_a_spent_budget_leaves_the_books_own_sentences_and_a_line_that_says_so",
        ),
    ),
    Mutant(
        "count nothing for answers under way",
        "core/storage/budgets/store.py",
        "if used.get(s, 0) + held[s] >= limit), None)",
        "if used.get(s, 0) >= limit), None)",
        "one process exceeds a budget by one request at most",
        ("tests/security/test_budgets.py::test_requests_at_once_exceed_a_budget_by_one_in_all",),
    ),
    Mutant(
        "spend what cannot be counted",
        "core/answering/spending.py",
        "            return False  # nothing is spent that cannot be counted\n",
        "            return True\n",
        "nothing is spent while the budgets cannot be read",
        ("tests/security/test_budgets.py::test_nothing_is_spent_that_cannot_be_counted",),
    ),
    Mutant(
        "let forgetting refill a budget",
        "core/storage/budgets/store.py",
        "delete(TokenUsageRow).where(own, TokenUsageRow.day < day)",
        "delete(TokenUsageRow).where(own)",
        "forgetting oneself is no way round a budget",
        (f"{BUDGETS}::test_forgetting_is_no_way_round_the_budget_of_the_day",),
    ),
    Mutant(
        "let a late answer undo a forgetting",
        "core/storage/budgets/store.py",
        "case((forgotten, _FORGOTTEN), else_=row.calls + new.calls)",
        "row.calls + new.calls",
        "the pseudonym of who is forgotten goes when the day ends",
        (f"{BUDGETS}::test_what_is_counted_after_a_user_was_forgotten_leaves_them_forgotten",),
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
        (f"{INBOX}::test_one_user_has_two_in_flight_wherever_they_ask",),
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
        "core/inbox/holding.py",
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
        "core/storage/sessions/store.py",
        '.on_conflict_do_nothing(index_elements=["request_id"])',
        "",
        "a request has one turn",
        (f"{SESSIONS}::test_the_same_request_twice_is_one_turn",),
    ),
    # --- what is stored and told -----------------------------------------------------------
    Mutant(
        "answer that the database is away",
        "core/answering/pipeline.py",
        "        except StoreError:\n            raise\n",
        "",
        "a turn that the database failed is tried again in place of being answered so",
        (f"{AGENT}::test_a_database_that_fails_in_mid_turn_ends_in_no_answer",),
    ),
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
        "core/inbox/rows.py",
        '    "request": None,\n    "refusal": None,\n    "token": None,\n',
        '    "token": None,\n',
        "a question is stored in one place",
        (f"{INBOX}::test_what_was_asked_is_blanked_at_the_end",),
    ),
    Mutant(
        "remember where a forgotten user asked",
        "core/inbox/forgetting.py",
        '    "address": {},\n',
        "",
        "nothing is left of who wants to be forgotten",
        (f"{INBOX}::test_a_forgotten_user_leaves_keys_only",),
    ),
    Mutant(
        "keep the turns of a forgotten user",
        "core/storage/sessions/store.py",
        "== user_id)\n        .values(user_id=FORGOTTEN_USER, content=None)",
        "== user_id)\n        .values(user_id=FORGOTTEN_USER)",
        "nothing is left of what they asked",
        (f"{SESSIONS}::test_a_user_leaves_no_trace_and_others_keep_theirs",),
    ),
    Mutant(
        "show parameters in errors of the database",
        "core/storage/database.py",
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
        "core/ingestion/web/pinned.py",
        "        for address in addresses:\n            if not (is_public",
        "        for address in addresses[:1]:\n            if not (is_public",
        "no document is fetched from inside",
        (f"{FETCH}::test_a_name_with_any_address_inside_is_refused",),
    ),
    Mutant(
        "look the host up again to connect",
        "core/ingestion/web/pinned.py",
        "            target.url.copy_with(host=str(address)),\n",
        "            target.url,\n",
        "what is checked is what is connected to",
        (f"{FETCH}::test_a_public_name_is_fetched_from_the_address_that_was_checked",),
    ),
    Mutant(
        "obey the proxies of the environment",
        "core/ingestion/web/pinned.py",
        "httpx.AsyncHTTPTransport(trust_env=False)",
        'httpx.AsyncHTTPTransport(proxy=__import__("os").environ.get("HTTP_PROXY"))',
        "no proxy leads elsewhere",
        (f"{FETCH}::test_proxies_of_the_environment_are_ignored",),
    ),
    Mutant(
        "follow from https to http",
        "core/ingestion/web/targets.py",
        'if self.url.scheme == "https" and target.url.scheme == "http":',
        "if False:",
        "a redirect takes no encryption away",
        (f"{FETCH}::test_a_redirect_from_https_to_http_is_not_followed",),
    ),
    Mutant(
        "take a shared address for public",
        "core/ingestion/web/addresses.py",
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
        "core/ingestion/sandbox/parser_process.py",
        "                env=_environment(),\n",
        "                env={**os.environ, **_environment()},\n",
        "a parser sees no secrets",
        (f"{SANDBOX}::test_the_child_sees_no_secrets",),
    ),
    Mutant(
        "let the parser use any memory",
        "core/ingestion/sandbox/child.py",
        "    limit_resources()\n",
        "",
        "a bomb ends at one gibibyte",
        ("tests/security/test_parser_limits.py::test_the_kernel_bounds_the_child",),
    ),
    Mutant(
        "let the parser reach the network",
        "core/ingestion/sandbox/child.py",
        "    hook.install()\n",
        "",
        "a document opens no connection and no file",
        ("tests/security/test_parser_limits.py::test_the_child_keeps_its_hook_to_the_end",),
    ),
    Mutant(
        "include hidden files",
        "core/ingestion/sandbox/confinement.py",
        '    return not any(part.startswith(".") for part in real.relative_to(root).parts)\n',
        "    return True\n",
        "a page includes no hidden file",
        (f"{CONFINED}::test_a_page_cannot_include_what_is_not_its_courses",),
    ),
    Mutant(
        "read what a page hides",
        "core/ingestion/formats/html/visibility.py",
        '"hidden" in attributes or _takes_no_space(style)',
        "_takes_no_space(style)",
        "hidden text is not part of a book",
        ("tests/unit/core/ingestion/test_html.py::test_hidden_text_is_left_out",),
    ),
    # --- several processes -----------------------------------------------------------------
    Mutant(
        "take a lease that somebody holds",
        "core/storage/leases.py",
        "free = or_(LeaseRow.until <= moment, LeaseRow.holder == self._holder)",
        "free = LeaseRow.name == name",
        "what is held is nobody else's",
        (
            "tests/contracts/test_leases.py::test_one_process_holds_and_renews_and_the_others_do_not",
        ),
    ),
    Mutant(
        "release what another process holds",
        "core/storage/leases.py",
        "ours = (LeaseRow.name == name, LeaseRow.holder == self._holder)",
        "ours = (LeaseRow.name == name,)",
        "what is held is its holder's to release",
        (
            "tests/contracts/test_leases.py"
            "::test_what_is_released_is_free_at_once_and_only_for_its_holder",
        ),
    ),
    Mutant(
        "trust any certificate of a Qdrant server",
        "core/index/server/qdrant_connection.py",
        "                verify=verified,",
        "                verify=False,",
        "a key is sent to nobody but the server",
        (
            "tests/wire/test_qdrant_tls.py::test_an_authority_that_signed_nothing_is_told_by_the_doctor",
        ),
    ),
    Mutant(
        "keep for good where a rate limit was used up",
        "core/privacy/retention.py",
        "[(_counts, moment - _LIMITS_KEPT), (_windows, moment - _LIMITS_KEPT)]",
        "[(_counts, moment - _LIMITS_KEPT)]",
        "the id of direct messages is gone soon after they are forgotten",
        (f"{RETENTION}::test_a_rate_limit_that_was_used_up_a_while_ago_is_forgotten",),
    ),
    Mutant(
        "keep for good what users used",
        "core/privacy/retention.py",
        ", (_tokens, moment)]",
        "]",
        "what a single user used is known for 90 days",
        (
            f"{RETENTION}::test_what_users_used_is_known_for_90_days_and_the_sums_for_good",
            f"{RETENTION}::test_what_is_left_of_a_forgotten_user_goes_when_the_day_is_over",
        ),
    ),
    Mutant(
        "let an earlier edit overtake a later one",
        "core/inbox/claiming.py",
        "and_(_place(row) > _place(own), row.accepted_at >= own.accepted_at)",
        "row.key != own.key",
        "the turn of an edit is the one that stays",
        (
            "tests/contracts/test_lost_jobs.py"
            "::test_an_edit_before_it_leaves_the_turn_of_an_edit_alone",
        ),
    ),
)
