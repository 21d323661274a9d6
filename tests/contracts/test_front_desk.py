"""What the front desk takes for a question, from whom, and to which course."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.access import Membership, MembershipUnknown, Readers
from adapters.chat.attention import ASKED, Attention, Decision
from adapters.chat.course_directory import CourseDirectory, ListedCourse
from adapters.chat.front_desk import FrontDesk, Received
from adapters.chat.incoming_message import IncomingMessage, PlatformClock
from adapters.chat.places import PlaceResolver, StaffStanding
from adapters.chat.speaking import Band, ChatLine, Intent
from bot.keys import Pseudonyms
from core.domain import EXPLAIN_QUOTE, AnswerLength, ContextMode, Course, i18n, now, session_id_for
from core.domain.errors import DeliveryError
from core.storage.access import Member, NamedStaff, Reader, StaffKind, Tenant, no_member
from core.storage.access_store import AccessStore, Described, Roster, StaffStore
from core.storage.catalogue import Catalogue, Edition, Segment
from core.storage.channels import (
    Askers,
    ChannelRules,
    Conversations,
    Exchanges,
    FollowUps,
    OperatorRules,
    Place,
    Rules,
)
from core.storage.inbox.base import (
    Acceptance,
    DeletedEvent,
    IntakeLimits,
    Kind,
    Posted,
    Settlement,
    request_id_for,
)
from core.storage.inbox.store import Inbox
from core.storage.sessions import SessionStore

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LEASE = timedelta(seconds=15)
CHANNEL = Place("discord", "guild", "channel")
GUILD = Tenant("discord", "guild")


class Shelf(CourseDirectory):
    """A guide to courses that nobody has to ingest."""

    def __init__(self, access: AccessStore, *course_ids: str) -> None:
        super().__init__(None, access, handbook="handbook")  # type: ignore[arg-type]
        self._marks = {course_id: _mark(course_id) for course_id in course_ids}

    async def _all(self) -> dict[str, ListedCourse]:
        return self._marks


def _mark(course_id: str) -> ListedCourse:
    edition = Edition(
        uuid4(), course_id, (Segment(f"c-{course_id}", 2, 10),), "mini", 8, NOON, 10, 2
    )
    return ListedCourse(Course(course_id=course_id, title=course_id.title()), edition)


class ByMarks:
    """Takes a question mark for a question, dots for half of one, and "thank" for thanks."""

    async def decide(self, line: ChatLine) -> Decision:
        if "thank" in line.text:
            return Decision(Intent.THANKS, Band.SPEAK if line.addressed else Band.REACT)
        if line.addressed:
            return ASKED
        marks = {"?": Band.SPEAK, "…": Band.OFFER}
        return Decision(Intent.FOLLOW_UP, marks.get(line.text[-1], Band.SILENT))


class Reception:
    """A front desk over one database, and what it needs to be watched."""

    def __init__(
        self,
        engine: AsyncEngine,
        *courses: str,
        staff: Described | None = None,
        described: Mapping[str, OperatorRules] | None = None,
        members: Callable[[Tenant, str], bool] = lambda *_: True,
        clocks: Mapping[str, PlatformClock] | None = None,
    ) -> None:
        self.staff = StaffStore(engine)
        self.inbox = Inbox(
            engine, seal=str.encode, unseal=bytes.decode, limits=IntakeLimits(user_per_minute=100)
        )
        self.rules = ChannelRules(engine)
        self.conversations = Conversations(engine)
        self.sessions = SessionStore(engine)
        self.access = AccessStore(engine, public=frozenset({"handbook"}))
        self.directory = Shelf(self.access, *courses)

        async def is_member(tenant: Tenant, user: str) -> bool:
            return members(tenant, user)

        def file(platform: str) -> Mapping[str, OperatorRules]:
            return described or {}

        self.readers = Readers(
            self.access,
            described=file,
            with_courses=self.directory.tenants_with_courses,
            membership=Membership(is_member),
        )
        place_resolver = PlaceResolver(self.rules, self.directory, self.readers, file)
        self.standing = StaffStanding(place_resolver, Roster(self.staff, staff or {}))
        self.desk = FrontDesk(
            inbox=self.inbox,
            rules=self.rules,
            conversations=self.conversations,
            sessions=self.sessions,
            pseudonyms=Pseudonyms(b"key"),
            place_resolver=place_resolver,
            standing=self.standing,
            attention=Attention(
                inbox=self.inbox,
                conversations=self.conversations,
                exchanges=Exchanges(engine),
                sessions=self.sessions,
                deciding=ByMarks(),
            ),
            handbook="handbook",
            clocks=clocks,
        )


@pytest.fixture
async def reception(engine: AsyncEngine) -> Reception:
    """A desk at which the guild is the operator's own."""
    reception = Reception(engine, "biology", "handbook")
    await reception.access.meet(GUILD)
    return reception


