"""Every way to a course passes the one rule of who may read it, on every database."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.actions.about import Facts
from adapters.actions.answers import AnswerActions
from adapters.actions.reports import DataExport
from adapters.actions.settings import ChannelSettings
from adapters.actions.use import Clicker, Declined
from adapters.chat.access import Admission, Location
from adapters.chat.front_desk import Received
from adapters.chat.incoming_message import IncomingMessage
from core.domain import ChunkState, Course, i18n, now
from core.domain.errors import DeliveryError, RequestError, StoreError
from core.storage.access import Tenant
from core.storage.catalogue import Catalogue
from core.storage.channels import OperatorRules, Place, Rules
from core.storage.inbox.base import Arrival, Job
from core.storage.privacy import Json, PersonalExport
from core.storage.sessions import Feedback
from tests.contracts.test_front_desk import GUILD, LEASE, Reception, incoming, is_admin
from tests.holders import export
from tests.samples import chunk, response_to

OTHER = Tenant("discord", "other")
COURSES = ("algebra", "biology", "handbook")
NAMES = ("algebra", "Algebra", "biology", "Biology")


def elsewhere(number: int = 1, **changes: Any) -> IncomingMessage:
    """Return a question in the server that was met later."""
    place = {"workspace": "other", "channel": "lobby", "places": ("lobby", "other")}
    return incoming(number, **{**place, "key": f"discord:bot:9{number}", **changes})


def directly(number: int = 1, **changes: Any) -> IncomingMessage:
    direct = {"direct": True, "personal": True, "workspace": "@me", "channel": "dm"}
    address = {"dm": True, "channel": "dm", "asker": "ann"}
    return incoming(number, **{**direct, "places": ("dm",), "address": address, **changes})


@pytest.fixture
async def reception(engine: AsyncEngine) -> Reception:
    """A desk with two courses of the operator's, whose own server was met first."""
    for course_id in COURSES:
        await Catalogue(engine).save_course(Course(course_id=course_id, title=course_id.title()))
    reception = Reception(engine, *COURSES)
    await reception.access.meet(GUILD)
    await reception.access.meet(OTHER)
    return reception


@pytest.fixture
def actions(reception: Reception, engine: AsyncEngine) -> AnswerActions:
    async def stop(_: str, __: Sequence[Tenant]) -> bool:
        return True

    return AnswerActions(
        desk=reception.desk,
        inbox=reception.inbox,
        sessions=reception.sessions,
        feedback=Feedback(engine),
        directory=reception.directory,
        rules=reception.rules,
        wake=lambda: None,
        stop=stop,
    )


def job_of(arrival: Arrival) -> Job:
    return Job(arrival=arrival, fence=1, lease_until=now() + LEASE, accepted_at=now())


def clicker(said: IncomingMessage, reception: Reception, **changes: Any) -> Clicker:
    location = replace(said.location, **changes)
    user_id = reception.desk.pseudonym(location.platform, location.workspace, location.user)
    return Clicker(location, user_id)


async def answered(reception: Reception, said: IncomingMessage) -> UUID:
    """Have a question answered, and return its request's id."""
    received = await reception.desk.receive(said)
    assert received is not None
    request = received.arrival.request
    assert request is not None
    assert request.session_id is not None
    cited = chunk(course_id=request.course_id, state=ChunkState.RETURNED)
    answer = response_to(request, request.session_id, cited=cited, retrieved_chunks=(cited,))
    await reception.sessions.remember(request, answer)
    return request.request_id


def refusal(received: Received | None) -> str | None:
    assert received is not None
    return received.arrival.refusal


async def test_a_later_server_has_no_course_and_is_told_no_name(reception: Reception) -> None:
    assert refusal(await reception.desk.receive(elsewhere())) == i18n.text("course-none-yet-tell")
    await reception.rules.set(Place("discord", "other", "lobby"), Rules(course_id="algebra"))
    told = refusal(await reception.desk.receive(elsewhere(2)))
    await reception.rules.set(Place("discord", "other", "lobby"), Rules(course_id="history"))
    assert (
        told
        == i18n.text("course-none-yet-tell")
        == refusal(await reception.desk.receive(elsewhere(3)))
    )


async def test_staff_of_a_later_server_read_how_to_get_a_course_and_no_name(
    reception: Reception,
) -> None:
    told = refusal(await reception.desk.receive(elsewhere(member=is_admin)))
    assert told == i18n.text("course-none-yet-grant", tenant="discord:other")
    assert "glossator courses grant COURSE discord:other" in told
    assert not [name for name in NAMES if name in told]


