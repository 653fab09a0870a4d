"""A small seeded web of copies and innocents, and a brand that is labeled, with the truth."""