def incoming(number: int = 1, text: str = "What is a cell?", **changes: Any) -> IncomingMessage:
    message = IncomingMessage(
        key=f"discord:bot:{number}",
        platform="discord",
        workspace="guild",
        channel="channel",
        places=("channel", "category", "guild"),
        position=number,
        user="ann",
        text=text,
        address={"message": number},
        message=str(number),
        addressed=True,
        sent_at=NOON,
    )
    return replace(message, **changes)


async def is_admin(_: frozenset[str]) -> Member:
    return Member("ann", is_admin=True)


def unheard(number: int = 1) -> DeletedEvent:
    return DeletedEvent(f"discord:bot:{number}", "discord", "guild", now())


def in_thread(number: int, text: str = "And what is inside it?", **changes: Any) -> IncomingMessage:
    places = ("thread", "channel", "category", "guild")
    return incoming(
        number, text, **{"thread": "thread", "places": places, "addressed": False} | changes
    )


def refusal(received: Received | None) -> str | None:
    assert received is not None
    return received.arrival.refusal


class TestQuestions:
    async def test_a_mention_is_accepted_with_the_request_it_makes(
        self, reception: Reception
    ) -> None:
        received = await reception.desk.receive(incoming())
        assert received is not None
        assert received.accepted.acceptance is Acceptance.NEW
        request = received.arrival.request
        assert request is not None
        assert request.request_id == request_id_for("discord:bot:1")
        assert request.course_id == "biology"
        assert request.query_text == "What is a cell?"
        assert request.session_id == session_id_for("discord", "guild", "channel", "1")
        assert '"ann"' not in request.model_dump_json()

    async def test_the_same_message_again_is_known(self, reception: Reception) -> None:
        first = await reception.desk.receive(incoming())
        again = await reception.desk.receive(incoming())
        assert first is not None
        assert again is not None
        assert again.accepted.acceptance is Acceptance.KNOWN

    async def test_what_nobody_asked_the_bot_is_passed_over(self, reception: Reception) -> None:
        assert await reception.desk.receive(incoming(addressed=False)) is None

    async def test_a_bare_quote_is_explained(self, reception: Reception) -> None:
        received = await reception.desk.receive(incoming(text="", quote="Cells divide."))
        assert received is not None
        assert received.arrival.request is not None
        assert received.arrival.request.query_text == EXPLAIN_QUOTE
        assert received.arrival.request.context_mode is ContextMode.SELECTED_TEXT
        assert received.arrival.request.selected_text == "Cells divide."

    async def test_a_question_that_cannot_be_asked_is_told_why(self, reception: Reception) -> None:
        assert "question" in (refusal(await reception.desk.receive(incoming(text=""))) or "")
        too_long = await reception.desk.receive(incoming(2, text="why " * 1_100))
        assert "4,000" in (refusal(too_long) or "")

    async def test_an_unknown_membership_is_an_apology_and_no_refusal(
        self, engine: AsyncEngine
    ) -> None:
        def unknown(tenant: Tenant, user: str) -> bool:
            raise DeliveryError("the platform does not answer")

        reception = Reception(engine, "biology", "handbook", members=unknown)
        await reception.access.meet(GUILD)
        direct = incoming(workspace="@me", places=(), direct=True, personal=True)
        received = await reception.desk.receive(direct)
        assert received is not None
        assert received.arrival.refusal == MembershipUnknown.user_message
        assert received.arrival.settles is Settlement.APOLOGISED

    @pytest.mark.costly
    async def test_of_a_long_question_what_it_asks_is_searched_for(
        self, reception: Reception
    ) -> None:
        text = "We read the chapter twice. " * 60 + "How heavy is the bell of the lighthouse?"
        received = await reception.desk.receive(incoming(text=text))
        assert received is not None
        request = received.arrival.request
        assert request is not None
        assert request.query_text == "How heavy is the bell of the lighthouse?"
        assert "".join(one.text for one in request.thread_messages) == text

    async def test_a_direct_message_needs_no_mention(self, reception: Reception) -> None:
        direct = incoming(
            addressed=False,
            direct=True,
            personal=True,
            workspace="@me",
            places=("dm",),
            channel="dm",
        )
        received = await reception.desk.receive(direct)
        assert received is not None
        later = replace(direct, key="discord:bot:2", position=2, sent_at=NOON + timedelta(hours=9))
        anew = await reception.desk.receive(later)
        assert received.arrival.request is not None
        assert anew is not None
        assert anew.arrival.request is not None
        assert anew.arrival.request.session_id != received.arrival.request.session_id

    async def test_a_command_in_a_direct_message_joins_the_conversation_of_the_day(
        self, reception: Reception
    ) -> None:
        direct = incoming(
            addressed=False,
            direct=True,
            personal=True,
            workspace="@me",
            places=("dm",),
            channel="dm",
        )
        await reception.desk.receive(direct)
        later = NOON + timedelta(hours=9)
        anew = await reception.desk.receive(replace(direct, key="k:2", position=2, sent_at=later))
        command = replace(
            direct, key="discord:i:3", position=3, token="t", addressed=True, sent_at=later
        )
        asked = await reception.desk.receive(command)
        assert anew is not None
        assert anew.arrival.request is not None
        assert asked is not None
        assert asked.arrival.request is not None
        assert asked.arrival.request.session_id == anew.arrival.request.session_id

    async def test_a_private_command_is_a_conversation_of_its_own(
        self, reception: Reception
    ) -> None:
        command = incoming(key="discord:i:7", message=None, token="secret", private=True)
        received = await reception.desk.receive(command)
        assert received is not None
        assert received.arrival.request is not None
        own = session_id_for("discord", "guild", "channel", "discord:i:7")
        assert received.arrival.request.session_id == own

    async def test_a_public_command_has_no_session_before_its_thread_is_known(
        self, reception: Reception
    ) -> None:
        command = incoming(key="discord:i:7", message=None, token="secret")
        received = await reception.desk.receive(command)
        assert received is not None
        assert received.arrival.request is not None
        assert received.arrival.request.session_id is None


