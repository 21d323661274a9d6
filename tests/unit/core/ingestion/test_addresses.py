"""Which addresses may be reached, and how a URL says which one it means."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.errors import UnsupportedDocument
from core.ingestion.sources.pinned import (
    is_local,
    is_public,
    literal_address,
    parse_target,
    resolve_with_system,
)

SPECIAL = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "100.127.255.255",
    "127.0.0.1", "127.255.255.254", "168.63.129.16", "169.254.0.1", "169.254.169.254",
    "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1",
    "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1",
    "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
]  # fmt: skip
SPECIAL_IPV6 = [
    "::", "::1", "::7f00:1", "::ffff:0:7f00:1", "64:ff9b:1::7f00:1", "64:ff9b:1::808:808",
    "100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1",
    "2002:7f00:1::", "2002:808:808::", "3fff::1", "5f00::1", "fc00::1", "fd00::1",
    "fd00:ec2::254", "fd20:ce::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "ff0e::1",
    "2606:2800::5efe:7f00:1", "2606:2800::200:5efe:808:808",
]  # fmt: skip


@pytest.mark.parametrize("address", [*SPECIAL, *SPECIAL_IPV6])
def test_special_purpose_addresses_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("prefix", ["::ffff:", "64:ff9b::"])
@pytest.mark.parametrize("address", SPECIAL)
def test_an_ipv6_form_of_a_special_address_is_not_public(prefix: str, address: str) -> None:
    assert not is_public(ip_address(f"{prefix}{address}"))


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "93.184.215.14",
        "2606:2800:21f:cb07::1",
        "2a00:1450::5",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "172.32.0.1",
        "100.128.0.1",
        "192.0.1.1",
    ],
)
def test_ordinary_addresses_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "192.168.0.9", "100.64.0.1", "::1", "fd12::1"]
)
def test_a_trusted_host_may_be_on_this_machine_or_in_a_private_network(address: str) -> None:
    assert is_local(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "100.100.100.200",
        "fd00:ec2::254",
        "::ffff:169.254.169.254",
        "0.0.0.0",
        "fe80::1",
        "224.0.0.1",
        "168.63.129.16",
        "192.0.0.192",
    ],
)
def test_even_a_trusted_host_may_not_be_a_metadata_service(address: str) -> None:
    assert not is_local(ip_address(address))
    assert not is_public(ip_address(address))


@pytest.mark.costly
@given(st.ip_addresses())
def test_no_address_is_both_public_and_local(address: object) -> None:
    parsed = ip_address(str(address))
    assert not (is_public(parsed) and is_local(parsed))


@pytest.mark.costly
@given(st.ip_addresses(v=4))
def test_a_mapped_address_is_judged_like_the_address_it_stands_for(address: object) -> None:
    plain, mapped = ip_address(str(address)), ip_address(f"::ffff:{address}")
    assert is_public(mapped) == is_public(plain)


@pytest.mark.parametrize(
    "spelling", ["127.1", "127.0.1", "0x7f000001", "017700000001", "2130706433", "0x7f.1"]
)
def test_every_spelling_of_loopback_is_recognised(spelling: str) -> None:
    assert literal_address(spelling) == ip_address("127.0.0.1")


async def test_the_system_resolver_knows_localhost() -> None:
    assert set(await resolve_with_system("localhost", 80)) <= {"127.0.0.1", "::1"}


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("http://book.example", "http://book.example/"),
        ("HTTPS://Book.Example.:443/a?b=c#d", "https://book.example/a?b=c"),
        ("http://bücher.example/ä", "http://xn--bcher-kva.example/%C3%A4"),
        ("http://book。example/", "http://book.example/"),
        ("http://0x08080808/", "http://8.8.8.8/"),
        ("http://[2606:2800:021F::0:1]/", "http://[2606:2800:21f::1]/"),
        ("http://127.1./", "http://127.0.0.1/"),
        ("http://book.example:/x", "http://book.example/x"),
        ("https://book.example:80/", "https://book.example:80/"),
    ],
)
def test_a_url_is_brought_into_one_form(url: str, normal: str) -> None:
    assert str(parse_target(url).url) == normal


@pytest.mark.parametrize(
    "url",
    [
        "",
        "book.example/page",
        "//book.example/",
        "ftp://book.example/",
        "file:///etc/hosts",
        "jar:http://book.example!/",
        "data:text/html,x",
        "javascript:alert(1)",
        "http:/book.example",
        "http:book.example",
        "http:///book.example",
        "http://",
        "http://?x",
        "http://user@book.example/",
        "http://user:secret@book.example/",
        "http://@book.example/",
        "http://book.example\\@127.0.0.1/",
        "http://book.example/a\\b",
        "http://book.example /",
        " http://book.example/",
        "http://book.example/\n",
        "http://book\t.example/",
        "http://book.example/\x00",
        "http://book.example/\x85",
        "http://book%2eexample/",
        "http://%31%32%37.0.0.1/",
        "http://[fe80::1%25eth0]/",
        "http://[fe80::1%eth0]/",
        "http://[::1/",
        "http://::1/",
        "http://[v1.x]/",
        "http://0177.0.0.1/",
        "http://1.2.3.4.5/",
        "http://1.2.3.256/",
        "http://book.09/",
        "http://book.0x7f/",
        "http://①②⑦.⓪.⓪.①/",
        "http://book..example/",
        "http://.book.example/",
        "http://book.example../",
        "http://-book.example/",
        "http://book,example/",
        "http://book.example:port/",
        "http://book.example:80:80/",
        "http://book.example:65536/",
        "http://" + "a" * 64 + ".example/",
        "http://" + "a." * 127 + "example/",
    ],
)
def test_a_url_that_is_unclear_or_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(UnsupportedDocument):
        parse_target(url)


@given(
    st.text(max_size=30), st.sampled_from(["", "http://", "https://[", "http://127.", "http://a@"])
)
def test_any_text_is_either_a_target_or_refused(text: str, start: str) -> None:
    try:
        target = parse_target(start + text)
    except UnsupportedDocument:
        return
    assert parse_target(str(target.url)) == target


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/b", "https://book.example/b"),
        ("b", "https://book.example/a/b"),
        ("?q=1", "https://book.example/a/?q=1"),
        ("//other.example/c", "https://other.example/c"),
        ("https://other.example/", "https://other.example/"),
    ],
)
def test_a_redirect_is_read_relative_to_where_it_came_from(location: str, expected: str) -> None:
    assert str(parse_target("https://book.example/a/").join(location).url) == expected


@pytest.mark.parametrize(
    "location",
    [
        "http://book.example/",
        "ftp://book.example/",
        "https://[",
        "/\\127.0.0.1",
        "https://x@y/",
        "ht\ttps://book.example/",
        "http:\n//127.0.0.1/",
        "file:///etc/hosts",
    ],
)
def test_a_redirect_to_something_less_safe_is_refused(location: str) -> None:
    with pytest.raises(UnsupportedDocument):
        parse_target("https://book.example/a/").join(location)


@pytest.mark.parametrize(
    "host", ["localhost", "a.localhost", "printer.local", "metadata.google.internal"]
)
def test_names_of_the_local_network_are_known(host: str) -> None:
    assert parse_target(f"http://{host}/").has_local_name
    assert not parse_target(f"http://{host}.example/").has_local_name