async def test_staff_of_the_operators_server_read_how_to_read_a_book_in(
    engine: AsyncEngine,
) -> None:
    reception = Reception(engine)
    await reception.access.meet(GUILD)
    asked = refusal(await reception.desk.receive(incoming(member=is_admin)))
    assert asked == i18n.text("course-none-yet-ingest")
    assert refusal(await reception.desk.receive(incoming(2))) == i18n.text("course-none-yet-tell")


async def test_a_course_that_is_asked_for_by_name_is_no_way_around(reception: Reception) -> None:
    assert refusal(await reception.desk.receive(elsewhere(course="algebra"))) == i18n.text(
        "course-none-yet-tell"
    )
    asked = await reception.desk.receive(elsewhere(2, course="handbook"))
    assert asked is not None
    assert asked.arrival.request is not None


async def test_the_only_course_that_is_granted_answers(reception: Reception) -> None:
    await reception.access.grant("biology", OTHER)
    received = await reception.desk.receive(elsewhere())
    assert received is not None
    assert received.arrival.request is not None
    assert received.arrival.request.course_id == "biology"


async def test_the_file_gives_a_place_the_course_that_it_binds(engine: AsyncEngine) -> None:
    described = {"lobby": OperatorRules(course_id="biology")}
    reception = Reception(engine, *COURSES, described=described)
    await reception.access.meet(GUILD)
    received = await reception.desk.receive(elsewhere())
    assert received is not None
    assert received.arrival.request is not None
    assert received.arrival.request.course_id == "biology"
    hall = elsewhere(2, channel="hall", places=("hall", "other"))
    assert refusal(await reception.desk.receive(hall)) == i18n.text("course-none-yet-tell")


async def test_the_operator_hears_of_a_server_that_waits_and_of_none_that_the_file_binds(
    engine: AsyncEngine, caplog: pytest.LogCaptureFixture
) -> None:
    reception = Reception(engine, *COURSES, described={"bound": OperatorRules(course_id="biology")})
    await reception.access.meet(GUILD)
    for name in ("waiting", "bound"):
        await reception.readers.meet(Tenant("discord", name))
    warned = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert [one.split()[0] for one in warned] == ["discord:waiting"]
    assert "glossator courses grant COURSE discord:waiting" in warned[0]


async def test_facts_and_settings_tell_of_readable_courses_alone(reception: Reception) -> None:
    settings = ChannelSettings(
        reception.desk, reception.rules, reception.directory, names={}, described=lambda _: {}
    )
    facts = Facts(
        desk=reception.desk,
        directory=reception.directory,
        handbook="handbook",
        version="1",
        writer="w",
        escape=str,
    )
    await reception.rules.set(Place("discord", "other", "lobby"), Rules(course_id="algebra"))
    location = elsewhere().location
    here = await reception.desk.here(location)
    told = [
        await facts.sources(here),
        await facts.about(here),
        *await facts.courses(here.reader),
        *await settings.lines(location),
        str(await settings.courses_like(location, "")),
        (await settings.unknown_course(location, "algebra") or "").replace("algebra", "x"),
    ]
    assert not [name for name in NAMES for text in told if name in text]
    foreign = await settings.unknown_course(location, "algebra")
    assert foreign == await settings.unknown_course(location, "nothing-at-all")
    assert foreign is not None
    assert await settings.unknown_course(incoming().location, "algebra") is None
    for name in ("A", "1", ""):
        sections = reception.directory.sections_like(
            here.reader, "algebra", name, limit=5, longest=99
        )
        assert await sections == []


async def test_a_question_of_before_a_revoke_is_not_answered(reception: Reception) -> None:
    await reception.access.grant("biology", OTHER)
    received = await reception.desk.receive(elsewhere())
    assert received is not None
    admission = Admission(reception.directory, reception.readers)
    job = job_of(received.arrival)
    assert await admission.checked(job) == job
    await reception.access.revoke("biology", OTHER)
    checked = await admission.checked(job)
    assert checked.arrival.request is None
    assert checked.arrival.refusal == i18n.text("course-gone")


async def test_a_row_of_before_the_upgrade_tells_where_it_came_from(reception: Reception) -> None:
    received = await reception.desk.receive(incoming(course="biology"))
    assert received is not None
    await reception.rules.set(Place("discord", "guild", "channel"), Rules(course_id="biology"))
    received = await reception.desk.receive(incoming(2))
    assert received is not None
    old = replace(received.arrival, address={"message": 2, "asker": 7})
    job = job_of(old)
    assert await Admission(reception.directory, reception.readers).checked(job) == job