class TestCourses:
    async def test_the_only_course_serves_every_channel(self, reception: Reception) -> None:
        received = await reception.desk.receive(incoming())
        assert received is not None
        assert received.arrival.request is not None
        assert received.arrival.request.course_id == "biology"

    async def test_without_a_course_the_handbook_answers(self, engine: AsyncEngine) -> None:
        received = await Reception(engine, "handbook").desk.receive(incoming())
        assert received is not None
        assert received.arrival.request is not None
        assert received.arrival.request.course_id == "handbook"

    async def test_of_several_courses_the_bound_one_answers(self, engine: AsyncEngine) -> None:
        reception = Reception(engine, "algebra", "biology", "handbook")
        await reception.rules.set(CHANNEL, Rules(course_id="algebra"))
        received = await reception.desk.receive(incoming())
        assert received is not None
        assert received.arrival.request is not None
        assert received.arrival.request.course_id == "algebra"

    async def test_the_narrowest_place_counts(self, engine: AsyncEngine) -> None:
        described = {
            "guild": OperatorRules(course_id="algebra"),
            "category": OperatorRules(course_id="biology"),
        }
        reception = Reception(engine, "algebra", "biology", described=described)
        received = await reception.desk.receive(incoming())
        assert received is not None
        assert received.arrival.request is not None
        assert received.arrival.request.course_id == "biology"

    async def test_an_unbound_channel_is_told_how_to_bind_it(self, engine: AsyncEngine) -> None:
        reception = Reception(engine, "algebra", "biology", "handbook")
        told = refusal(await reception.desk.receive(incoming(member=is_admin)))
        assert told is not None
        assert "/course" in told
        assert "algebra" in told
        student = refusal(await reception.desk.receive(incoming(2)))
        assert student == i18n.text("course-unset-tell")

    async def test_a_course_that_is_gone_is_not_replaced_by_another(
        self, reception: Reception
    ) -> None:
        await reception.rules.set(CHANNEL, Rules(course_id="history"))
        assert refusal(await reception.desk.receive(incoming())) is not None

    async def test_in_an_excluded_channel_only_commands_are_told_so(
        self, reception: Reception
    ) -> None:
        await reception.rules.set(CHANNEL, Rules(excluded=True))
        assert await reception.desk.receive(incoming()) is None
        command = incoming(2, key="discord:i:2", token="secret", message=None)
        assert refusal(await reception.desk.receive(command)) == i18n.text("asking-not-here")

    @pytest.mark.costly
    async def test_where_staff_only_may_ask_students_are_told_so(
        self, reception: Reception
    ) -> None:
        await reception.rules.set(CHANNEL, Rules(askers=Askers.STAFF))
        assert refusal(await reception.desk.receive(incoming())) == i18n.text("asking-staff-only")
        assert refusal(await reception.desk.receive(incoming(2, member=is_admin))) is None

    async def test_the_edited_question_of_staff_is_a_staff_members_too(
        self, reception: Reception
    ) -> None:
        await reception.rules.set(CHANNEL, Rules(askers=Askers.STAFF))
        asked = incoming(member=is_admin)
        await reception.desk.receive(asked)
        again = asked.as_edit("1", 2)
        assert refusal(await reception.desk.redo(again, original=asked.key)) is None
        by_student = replace(again, key="discord:bot:1:edit:2", member=no_member)
        assert refusal(await reception.desk.redo(by_student, original=asked.key)) == i18n.text(
            "asking-staff-only"
        )

    @pytest.mark.parametrize(("later", "role"), [(False, "staff"), (True, None)])
    async def test_the_request_says_whether_staff_asks_unless_that_is_found_out_later(
        self, reception: Reception, later: bool, role: str | None
    ) -> None:
        received = await reception.desk.receive(incoming(member=is_admin, role_later=later))
        assert received is not None
        assert received.arrival.request is not None
        assert received.arrival.request.user_context.role == role

    async def test_who_is_staff_of_one_course_is_a_student_where_another_answers(
        self, engine: AsyncEngine
    ) -> None:
        tutors = NamedStaff(StaffKind.ROLE, "tutors", "biology")
        reception = Reception(
            engine, "biology", "algebra", staff={Tenant("discord", "guild"): [tutors]}
        )
        reception_rules = Rules(askers=Askers.STAFF, course_id="biology")
        await reception.rules.set(CHANNEL, reception_rules)

        async def tutor(_: frozenset[str]) -> Member:
            return Member("ann", holds=frozenset({"tutors"}))

        assert refusal(await reception.desk.receive(incoming(1, member=tutor))) is None
        other = reception_rules.model_copy(update={"course_id": "algebra"})
        await reception.rules.set(CHANNEL, other)
        assert refusal(await reception.desk.receive(incoming(2, member=tutor))) == i18n.text(
            "asking-staff-only"
        )

    async def test_the_length_that_was_set_is_asked_for(self, reception: Reception) -> None:
        await reception.rules.set(CHANNEL, Rules(answer_length=AnswerLength.SHORT))
        received = await reception.desk.receive(incoming())
        assert received is not None
        assert received.arrival.request is not None
        assert received.arrival.request.answer_length is AnswerLength.SHORT


