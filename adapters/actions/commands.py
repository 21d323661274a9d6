"""Every command, once: what it is called and takes, who may give it, and what it does."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from adapters.actions.about import Facts, asked_here
from adapters.actions.presses import Presses, error_as_notice
from adapters.actions.reports import OwnData, RadarViews
from adapters.actions.settings import ChannelSettings, PolicyForm, PolicySettings, StaffSettings
from adapters.actions.use import Extent, File, Notice, Result, Use
from adapters.chat.course_directory import CourseDirectory
from adapters.chat.front_desk import FrontDesk
from adapters.chat.markdown.layout import visible
from core.domain import MAX_QUESTION, MIN_QUESTION, AnswerLength, PolicyMode
from core.domain.errors import BotError, RequestError
from core.domain.i18n import Message, text
from core.storage.access import NamedStaff, StaffKind
from core.storage.channels import Askers, FollowUps, Rules

logger = logging.getLogger(__name__)

Arguments = Mapping[str, Any]
"""By name; what was not given is missing."""
LONGEST_COMMAND = 2_000
"""Characters of a question that a command takes."""
_MOST_SUGGESTED = 25
_LONGEST_SUGGESTED = 100


class GivenBy(Enum):
    """Who may give a command; it is asked each time, before anything is done."""

    EVERYBODY = "everybody"
    STAFF = "staff"
    """Staff of the place that is set up, and admins."""
    NAMING = "naming"
    """Who may say who is staff."""
    REVIEWERS = "reviewers"
    """Staff of any course here; what they see is chosen by it, so the desk of the staff asks."""


class ArgumentKind(Enum):
    """What can be given as an argument."""

    TEXT = "text"
    CHOICE = "choice"
    FLAG = "flag"
    EXTENT = "extent"
    SECTION = "section"
    COURSE = "course"
    POLICY = "policy"
    GROUP = "group"
    """A role or a user group, as the id by which a platform names staff."""
    PERSON = "person"


SUGGESTED = frozenset({ArgumentKind.SECTION, ArgumentKind.COURSE, ArgumentKind.POLICY})
"""What is suggested while it is typed, where the platform can."""


@dataclass(frozen=True, slots=True)
class Argument:
    """Something that is given with a command."""

    name: str
    describes: Message
    kind: ArgumentKind = ArgumentKind.TEXT
    required: bool = False
    is_next: bool = False
    """Whether it needs no name where it is typed, as what is required never does."""
    shortest: int = 1
    longest: int = 0
    """Characters; 0: the platform's own limit."""
    choices: tuple[tuple[str, Message], ...] = ()
    """Value and name of each."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command, by the words it consists of."""

    path: tuple[str, ...]
    """The first is a field of `CommandNames`."""
    describes: Message
    does: "Callable[[Commands, Use, Arguments], Awaitable[Result]] | None"
    """None: it asks a question, which `Commands.question` returns."""
    who: GivenBy = GivenBy.EVERYBODY
    arguments: tuple[Argument, ...] = ()
    hint: tuple[str, ...] | None = None
    """What may be typed, for Slack's hint; None: its last word."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a command asks."""

    text: str
    section: str | None = None
    private: bool | None = None
    """Whether its asker alone sees the answer; None: as the channel says."""
    course: str | None = None
    """The course that is asked, whatever the channel says."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What staff set."""

    channels: ChannelSettings
    staff: StaffSettings
    policies: PolicySettings
    radar: RadarViews