async def test_an_edit_after_a_revoke_is_not_answered_from_the_course(
    reception: Reception,
) -> None:
    await reception.access.grant("biology", OTHER)
    asked = elsewhere()
    await reception.desk.receive(asked)
    await reception.access.revoke("biology", OTHER)
    redone = await reception.desk.redo(asked.as_edit("1", 5), asked.key)
    assert refusal(redone) == i18n.text("course-none-yet-tell")


@pytest.mark.parametrize("by", ["another tenant", "another person", "after a revoke"])
async def test_an_answers_id_opens_nothing_that_is_not_the_clickers(
    reception: Reception, actions: AnswerActions, by: str
) -> None:
    await reception.access.grant("biology", OTHER)
    address = {"ephemeral": by == "another person", "channel": 1}
    asked = elsewhere(address=address)
    request_id = await answered(reception, asked)
    own = clicker(asked, reception)
    assert (await actions.turn(request_id, own)).request_id == request_id
    if by == "another tenant":
        own = clicker(incoming(), reception)
    elif by == "another person":
        own = clicker(asked, reception, user="ben")
    else:
        await reception.access.revoke("biology", OTHER)
    tries: list[Callable[[], Any]] = [
        lambda: actions.turn(request_id, own),
        lambda: actions.vote(request_id, own, helpful=True),
        lambda: actions.share(request_id, own, 5, {"channel": 1}),
        lambda: actions.ask_without_quote(request_id, own, lambda text: elsewhere(4, text=text)),
    ]
    for attempt in tries:
        with pytest.raises(Declined) as declined:
            await attempt()
        assert declined.value.user_message == i18n.text("answer-gone")


async def test_a_public_answer_is_open_to_all_of_its_tenant(
    reception: Reception, actions: AnswerActions
) -> None:
    await reception.access.grant("biology", OTHER)
    request_id = await answered(reception, elsewhere())
    ben = clicker(elsewhere(), reception, user="ben")
    assert (await actions.turn(request_id, ben)).request_id == request_id


async def test_workspaces_of_one_organisation_open_each_others_answers(
    reception: Reception, actions: AnswerActions
) -> None:
    organisation = Tenant("discord", "E1")
    await reception.access.grant("biology", organisation)
    for workspace in ("one", "two"):
        await reception.access.meet(Tenant("discord", workspace), organisation)
    asked = elsewhere(workspace="one", places=("lobby", "one"))
    request_id = await answered(reception, asked)
    other = clicker(replace(asked, workspace="two"), reception)
    assert (await actions.turn(request_id, other)).request_id == request_id


