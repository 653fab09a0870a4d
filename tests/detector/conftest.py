"""Property tests here take as long as they take: on a shared machine a deadline is a coin toss."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
