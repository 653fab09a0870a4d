"""One line puts every page that a Scrapy project fetches on the bus.

    ADDONS = {"reusewatch.crawler.addon.ReuseWatch": 500}

Scrapy settings named `REUSEWATCH_*` are settings of reusewatch (`REUSEWATCH_BUS`, …); with
`REUSEWATCH_ENABLED = False` the add-on steps aside. The way of a response is in `crawler.live.tap`;
with `REUSEWATCH_STEER = "on"` what is found changes what is fetched, see `crawler.live.steer`.
"""

from __future__ import annotations

from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from reusewatch.crawler.live.judge import Judge
from reusewatch.crawler.live.project import ENABLED, check
from reusewatch.crawler.live.steer import Steer
from reusewatch.crawler.live.tap import Tap
from reusewatch.crawler.live.url_traps import TrapFilter

# Nearest the downloader, past Scrapy's last (900): it sees what was fetched, before any other
# middleware makes a redirect, a retry or an error of it.
TAP_ORDER = 950
# Nearest the engine: a request that is not sent is not looked at by any other.
STEER_ORDER = 50
# Nearest the engine as well: after Scrapy's own have named the page that a link stands on.
TRAPS_ORDER = 50
# Nearest the spider: what is dropped here, no other middleware counts.
JUDGE_ORDER = 950


class ReuseWatch:
    """The add-on."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Put the tap in place. Raises SettingsError for a REUSEWATCH_ setting that cannot be."""
        if not settings.getbool(ENABLED, True):
            raise NotConfigured
        # Looked at here already: a wrong setting is told before anything is made of it.
        check(settings)
        settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", Tap, TAP_ORDER)
        settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", Steer, STEER_ORDER)
        for part, order in ((TrapFilter, TRAPS_ORDER), (Judge, JUDGE_ORDER)):
            settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", part, order)