class Commands:
    """Does what commands say; raises nothing: what fails is a sentence for its user."""

    def __init__(
        self,
        *,
        desk: FrontDesk,
        directory: CourseDirectory,
        facts: Facts,
        own_data: OwnData,
        presses: Presses,
        setup: Setup,
    ) -> None:
        self._desk = desk
        self._directory = directory
        self._facts = facts
        self._own_data = own_data
        self._presses = presses
        self._setup = setup

    async def run(
        self,
        command: Command,
        use: Use,
        read: Callable[[], Arguments],
        extent: Extent = Extent.CHANNEL,
    ) -> Result:
        """Do what a command says.

        Args:
            read: Returns its arguments; raises RequestError where they cannot be read, which
                only those learn who may give it.
            extent: How wide a place it is for, by which it is decided who may give it.
        """

        async def done() -> Result:
            if command.does is not Commands.data:  # what is stored about them guests see anywhere
                await self._presses.check_guest(use)
            await self._admit(command.who, use, extent)
            assert command.does is not None, "a question is taken in another way"
            return await command.does(self, use, read())

        return await error_as_notice(done())

    def question(self, command: Command, arguments: Arguments, platform: str) -> Question | None:
        """Return what a command asks; None: it has no question."""
        asked = str(arguments.get("question") or "")
        if not asked:
            return None
        if command.path == ("glossator", "help"):
            here = asked_here(asked, platform.capitalize())
            return Question(here, private=True, course=self._facts.handbook)
        return Question(asked, arguments.get("section"), arguments.get("private"))

    async def suggested(self, kind: ArgumentKind, use: Use, typed: str) -> list[tuple[str, str]]:
        """Return name and value of what fits what was typed; none for who may not give it."""
        try:
            return [
                (name.replace("`", "")[:_LONGEST_SUGGESTED], value)
                for name, value in await self._fitting(kind, use, typed)
            ][:_MOST_SUGGESTED]
        except BotError as error:
            logger.warning("nothing could be suggested: %s", error)
            return []

    async def _fitting(self, kind: ArgumentKind, use: Use, typed: str) -> Sequence[tuple[str, str]]:
        if kind is ArgumentKind.SECTION:
            here = await self._desk.here(use.location)
            course_id = await self._desk.course_of(here)
            if course_id is None:
                return []
            names = await self._directory.sections_like(
                here.reader,
                course_id,
                typed,
                limit=_MOST_SUGGESTED,
                longest=_LONGEST_SUGGESTED,
            )
            return [(visible(name), name) for name in names]
        if kind is ArgumentKind.COURSE:
            await self._setup.staff.admit(use.who)
            courses = await self._setup.channels.courses_like(use.location, typed)
            return [(f"{visible(title)} ({name})", name) for name, title in courses]
        await self._setup.staff.admit_at(use)
        found = await self._setup.policies.removable(use.who)
        return [(line, key) for key, line in found if typed.casefold() in line.casefold()]

    async def _admit(self, who: GivenBy, use: Use, extent: Extent) -> None:
        if who is GivenBy.STAFF:
            await self._setup.staff.admit_at(use, extent)
        elif who is not GivenBy.EVERYBODY and use.not_to_set_up:
            raise RequestError(user_message=use.not_to_set_up)
        elif who is GivenBy.NAMING:
            await self._setup.staff.admit_naming(use.who)

    # --- about the bot --------------------------------------------------------------------

    async def data(self, use: Use, _: Arguments) -> Result:
        """Show what is stored about the user."""
        return await self._own_data.shown(use)

    async def sources(self, use: Use, _: Arguments) -> Result:
        """Show what the course that answers here is made of."""
        return Notice(await self._facts.sources(await self._desk.here(use.location)))

    async def about(self, use: Use, _: Arguments) -> Result:
        """Show the version, the model, and the edition of the course."""
        return Notice(await self._facts.about(await self._desk.here(use.location)))

    # --- what holds in a place ------------------------------------------------------------

    async def show(self, use: Use, _: Arguments) -> Result:
        """Show the settings that hold here."""
        return Notice(_list(await self._setup.channels.lines(use.location), use))

    async def bind(self, use: Use, given: Arguments) -> Result:
        """Choose the course that is answered from."""
        course = given["course"]
        if refusal := await self._setup.channels.unknown_course(use.location, course):
            raise RequestError(user_message=refusal)
        return await self._changed(use, given, {"course_id": course, "excluded": False})

    async def unbind(self, use: Use, given: Arguments) -> Result:
        """Take the choice of a course back."""
        return await self._changed(use, given, {"course_id": None})

    async def switch(self, use: Use, given: Arguments) -> Result:
        """Say nothing here, or answer again."""
        return await self._changed(use, given, {"excluded": given["state"] == "off"})

    async def pause(self, use: Use, _: Arguments) -> Result:
        """Answer only who addresses the bot here, until `resume`."""
        await self._desk.pause(use.here)
        return Notice(text("speaking-paused"), for_all=True)

    async def resume(self, use: Use, _: Arguments) -> Result:
        """Answer here without a mention again."""
        await self._desk.resume(use.here)
        return Notice(text("speaking-resumed"), for_all=True)

    async def set_rules(self, use: Use, given: Arguments) -> Result:
        """Change what is given, and leave the rest as it is."""
        names = {name: "answer_length" if name == "length" else name for name in given}
        rules = {names[name]: value for name, value in given.items() if name != "where"}
        if not rules:
            raise RequestError(user_message=text("settings-nothing"))
        asked = Rules.model_validate(rules)
        return await self._changed(use, given, {name: getattr(asked, name) for name in rules})

    async def _changed(self, use: Use, given: Arguments, changes: dict[str, Any]) -> Result:
        extent = given.get("where", Extent.CHANNEL)
        place = use.place_of(extent)
        assert place is not None, "else nobody is admitted"
        await self._setup.channels.change(place, use.location, changes)
        lines = await self._setup.channels.lines(use.location)
        return Notice(f"{use.terms.done[extent]}\n{_list(lines, use)}")

    # --- staff ----------------------------------------------------------------------------

    async def add_staff(self, use: Use, given: Arguments) -> Result:
        """Name a user or a group as staff."""
        named = [*_named(given)]
        if len(named) != 1 or "gone" in given:
            raise RequestError(user_message=text("discord-staff-whom"))
        note = await use.to_be_staff(named[0])
        told = await self._setup.staff.add(use.who, named[0])
        return Notice("\n".join(filter(None, [told, note])))

    async def remove_staff(self, use: Use, given: Arguments) -> Result:
        """Remove a staff member, who may have left."""
        named = [*_named(given)]
        if len(named) != 1:
            raise RequestError(user_message=text("discord-staff-whom-to-remove"))
        return Notice(await self._setup.staff.remove(use.who, named[0]))

    async def list_staff(self, use: Use, _: Arguments) -> Result:
        """List the staff."""
        lines = await self._setup.staff.lines(use.who)
        if await self._setup.staff.groups(use.who) and (note := await use.note_on_groups()):
            lines = [*lines, note]
        return Notice("\n".join(f"- {line}" for line in lines))

    async def queue(self, use: Use, given: Arguments) -> Result:
        """Show what students passed on, or choose where that is posted."""
        match given.get("cards"):
            case "post here":
                return await self._presses.post_queue(use)
            case "stop":
                return await self._presses.stop_queue(use)
        return await self._presses.queue(use)

    async def verified(self, use: Use, _: Arguments) -> Result:
        """Show what the staff verified, to be edited or retired."""
        return await self._presses.verified(use)

    # --- how questions are answered -------------------------------------------------------

    async def hints(self, use: Use, _: Arguments) -> Result:
        """Ask for an assignment to which students get hints alone."""
        return await self._presses.open_assignment(use)

    async def list_policies(self, use: Use, _: Arguments) -> Result:
        """Show the policies of the course that answers here."""
        lines = await self._setup.policies.lines(use.who)
        return Notice("\n".join(f"- {line}" for line in lines))

    async def set_policy(self, use: Use, given: Arguments) -> Result:
        """Have questions in a place answered by a mode."""
        dates = given.get("from", ""), given.get("until", "")
        form = PolicyForm(PolicyMode(given["mode"]), given.get("section", ""), *dates)
        place = use.place_of(given.get("where", Extent.CHANNEL))
        return Notice(await self._setup.policies.set_place(use.who, place, form))

    async def remove_policy(self, use: Use, given: Arguments) -> Result:
        """Remove a policy that was set here; one of the whole tenant takes an admin."""
        if await self._setup.policies.holds_everywhere(use.who, given["policy"]):
            await self._setup.staff.admit_at(use, Extent.TENANT)
        return Notice(await self._setup.policies.remove(use.who, given["policy"]))

    # --- what was asked -------------------------------------------------------------------

    async def show_radar(self, use: Use, _: Arguments) -> Result:
        """Show the report of the latest complete week."""
        post = await self._setup.radar.shown(use.who)
        return Notice(post.text, file=File(post.picture_name, post.picture, post.alternative))

    async def post_radar(self, use: Use, _: Arguments) -> Result:
        """Have it posted into this channel every week."""
        posting = self._setup.radar.post_here(
            use.who, use.here, enterprise=use.enterprise, locale=await use.locale()
        )
        return Notice(await posting)

    async def stop_radar(self, use: Use, _: Arguments) -> Result:
        """Have it posted no more."""
        return Notice(await self._setup.radar.stop(use.who))


