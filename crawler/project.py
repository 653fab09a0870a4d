"""The settings of reusewatch in a Scrapy project: those named `REUSEWATCH_*` among Scrapy's own.

They go before the environment and reusewatch.toml. Two names are the add-on's alone:
`REUSEWATCH_ENABLED`, and `REUSEWATCH_CONFIG`, another file than ./reusewatch.toml.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from scrapy.settings import BaseSettings

from streams.settings import ENV_PREFIX, SECRETS, Resolved, SettingsError, resolve

ENABLED = f"{ENV_PREFIX}ENABLED"
CONFIG = f"{ENV_PREFIX}CONFIG"


def resolved(settings: BaseSettings) -> Resolved:
    """The settings of reusewatch that hold in a Scrapy project. Raises SettingsError."""
    file = settings.get(CONFIG)
    # By these names an error says where the value stands: in the project's settings.
    return resolve(environ={**os.environ, **_given(settings)}, file=Path(file) if file else None)


def _given(settings: BaseSettings) -> Mapping[str, str]:
    given = {}
    for key, value in settings.items():
        name = str(key)
        if not name.startswith(ENV_PREFIX) or name in (ENABLED, CONFIG) or value is None:
            continue
        if name.removeprefix(ENV_PREFIX).lower() in SECRETS:
            raise SettingsError(
                f"{name} is a secret: give it in the environment, or name a file that holds it "
                f"with {name}_FILE"
            )
        given[name] = value
    return given
