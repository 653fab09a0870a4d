"""A small seeded web of copies and innocents, with the truth about each page."""