def _named(given: Arguments) -> Sequence[NamedStaff]:
    kinds = {"role": None, "person": StaffKind.PERSON, "gone": StaffKind.PERSON}
    return [
        given[name]
        if kind is None or isinstance(given[name], NamedStaff)
        else NamedStaff(kind, str(given[name]), given.get("course"))
        for name, kind in kinds.items()
        if name in given
    ]


def _list(lines: Sequence[str], use: Use) -> str:
    return "\n".join(f"{use.terms.bullet}{line}" for line in lines)


# --- the table ----------------------------------------------------------------------------

_WHERE = Argument("where", Message("describe-where"), ArgumentKind.EXTENT)
_COURSE_OF_STAFF = Argument(
    "course", Message("describe-staff-add-course"), ArgumentKind.COURSE, is_next=True
)


def _values(kind: type[FollowUps | Askers | AnswerLength]) -> tuple[tuple[str, Message], ...]:
    return tuple((value.value, _VALUES[value.value]) for value in kind)


_VALUES = {
    "off": Message("choice-off"),
    "on": Message("choice-on"),
    "until-people-talk": Message("choice-until-people-talk"),
    "mention": Message("choice-mention"),
    "everyone": Message("choice-everyone"),
    "staff": Message("choice-staff"),
    "short": Message("choice-short"),
    "normal": Message("choice-normal"),
    "long": Message("choice-long"),
}


