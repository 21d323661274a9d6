"""Guards taken out one at a time, to see that a test notices: `make mutants`."""

from tests.mutants.in_adapters import IN_ADAPTERS
from tests.mutants.in_bot import IN_BOT
from tests.mutants.in_core import IN_CORE
from tests.mutants.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = (*IN_CORE, *IN_ADAPTERS, *IN_BOT)