class TestDirectMessages:
    async def test_the_writers_servers_decide(self, engine: AsyncEngine) -> None:
        reception = Reception(engine, *COURSES, members=lambda tenant, _: tenant == OTHER)
        await Catalogue(engine).save_course(Course(course_id="biology", title="Biology"))
        await reception.access.meet(GUILD)
        assert refusal(await reception.desk.receive(directly())) == i18n.text(
            "course-none-yet-tell"
        )
        await reception.access.grant("biology", OTHER)
        received = await reception.desk.receive(directly(2))
        assert received is not None
        assert received.arrival.request is not None
        assert received.arrival.request.course_id == "biology"

    async def test_several_courses_are_asked_about_and_the_question_waits(
        self, reception: Reception, actions: AnswerActions
    ) -> None:
        asked = directly()
        received = await reception.desk.receive(asked)
        assert received is not None
        pending = received.arrival.pending
        assert refusal(received) == i18n.text("course-which")
        assert pending is not None
        assert received.arrival.address["choices"] == [
            ["algebra", "Algebra"],
            ["biology", "Biology"],
        ]
        ann, ben = clicker(asked, reception), clicker(asked, reception, user="ben")

        def again(request: Any) -> IncomingMessage:
            return directly(7, text=request.query_text, key="discord:i:7")

        with pytest.raises(Declined):
            await actions.choose(pending.request_id, "biology", ben, again)
        with pytest.raises(Declined) as declined:
            await actions.choose(pending.request_id, "history", ann, again)
        assert declined.value.user_message == i18n.text("course-none-such-any-more")
        chosen = await actions.choose(pending.request_id, "biology", ann, again)
        assert isinstance(chosen, Received)
        assert chosen.arrival.request is not None
        assert chosen.arrival.request.course_id == "biology"
        assert chosen.arrival.request.query_text == asked.text
        assert "Biology" in str(await actions.choose(pending.request_id, "biology", ann, again))
        kept = await reception.desk.receive(directly(8))
        assert kept is not None
        assert kept.arrival.request is not None
        assert kept.arrival.request.course_id == "biology"

    @pytest.mark.costly
    @pytest.mark.parametrize("fails", ["accept", "drop_pending"])
    async def test_a_failure_while_choosing_loses_no_question_and_answers_it_once(
        self,
        reception: Reception,
        actions: AnswerActions,
        monkeypatch: pytest.MonkeyPatch,
        fails: str,
    ) -> None:
        asked = directly()
        received = await reception.desk.receive(asked)
        assert received is not None
        assert received.arrival.pending is not None
        waiting, ann = received.arrival.pending.request_id, clicker(asked, reception)

        async def choose(click: int) -> Received | str:
            return await actions.choose(
                waiting,
                "biology",
                ann,
                lambda request: directly(click, text=request.query_text, key=f"discord:i:{click}"),
            )

        async def broken(*_: object) -> None:
            raise StoreError("the disk is full")

        with monkeypatch.context() as failing:
            failing.setattr(reception.inbox, fails, broken)
            with pytest.raises(StoreError):
                await choose(7)
        assert await reception.inbox.pending_request(waiting) is not None
        again = await choose(8)
        if fails == "accept":
            assert isinstance(again, Received)
            assert again.arrival.request is not None
            assert again.arrival.request.query_text == asked.text
        else:
            assert "Biology" in str(again)
        assert await reception.inbox.pending_request(waiting) is None
        found = await reception.inbox.latest_of([ann.user_id], 9)
        assert len([event for event in found if event.key.endswith(f":choose:{waiting}")]) == 1

    async def test_a_choice_that_may_not_be_read_any_more_is_asked_for_again(
        self, reception: Reception
    ) -> None:
        await reception.rules.set(Place("discord", "@me", "dm"), Rules(course_id="history"))
        assert refusal(await reception.desk.receive(directly())) == i18n.text("course-which")

    async def test_another_course_is_another_conversation(self, reception: Reception) -> None:
        sessions = set()
        for number, course_id in enumerate(["biology", "algebra", "biology"], 2):
            await reception.rules.set(Place("discord", "@me", "dm"), Rules(course_id=course_id))
            asked = directly(number, key=f"discord:bot:{number}")
            request_id = await answered(reception, asked)
            turn = await reception.sessions.turn_of(request_id)
            assert turn is not None
            sessions.add(turn.agent_response.conversation_id)
        assert len(sessions) == 3

    async def test_a_question_that_waits_is_forgotten_with_its_message(
        self, reception: Reception, engine: AsyncEngine
    ) -> None:
        asked = directly()
        received = await reception.desk.receive(asked)
        assert received is not None
        assert received.arrival.pending is not None
        job = await reception.inbox.claim(LEASE, ["discord"])
        assert job is not None
        await reception.inbox.finish(job)
        await reception.desk.forget(asked.key, f"{asked.key}:delete", 9)
        assert await reception.inbox.pending_request(received.arrival.pending.request_id) is None

    async def test_a_platform_that_does_not_tell_closes_all_and_loses_nothing(
        self, engine: AsyncEngine
    ) -> None:
        def silent(*_: object) -> bool:
            raise DeliveryError("Discord is away")

        reception = Reception(engine, *COURSES, members=silent)
        await reception.access.meet(GUILD)
        assert "does not answer" in str(refusal(await reception.desk.receive(directly())))
        before = Reception(engine, *COURSES)
        await reception.rules.set(Place("discord", "@me", "dm"), Rules(course_id="biology"))
        received = await before.desk.receive(directly(2))
        assert received is not None
        with pytest.raises(DeliveryError):
            await Admission(reception.directory, reception.readers).checked(
                job_of(received.arrival)
            )