def _course(
    words: str,
    describes: Message,
    does: Callable[[Commands, Use, Arguments], Awaitable[Result]],
    *arguments: Argument,
    who: GivenBy = GivenBy.STAFF,
    hint: tuple[str, ...] | None = None,
) -> Command:
    return Command(("course", *words.split()), describes, does, who, arguments, hint)


COMMANDS: tuple[Command, ...] = (
    Command(
        ("ask",),
        Message("describe-ask"),
        None,
        arguments=(
            Argument(
                "question",
                Message("describe-ask-question"),
                required=True,
                shortest=MIN_QUESTION,
                longest=LONGEST_COMMAND,
            ),
            Argument("section", Message("describe-ask-section"), ArgumentKind.SECTION, longest=100),
            Argument("private", Message("describe-ask-private"), ArgumentKind.FLAG),
        ),
        hint=('[private] [in "section"] question',),
    ),
    Command(
        ("glossator", "help"),
        Message("describe-help"),
        None,
        arguments=(
            Argument(
                "question",
                Message("describe-help-question"),
                shortest=MIN_QUESTION,
                longest=MAX_QUESTION,
            ),
        ),
        hint=("help [question]",),
    ),
    Command(("glossator", "sources"), Message("describe-sources"), Commands.sources),
    Command(("glossator", "about"), Message("describe-about"), Commands.about),
    Command(("glossator", "data"), Message("describe-data"), Commands.data),
    _course("show", Message("describe-show"), Commands.show),
    _course(
        "bind",
        Message("describe-bind"),
        Commands.bind,
        Argument("course", Message("describe-bind-course"), ArgumentKind.COURSE, required=True),
        _WHERE,
        hint=("bind COURSE",),
    ),
    _course(
        "unbind",
        Message("describe-unbind"),
        Commands.unbind,
        Argument("where", Message("describe-unbind-where"), ArgumentKind.EXTENT),
    ),
    _course(
        "switch",
        Message("describe-switch"),
        Commands.switch,
        Argument(
            "state",
            Message("describe-switch-state"),
            ArgumentKind.CHOICE,
            required=True,
            choices=(("off", Message("choice-off")), ("on", Message("choice-on"))),
        ),
        _WHERE,
        hint=("switch on", "switch off"),
    ),
    _course("pause", Message("describe-pause"), Commands.pause),
    _course("resume", Message("describe-resume"), Commands.resume),
    _course(
        "set",
        Message("describe-set"),
        Commands.set_rules,
        Argument(
            "follow_ups",
            Message("describe-set-follow-ups"),
            ArgumentKind.CHOICE,
            choices=_values(FollowUps),
        ),
        Argument(
            "askers", Message("describe-set-askers"), ArgumentKind.CHOICE, choices=_values(Askers)
        ),
        Argument(
            "length",
            Message("describe-set-length"),
            ArgumentKind.CHOICE,
            choices=_values(AnswerLength),
        ),
        Argument("private", Message("describe-set-private"), ArgumentKind.FLAG),
        Argument("auto_answer", Message("describe-set-auto-answer"), ArgumentKind.FLAG),
        Argument("outsiders", Message("settings-name-outsiders"), ArgumentKind.FLAG),
        _WHERE,
        hint=("set RULE VALUE",),
    ),
    _course(
        "staff add",
        Message("describe-staff-add"),
        Commands.add_staff,
        Argument("role", Message("describe-staff-add-role"), ArgumentKind.GROUP, is_next=True),
        Argument("person", Message("describe-staff-add-person"), ArgumentKind.PERSON),
        _COURSE_OF_STAFF,
        who=GivenBy.NAMING,
    ),
    _course(
        "staff remove",
        Message("describe-staff-remove"),
        Commands.remove_staff,
        Argument("role", Message("describe-staff-remove-role"), ArgumentKind.GROUP, is_next=True),
        Argument("person", Message("describe-staff-remove-person"), ArgumentKind.PERSON),
        Argument(
            "course", Message("describe-staff-remove-course"), ArgumentKind.COURSE, is_next=True
        ),
        Argument("gone", Message("describe-staff-remove-gone"), longest=20),
        who=GivenBy.NAMING,
    ),
    _course(
        "staff list", Message("describe-staff-list"), Commands.list_staff, who=GivenBy.REVIEWERS
    ),
    _course(
        "queue",
        Message("describe-queue"),
        Commands.queue,
        Argument(
            "cards",
            Message("describe-queue-cards"),
            ArgumentKind.CHOICE,
            is_next=True,
            choices=(("post here", Message("choice-post-here")), ("stop", Message("choice-stop"))),
        ),
        who=GivenBy.REVIEWERS,
    ),
    _course("verified", Message("describe-verified"), Commands.verified, who=GivenBy.REVIEWERS),
    _course("hints", Message("describe-hints"), Commands.hints),
    _course("policy list", Message("describe-policy-list"), Commands.list_policies),
    _course(
        "policy set",
        Message("describe-policy-set"),
        Commands.set_policy,
        Argument(
            "mode",
            Message("describe-policy-mode"),
            ArgumentKind.CHOICE,
            required=True,
            choices=(
                ("full", Message("choice-full")),
                ("hints", Message("choice-hints")),
                ("sections", Message("choice-sections")),
                ("closed", Message("choice-closed")),
            ),
        ),
        Argument("section", Message("describe-policy-section"), longest=100),
        Argument("from", Message("describe-policy-from"), longest=20),
        Argument("until", Message("describe-policy-until"), longest=20),
        _WHERE,
    ),
    _course(
        "policy remove",
        Message("describe-policy-remove"),
        Commands.remove_policy,
        Argument(
            "policy",
            Message("describe-policy-which"),
            ArgumentKind.POLICY,
            required=True,
            longest=40,
        ),
    ),
    _course("radar show", Message("describe-radar-show"), Commands.show_radar),
    _course("radar post", Message("describe-radar-post"), Commands.post_radar),
    _course("radar stop", Message("describe-radar-stop"), Commands.stop_radar),
)
"""In the order in which they are listed."""

GROUPS: Mapping[tuple[str, ...], Message] = {
    ("glossator",): Message("describe-glossator"),
    ("course",): Message("describe-course"),
    ("course", "staff"): Message("describe-staff"),
    ("course", "policy"): Message("describe-policy"),
    ("course", "radar"): Message("describe-radar"),
}
"""What is said of the words that only begin commands."""


def in_group(*path: str) -> list[Command]:
    """Return the commands that begin with these words."""
    return [one for one in COMMANDS if one.path[: len(path)] == path]


def usage_hint(group: str) -> str:
    """Return what may be typed after a command's name, such as `show | bind COURSE`."""
    hints: dict[str, None] = {}
    for command in in_group(group):
        words = command.hint or command.path[1:2]
        hints.update(dict.fromkeys(words))
    return " | ".join(hints)