class TestClocks:
    @pytest.mark.parametrize("minutes", [-30, -2, 0, 2, 30, 600])
    async def test_a_question_is_as_old_as_it_is_whatever_our_clock_shows(
        self, engine: AsyncEngine, minutes: int
    ) -> None:
        """The platform's clock is so many minutes ahead; a question was asked 10 s ago."""
        there = now() + timedelta(minutes=minutes)
        clock = PlatformClock("discord")
        clock.note(format_datetime(there, usegmt=True))
        reception = Reception(engine, "biology", "handbook", clocks={"discord": clock})
        await reception.access.meet(GUILD)
        asked_at = there - timedelta(seconds=10)
        asked = incoming(
            sent_at=asked_at, token="t", token_expires_at=asked_at + timedelta(minutes=15)
        )
        received = await reception.desk.receive(asked)
        assert received is not None
        arrival = received.arrival
        assert arrival.sent_at is not None
        assert arrival.token_expires_at is not None
        slack = timedelta(seconds=5)  # `Date` has whole seconds
        assert abs(now() - arrival.sent_at - timedelta(seconds=10)) < slack
        assert arrival.token_expires_at - arrival.sent_at == timedelta(minutes=15)


class TestThreads:
    async def begun(self, reception: Reception) -> None:
        """Mention the bot in a thread, so that it takes part there."""
        assert await reception.desk.receive(in_thread(1, addressed=True)) is not None

    async def test_a_thread_that_the_bot_takes_part_in_needs_no_mention(
        self, reception: Reception
    ) -> None:
        await self.begun(reception)
        received = await reception.desk.receive(in_thread(2))
        assert received is not None
        assert received.arrival.request is not None
        thread = session_id_for("discord", "guild", "channel", "thread")
        assert received.arrival.request.session_id == thread

    async def test_what_is_only_shown_in_a_thread_is_perhaps_a_question(
        self, reception: Reception
    ) -> None:
        await self.begun(reception)
        shown = in_thread(2, "", quote="Cells divide.", sent_at=now())
        received = await reception.desk.receive(shown)
        assert received is not None
        assert received.arrival.kind is Kind.OFFER
        to_bot = in_thread(3, "", quote="Cells divide.", addressed=True)
        received = await reception.desk.receive(to_bot)
        assert received is not None
        assert received.arrival.kind is Kind.ASK

    async def test_other_threads_do(self, reception: Reception) -> None:
        assert await reception.desk.receive(in_thread(2)) is None

    async def test_an_exchange_of_two_people_is_left_alone_and_nothing_else(
        self, reception: Reception
    ) -> None:
        await self.begun(reception)
        to_ben = in_thread(2, "What do you think?", to_others=True, others=frozenset({"ben"}))
        assert await reception.desk.receive(to_ben) is None
        assert await reception.desk.receive(in_thread(3, "Is it right?", user="ben")) is None
        assert await reception.desk.receive(in_thread(4, "Do you think so?")) is None
        assert await reception.desk.receive(in_thread(5, "And a nucleus?", user="cem")) is not None

    async def test_an_exchange_is_over_when_both_are_silent_for_a_while(
        self, reception: Reception
    ) -> None:
        await self.begun(reception)
        for number, minutes, listens in (
            (2, 0, False),
            (3, 4, False),
            (4, 8, False),
            (5, 14, True),
        ):
            said = NOON + timedelta(minutes=minutes)
            line = in_thread(number, sent_at=said, to_others=number == 2)
            assert (await reception.desk.receive(line) is not None) is listens

    async def test_who_turns_to_the_bot_has_left_the_exchange(self, reception: Reception) -> None:
        await self.begun(reception)
        await reception.desk.receive(in_thread(2, to_others=True))
        assert await reception.desk.receive(in_thread(3, addressed=True)) is not None
        assert await reception.desk.receive(in_thread(4)) is not None

    async def test_where_staff_paused_it_the_bot_answers_mentions_alone(
        self, reception: Reception
    ) -> None:
        await self.begun(reception)
        thread = Place("discord", "guild", "thread")
        await reception.desk.pause(thread)
        assert await reception.desk.receive(in_thread(2)) is None
        assert await reception.desk.receive(in_thread(3, addressed=True)) is not None
        assert await reception.desk.receive(in_thread(4)) is None
        await reception.desk.resume(thread)
        assert await reception.desk.receive(in_thread(5)) is not None

    async def test_thanks_get_a_reaction_and_an_answer_where_they_are_said_to_the_bot(
        self, reception: Reception
    ) -> None:
        await self.begun(reception)
        seen = await reception.desk.receive(in_thread(2, "thank you", sent_at=now()))
        assert seen is not None
        assert seen.arrival.kind is Kind.THANK
        assert (seen.arrival.request, seen.arrival.refusal) == (None, None)
        late = in_thread(9, "thank you", sent_at=now() - timedelta(hours=1))
        assert await reception.desk.receive(late) is None
        assert await reception.desk.receive(in_thread(3, "why?")) is not None
        thanked = await reception.desk.receive(in_thread(4, "thank you", addressed=True))
        assert thanked is not None
        assert thanked.arrival.kind is Kind.ASK
        assert thanked.arrival.request is not None

    async def test_an_offer_is_taken_up_by_its_author_and_once(self, reception: Reception) -> None:
        await self.begun(reception)
        line = in_thread(2, "or a wall…", sent_at=now())
        offered = await reception.desk.receive(line)
        assert offered is not None
        assert offered.arrival.kind is Kind.OFFER
        for user, is_taken in (("ben", False), ("ann", True), ("ann", False)):
            taken = await reception.desk.take_up(line.key, user, replace(line, user=user).presence)
            assert (taken is not None) is is_taken
        known = await reception.inbox.of_key(line.key)
        assert known is not None
        assert known.kind is Kind.ASK
        assert known.request is not None
        assert known.request.query_text == "or a wall…"

    async def test_an_offer_is_gone_when_its_message_is_edited_or_deleted(
        self, reception: Reception
    ) -> None:
        await self.begun(reception)
        edited, deleted = (in_thread(n, "or a wall…", sent_at=now()) for n in (2, 3))
        for line in (edited, deleted):
            assert await reception.desk.receive(line) is not None
        assert await reception.desk.redo(edited.as_edit("5", 9), edited.key) is None
        assert await reception.desk.forget(deleted.key, f"{deleted.key}:delete", 9) is None
        for line in (edited, deleted):
            assert await reception.desk.take_up(line.key, "ann", line.presence) is None

    async def test_an_edit_that_mentions_the_bot_takes_the_offer_up(
        self, reception: Reception
    ) -> None:
        await self.begun(reception)
        line = in_thread(2, "or a wall…", sent_at=now())
        await reception.desk.receive(line)
        edited = replace(line.as_edit("5", 9), text="What is a wall?", addressed=True)
        assert await reception.desk.redo(edited, line.key) is not None
        known = await reception.inbox.of_key(line.key)
        assert known is not None
        assert known.request is not None
        assert known.request.query_text == "What is a wall?"

    async def test_the_same_question_in_a_channel_has_the_same_gist(
        self, reception: Reception
    ) -> None:
        texts = ("What is a cell?", "what is a cell", "What is a wall?")
        gists = []
        for number, text in enumerate(texts, 1):
            received = await reception.desk.receive(incoming(number, text))
            assert received is not None
            gists.append(received.arrival.gist)
        assert gists[0] == gists[1] != gists[2]

    async def test_follow_ups_can_be_switched_off(self, reception: Reception) -> None:
        await self.begun(reception)
        await reception.rules.set(CHANNEL, Rules(follow_ups=FollowUps.MENTION))
        assert await reception.desk.receive(in_thread(2)) is None

    async def test_a_reply_to_an_answer_goes_on_with_its_conversation(
        self, reception: Reception
    ) -> None:
        first = await reception.desk.receive(incoming(1))
        job = await reception.inbox.claim(LEASE, ["discord"])
        assert job is not None
        await reception.inbox.keep(job, Posted(("900",), "1"))
        reply = await reception.desk.receive(incoming(2, "And then?", answers="900"))
        assert first is not None
        assert first.arrival.request is not None
        assert reply is not None
        assert reply.arrival.request is not None
        assert reply.arrival.request.session_id == first.arrival.request.session_id

    async def test_forum_posts_are_answered_where_that_is_set(self, reception: Reception) -> None:
        post = in_thread(5, "How do cells divide?", begins=True)
        assert await reception.desk.receive(post) is None
        await reception.rules.set(CHANNEL, Rules(auto_answer=True))
        assert await reception.desk.receive(post) is not None