class TestLocks:
    @pytest.fixture
    async def settings(self, reception: Reception) -> ChannelSettings:
        file = {
            "guild": OperatorRules(course_id="biology", locked=frozenset({"course_id"})),
            "category": OperatorRules(excluded=True),
        }
        return ChannelSettings(
            reception.desk, reception.rules, reception.directory, names={}, described=lambda _: file
        )

    @pytest.mark.parametrize(
        "changes", [{"course_id": "algebra"}, {"course_id": "biology", "excluded": False}]
    )
    async def test_a_change_that_the_file_does_not_allow_is_refused_and_not_kept(
        self, reception: Reception, settings: ChannelSettings, changes: dict[str, Any]
    ) -> None:
        place = Place("discord", "guild", "channel")
        with pytest.raises(RequestError, match="operator"):
            await settings.change(place, incoming().location, changes)
        assert await reception.rules.get("discord", "guild", ["channel"]) == {}

    async def test_what_is_not_locked_is_changed_and_the_rest_kept(
        self, reception: Reception, settings: ChannelSettings
    ) -> None:
        place = Place("discord", "guild", "channel")
        await settings.change(place, incoming().location, {"private": True})
        await settings.change(place, incoming().location, {"auto_answer": True})
        kept = await reception.rules.get("discord", "guild", ["channel"])
        assert kept == {"channel": Rules(private=True, auto_answer=True)}


async def test_a_course_that_the_file_binds_to_a_wider_place_is_shared_there(
    engine: AsyncEngine,
) -> None:
    described = {"category": OperatorRules(course_id="biology")}
    reception = Reception(engine, *COURSES, described=described)
    asked = elsewhere(private=True, places=("lobby", "category", "other"))
    request_id = await answered(reception, asked)
    turn = await reception.sessions.turn_of(request_id)
    private = await reception.inbox.of_key(asked.key)
    assert turn is not None
    assert private is not None
    shared = await reception.desk.share(private, turn, 5, {"channel": 1}, asked.location)
    job = job_of(shared.arrival)
    assert job.arrival.request is not None
    assert await Admission(reception.directory, reception.readers).checked(job) == job


@pytest.mark.costly
async def test_what_the_file_keeps_private_is_not_shared(
    engine: AsyncEngine, actions: AnswerActions, reception: Reception
) -> None:
    described = {
        "category": OperatorRules(private=True),
        "open": OperatorRules(private=False),
        "channel": OperatorRules(course_id="biology"),
    }
    strict = Reception(engine, *COURSES, described=described)
    actions._desk = strict.desk
    await strict.rules.set(Place("discord", "guild", "channel"), Rules(private=False))
    asked = incoming(private=True)
    request_id = await answered(strict, asked)
    with pytest.raises(Declined) as declined:
        await actions.share(request_id, clicker(asked, strict), 5, {"channel": 1})
    assert declined.value.user_message == i18n.text("answer-kept-private")
    narrower = clicker(asked, strict, places=("open", "category", "guild"))
    assert await actions.share(request_id, narrower, 5, {"channel": 1}) == i18n.text(
        "answer-shared"
    )


async def test_an_export_leaves_out_what_staff_verified_of_closed_courses(
    reception: Reception, engine: AsyncEngine
) -> None:
    class Kept(PersonalExport):
        async def of(self, _: Collection[str]) -> Json:
            chunk = {"course_id": "biology", "content_text": "Cells divide by mitosis."}
            written = {"answer_text": "By mitosis.", "citations": [{"chunk": chunk}]}
            own = {"answer_text": "Ask me on Monday.", "citations": []}
            return {"stored": {"inbox": [], "verified_revisions": [written, own]}}

    kept = Kept(engine, (), reception.inbox)
    data = DataExport(kept, reception.directory, reception.readers)
    location: Location = elsewhere().location
    shown = (await data.file(["x"], location)).data.decode()
    assert "mitosis" not in shown
    assert "Ask me on Monday." in shown
    await reception.access.grant("biology", OTHER)
    assert "By mitosis." in (await data.file(["x"], location)).data.decode()


@pytest.mark.costly
@pytest.mark.parametrize("closing", ["revoked", "removed"])
async def test_an_export_leaves_out_the_words_of_closed_courses_and_keeps_the_questions(
    reception: Reception, engine: AsyncEngine, closing: str
) -> None:
    await reception.access.grant("biology", OTHER)
    asked = elsewhere(text="What is a mitochondrion?", section="Organelles")
    await answered(reception, asked)
    theirs = [reception.desk.user_id(asked)]
    data = DataExport(export(engine), reception.directory, reception.readers)
    location: Location = asked.location
    before = (await data.file(theirs, location)).data.decode()
    assert "biology" in before
    assert "response_text" in before
    assert before.count("Organelles") == 2, "in the inbox, and in the turn"
    if closing == "revoked":
        await reception.access.revoke("biology", OTHER)
    else:
        del reception.directory._marks["biology"]
    after = (await data.file(theirs, location)).data.decode()
    assert "mitochondrion" in after
    assert "biology" not in after
    assert "Organelles" not in after
    assert "response_text" not in after
