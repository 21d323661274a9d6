"""Whether staff confirmed a wording: until now a reader's press of a button counted as a yes."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    # Those that are kept wait for the staff, who never saw them.
    state = sa.Column("state", sa.Text(), nullable=False, server_default="proposed")
    op.add_column("verified_phrasings", state)


def downgrade() -> None:
    op.drop_column("verified_phrasings", "state")
