"""The settings: what there is to set, what is set, and how both are told.

`declared` has each setting once: its name, type, default and meaning stand together. `described`
makes of that the tables, the template of reusewatch.toml and the words of errors. `resolving`
finds the values in force: flags, then the environment, then reusewatch.toml, then defaults.

SettingsError   a name or a value is wrong; the message says which, where it was set, what it may be
"""

from reusewatch.streams.settings.declared import Part, Settings, SettingsError
from reusewatch.streams.settings.described import SECRETS
from reusewatch.streams.settings.resolving import (
    CONFIG_FILE,
    ENV_PREFIX,
    HANDED_OVER,
    Resolved,
    handed_over,
    resolve,
)

__all__ = [
    "CONFIG_FILE",
    "ENV_PREFIX",
    "HANDED_OVER",
    "SECRETS",
    "Part",
    "Resolved",
    "Settings",
    "SettingsError",
    "handed_over",
    "resolve",
]
