"""Which addresses a crawl may connect to, in whatever spelling they come."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.crawler.live.guard import (
    EVERYWHERE,
    ROBOTS_BYTES,
    CappedRobots,
    Fence,
    embedded,
    literal,
)

INSIDE = [
    "127.0.0.1", "127.255.0.9", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254",
    "0.0.0.0", "100.64.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
    "::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
    "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1",
]  # fmt: skip
OUTSIDE = ["192.0.43.8", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]


@pytest.mark.parametrize("address", INSIDE)
def test_addresses_inside_are_refused(address: str) -> None:
    assert not Fence().lets(ip_address(address))
    assert Fence.of(EVERYWHERE).lets(ip_address(address))


@pytest.mark.parametrize("address", OUTSIDE)
def test_public_addresses_are_let_through(address: str) -> None:
    assert Fence().lets(ip_address(address))


@given(st.ip_addresses(v=4))
def test_an_address_and_its_mapped_form_are_one(address: IPv4Address) -> None:
    mapped = IPv6Address(f"::ffff:{address}")
    assert embedded(mapped) == address
    assert Fence().lets(mapped) == Fence().lets(address)


@given(st.ip_addresses(v=4))
def test_every_spelling_of_an_address_is_seen(address: IPv4Address) -> None:
    first, second, third, fourth = address.packed
    number = int(address)
    spellings = [
        str(address), f"{address}.", str(number), hex(number), f"0{number:o}",
        f"{first}.{number & 0xFFFFFF}", f"{first}.{second}.{number & 0xFFFF}",
        f"{first:#x}.{second:#x}.{third:#x}.{fourth:#x}",
    ]  # fmt: skip
    assert {literal(spelling) for spelling in spellings} == {address}


@given(st.ip_addresses(v=6))
def test_brackets_and_zones_do_not_hide_an_address(address: IPv6Address) -> None:
    assert literal(f"[{address}]") == literal(f"{address}%eth0") == address


@pytest.mark.parametrize(
    "name", ["example.org", "1e100.net", "x127.0.0.1", "a.1b", "localhost", ""]
)
def test_names_are_no_addresses(name: str) -> None:
    assert literal(name) is None


def test_only_the_network_named_is_opened() -> None:
    fence = Fence.of(["10.1.0.0/16"])
    assert fence.lets(ip_address("10.1.2.3"))
    assert fence.lets(ip_address("::ffff:10.1.2.3"))
    assert not fence.lets(ip_address("10.2.0.1"))


def test_a_network_that_is_none_cannot_be() -> None:
    with pytest.raises(ValueError, match="nowhere"):
        Fence.of(["nowhere"])


def test_of_a_robots_txt_without_end_the_beginning_is_read() -> None:
    from scrapy.utils.test import get_crawler

    begin = b"User-agent: *\nDisallow: /a\n"
    body = begin + b"#" * ROBOTS_BYTES + b"\nDisallow: /b\n"
    parser = CappedRobots.from_crawler(get_crawler(), body)
    assert not parser.allowed("http://x.example/a", "reusewatch")
    assert parser.allowed("http://x.example/b", "reusewatch")