class TestClicks:
    """Questions that name the course of the answer that a button stands under."""

    async def test_a_click_asks_the_channels_course_and_else_the_answers(
        self, engine: AsyncEngine
    ) -> None:
        reception = Reception(engine, "biology", "physics", "handbook")
        received = await reception.desk.receive(incoming(1, course="physics"))
        assert received is not None
        assert received.arrival.request is not None
        assert received.arrival.request.course_id == "physics"
        await reception.rules.set(CHANNEL, Rules(course_id="biology"))
        received = await reception.desk.receive(incoming(2, course="physics"))
        assert received is not None
        assert received.arrival.request is not None
        assert received.arrival.request.course_id == "biology"

    async def test_a_click_is_no_way_around_who_may_ask(self, reception: Reception) -> None:
        await reception.rules.set(CHANNEL, Rules(askers=Askers.STAFF))
        assert refusal(await reception.desk.receive(incoming(1, course="biology"))) == i18n.text(
            "asking-staff-only"
        )
        about_me = await reception.desk.receive(incoming(2, course="handbook"))
        assert refusal(about_me) is None


class TestChanges:
    async def test_an_edit_has_the_question_answered_anew(self, reception: Reception) -> None:
        await reception.desk.receive(incoming(1))
        edited = incoming(9, "What is a cell wall?", key="discord:bot:1:edit:5")
        received = await reception.desk.redo(edited, original="discord:bot:1")
        assert received is not None
        assert received.arrival.kind is Kind.REDO
        assert received.arrival.about == "discord:bot:1"
        assert received.arrival.request is not None
        assert received.arrival.request.query_text == "What is a cell wall?"

    async def test_an_edit_is_as_old_as_the_edit_and_not_as_the_message(
        self, reception: Reception
    ) -> None:
        await reception.desk.receive(incoming(1))
        edited = incoming(9, "What is a cell wall?", key="discord:bot:1:edit:5", sent_at=NOON)
        received = await reception.desk.redo(edited, original="discord:bot:1")
        assert received is not None
        assert received.arrival.sent_at is None

    @pytest.mark.parametrize(
        ("asked", "edit", "kind"),
        [
            (incoming(1), {"addressed": False, "text": "never mind"}, Kind.FORGET),
            (incoming(1), {"addressed": False, "text": "What is a cell, Ben?"}, Kind.FORGET),
            (incoming(1), {"text": "never mind"}, Kind.REDO),
            (incoming(1), {"text": "recursion"}, Kind.REDO),
            (in_thread(1, addressed=True), {"addressed": False, "text": "forget it"}, Kind.FORGET),
            (in_thread(1, addressed=True), {"addressed": False}, Kind.REDO),
            (
                in_thread(1, addressed=True),
                {"addressed": False, "to_others": True, "text": "What do you think of it?"},
                Kind.FORGET,
            ),
            (incoming(1, addressed=False, direct=True), {"text": "never mind"}, Kind.REDO),
        ],
        ids=[
            *("the mention is gone", "it asks people", "the mention stays", "one word to the bot"),
            *("small talk in a thread", "a follow-up", "to somebody in a thread", "direct"),
        ],
    )
    async def test_an_edit_that_asks_the_bot_nothing_takes_the_question_back(
        self, reception: Reception, asked: IncomingMessage, edit: dict[str, Any], kind: Kind
    ) -> None:
        first = await reception.desk.receive(asked)
        assert first is not None
        received = await reception.desk.redo(replace(asked.as_edit("5", 9), **edit), asked.key)
        assert received is not None
        assert (received.arrival.kind, received.arrival.about) == (kind, asked.key)
        assert (received.arrival.request is None) is (kind is Kind.FORGET)
        assert received.arrival.lane == first.arrival.lane

    async def test_a_post_that_is_answered_by_itself_stays_a_question_without_a_mention(
        self, reception: Reception
    ) -> None:
        await reception.rules.set(CHANNEL, Rules(auto_answer=True))
        post = incoming(1, addressed=False, begins=True)
        assert await reception.desk.receive(post) is not None
        for to_others, kind in ((False, Kind.REDO), (True, Kind.FORGET)):
            edited = replace(post.as_edit(f"{to_others}", 9), to_others=to_others)
            received = await reception.desk.redo(edited, post.key)
            assert received is not None
            assert received.arrival.kind is kind

    @pytest.mark.parametrize("text", ["What is a cell wall?", "cells"])
    async def test_a_reply_to_the_bot_stays_a_question_though_that_message_is_gone(
        self, reception: Reception, text: str
    ) -> None:
        first = await reception.desk.receive(incoming(1))
        assert first is not None
        job = await reception.inbox.claim(LEASE, ["discord"])
        assert job is not None
        await reception.inbox.keep(job, Posted(("700",), "thread"))
        await reception.inbox.finish(job)
        reply = incoming(2, "And its wal?", answers="700")
        asked = await reception.desk.receive(reply)
        assert asked is not None
        assert asked.arrival.request is not None
        for answers, addressed in (("700", True), (None, False)):
            edit = reply.as_edit(f"{addressed}", 9)
            edited = replace(edit, text=text, answers=answers, addressed=addressed)
            received = await reception.desk.redo(edited, reply.key)
            assert received is not None
            assert received.arrival.kind is Kind.REDO
            assert received.arrival.request is not None
            assert received.arrival.request.session_id == asked.arrival.request.session_id

    async def test_a_post_stays_a_question_when_posts_are_not_answered_by_themselves_any_more(
        self, reception: Reception
    ) -> None:
        await reception.rules.set(CHANNEL, Rules(auto_answer=True))
        post = incoming(1, addressed=False, begins=True)
        assert await reception.desk.receive(post) is not None
        await reception.rules.set(CHANNEL, Rules(auto_answer=False))
        for to_others, kind in ((False, Kind.REDO), (True, Kind.FORGET)):
            edited = replace(post.as_edit(f"{to_others}", 9), to_others=to_others)
            received = await reception.desk.redo(edited, post.key)
            assert received is not None
            assert received.arrival.kind is kind

    async def test_the_edit_of_an_older_question_in_a_silent_thread_is_answered(
        self, reception: Reception
    ) -> None:
        asked = in_thread(1, addressed=True)
        await reception.desk.receive(asked)
        await reception.desk.receive(in_thread(2, to_others=True))
        edited = replace(asked.as_edit("5", 9), addressed=False)
        received = await reception.desk.redo(edited, asked.key)
        assert received is not None
        assert received.arrival.kind is Kind.REDO

    async def test_an_edit_of_what_was_no_question_is_passed_over(
        self, reception: Reception
    ) -> None:
        edited = incoming(9, key="discord:bot:1:edit:5")
        assert await reception.desk.redo(edited, original="discord:bot:1") is None

    async def test_a_deleted_question_is_to_be_forgotten(self, reception: Reception) -> None:
        await reception.desk.receive(incoming(1))
        received = await reception.desk.forget("discord:bot:1", "discord:bot:1:delete", 9)
        assert received is not None
        assert received.arrival.kind is Kind.FORGET
        assert received.arrival.request is None

    async def test_the_deletion_of_anything_else_is_passed_over(self, reception: Reception) -> None:
        assert await reception.desk.forget("discord:bot:1", "discord:bot:1:delete", 9) is None
        assert await reception.inbox.of_key("discord:bot:1:delete") is None

    async def test_what_was_deleted_before_it_is_heard_is_not_accepted(
        self, reception: Reception
    ) -> None:
        assert await reception.desk.deleted(unheard(), 9) is None
        received = await reception.desk.receive(incoming())
        assert received is not None
        assert received.accepted.acceptance is Acceptance.KNOWN
        assert await reception.inbox.claim(LEASE, ["discord"]) is None
        kept = await reception.inbox.of_key("discord:bot:1")
        assert kept is not None
        assert (kept.request, kept.address, kept.channel) == (None, {}, "")
        edited = incoming(text="What is a leaf?").as_edit("2", 2)
        assert await reception.desk.redo(edited, original="discord:bot:1") is None
        assert await reception.desk.deleted(unheard(), 9) is None, "told twice, it is the same"

    async def test_what_was_heard_before_it_is_deleted_is_forgotten(
        self, reception: Reception
    ) -> None:
        await reception.desk.receive(incoming())
        received = await reception.desk.deleted(unheard(), 9)
        assert received is not None
        assert received.arrival.key == "discord:bot:1:delete"
        assert received.arrival.kind is Kind.FORGET

    async def test_of_an_old_message_nothing_is_kept(self, reception: Reception) -> None:
        old = replace(unheard(), sent_at=now() - timedelta(hours=2))
        assert await reception.desk.deleted(old, 9) is None
        assert await reception.inbox.of_key("discord:bot:1") is None

    async def test_an_old_question_is_forgotten_as_well(self, reception: Reception) -> None:
        await reception.desk.receive(incoming())
        old = replace(unheard(), sent_at=now() - timedelta(hours=2))
        assert await reception.desk.deleted(old, 9) is not None


