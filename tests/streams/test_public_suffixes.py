"""The suffixes of hosts, as the library that bundles the list finds them."""

from __future__ import annotations

import pytest
from publicsuffixlist import PublicSuffixList

from reusewatch.streams.public_suffixes import PublicSuffixes


@pytest.mark.parametrize("of_registries", [True, False])
def test_every_rule_holds_as_the_library_reads_it(*, of_registries: bool) -> None:
    options = {"accept_unknown": False, "accept_encoded_idn": False, "only_icann": of_registries}
    ours, theirs = PublicSuffixes(**options), PublicSuffixList(**options)
    every = PublicSuffixList(accept_encoded_idn=False)._publicsuffix
    hosts = {rule.removeprefix("!").removeprefix("*.") for rule in every}
    hosts |= {"", "localhost", ".".join(["a"] * 120) + ".co.uk"}
    for host in hosts:
        for name in (host, f"a.{host}", f"b.a.{host}"):
            assert ours.publicsuffix(name) == theirs.publicsuffix(name), name
            assert ours.privatesuffix(name) == theirs.privatesuffix(name), name
