"""What people of several tenants see of courses that are not theirs, cell by cell on the wire."""