async def test_the_catalogue_is_the_guides_own(engine: AsyncEngine) -> None:
    directory = CourseDirectory(Catalogue(engine), AccessStore(engine), handbook="handbook")
    assert await directory.courses(Reader("discord", frozenset({GUILD}))) == {}


class TestTheHistory:
    """What is found later, and was perhaps heard when it was said."""

    async def test_what_was_passed_over_under_earlier_rules_stays_so(
        self, reception: Reception
    ) -> None:
        said = now() - timedelta(seconds=30)
        await reception.rules.set(CHANNEL, Rules(excluded=False))
        later = now() + timedelta(seconds=30)
        late = incoming(sent_at=said, listening_since=later)
        assert await reception.desk.receive(late) is None
        assert await reception.desk.receive(replace(late, listening_since=None)) is not None

    async def test_rules_that_are_set_while_the_bot_looks_back_lose_no_question(
        self, reception: Reception
    ) -> None:
        since = now()
        await reception.rules.set(CHANNEL, Rules(private=True))
        late = incoming(sent_at=since - timedelta(seconds=30), listening_since=since)
        assert await reception.desk.receive(late) is not None

    async def test_what_was_missed_behind_a_change_of_rules_is_taken_in(
        self, reception: Reception
    ) -> None:
        await reception.rules.set(CHANNEL, Rules(private=True))
        late = incoming(sent_at=now(), listening_since=now() + timedelta(seconds=30))
        assert await reception.desk.receive(late) is not None

    async def test_what_people_said_to_each_other_stays_theirs(self, reception: Reception) -> None:
        await reception.desk.receive(incoming(thread="thread"))
        said = now() - timedelta(seconds=30)
        await reception.conversations.listen(Place("discord", "guild", "thread"))
        later = now() + timedelta(seconds=30)
        late = in_thread(2, sent_at=said, listening_since=later)
        assert await reception.desk.receive(late) is None
        mention = in_thread(3, sent_at=said, listening_since=later, addressed=True)
        assert await reception.desk.receive(mention) is not None

    async def test_what_was_said_before_the_bot_was_called_into_a_thread_stays_so(
        self, reception: Reception
    ) -> None:
        def late(number: int) -> IncomingMessage:
            said = now() - timedelta(seconds=30)
            return in_thread(number, sent_at=said, listening_since=now())

        await reception.desk.receive(in_thread(2, addressed=True))
        assert await reception.desk.receive(late(1)) is None
        assert await reception.desk.receive(late(3)) is not None

    async def test_a_question_of_somebody_forgotten_is_not_changed_any_more(
        self, reception: Reception
    ) -> None:
        received = await reception.desk.receive(incoming())
        assert received is not None
        await reception.inbox.forget_user(received.arrival.user_id)
        edited = incoming(text="What is a leaf?").as_edit("2", 2)
        assert await reception.desk.redo(edited, original="discord:bot:1") is None
        assert await reception.desk.forget("discord:bot:1", "discord:bot:1:delete", 3) is None
