"""Whether the asker of a question is staff or a student, found out when it is answered."""

import logging

from adapters.slack.inbound import Spot
from adapters.slack.people import People
from adapters.slack.replies.address import Address
from core.access.roster import Roster
from core.access.staff import role_of
from core.errors import StoreError
from core.models import AgentRequest

logger = logging.getLogger(__name__)


class Roles:
    """Asks Slack who asked, which takes too long to be done before a question is accepted."""

    def __init__(self, roster: Roster, people: People) -> None:
        self._roster = roster
        self._people = people

    async def complete(self, address: Address, request: AgentRequest) -> AgentRequest:
        """Return a request with its asker's role, unless that is known already."""
        if request.user_context.role is not None:
            return request
        spot = Spot(address.team, address.enterprise, address.channel, address.asker)
        who = self._people.presence_of(spot)
        try:
            included = await self._roster.includes(who.tenants, who.member, request.course_id)
        except StoreError as error:
            logger.warning("it cannot be told who is staff: %s", error)
            return request
        context = request.user_context.model_copy(update={"role": role_of(included)})
        return request.model_copy(update={"user_context": context})
