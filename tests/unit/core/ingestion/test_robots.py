"""What a robots.txt allows."""

import time

import pytest

from core.ingestion.web.robots import parse_robots

AGENT = "Glossator/1.0 (a bot that answers questions)"


def allowed(robots: str, path: str) -> bool:
    return parse_robots(robots, AGENT).allows(path)


@pytest.mark.parametrize(
    ("rule", "path", "expected"),
    [
        ("Disallow: /", "/", False),
        ("Disallow:", "/any", True),
        ("Disallow: /book", "/bookshop", False),
        ("Disallow: /book/", "/book", True),
        ("Disallow: /*.pdf$", "/book/a.pdf", False),
        ("Disallow: /*.pdf$", "/book/a.pdf?x", True),
        ("Disallow: /*.pdf", "/book/a.pdf?x", False),
        ("Disallow: /a*b*c", "/a-c-b", True),
        ("Disallow: /a*b*c", "/a-b-c-d", False),
        ("Disallow: /a*", "/a", False),
        ("Disallow: /a$", "/a", False),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: /a*a$", "/a", True),
        ("Disallow: *?print", "/page?print=1", False),
        ("Disallow: /%7ejoe", "/~joe", False),
        ("Disallow: /ä", "/%C3%A4", False),
        ("Disallow: /a%2fb", "/a/b", True),
        ("disallow : /x # why", "/x", False),
        ("Disallow /x", "/x", True),
    ],
)
def test_a_rule_fits_paths_as_the_standard_says(rule: str, path: str, expected: bool) -> None:
    assert allowed(f"User-agent: *\n{rule}", path) is expected


def test_the_longest_rule_decides_wherever_it_stands() -> None:
    robots = "User-agent: *\nDisallow: /\nAllow: /book/\nDisallow: /book/draft"
    assert allowed(robots, "/book/tides")
    assert not allowed(robots, "/book/drafts")
    assert not allowed(robots, "/shop")


def test_of_two_equal_rules_the_one_that_allows_decides() -> None:
    assert allowed("User-agent: *\nAllow: /a\nDisallow: /a", "/a")
    assert allowed("User-agent: *\nDisallow: /a\nAllow: /a", "/a")


def test_a_group_for_us_replaces_the_group_for_everybody() -> None:
    robots = "User-agent: *\nDisallow: /\n\nUser-agent: other\nUser-Agent: GLOSSATOR\nDisallow: /x"
    assert allowed(robots, "/book")
    assert not allowed(robots, "/x")


def test_groups_for_the_same_agent_count_as_one() -> None:
    robots = "User-agent: *\nDisallow: /a\nUser-agent: *\nDisallow: /b\nCrawl-delay: 2.5"
    assert not allowed(robots, "/a")
    assert not allowed(robots, "/b")
    assert parse_robots(robots, AGENT).crawl_delay == 2.5


def test_a_group_for_another_agent_does_not_concern_us() -> None:
    assert allowed("User-agent: glossatorious\nDisallow: /", "/")


@pytest.mark.parametrize("delay", ["soon", "-1", "inf", "nan", "1e9", ""])
def test_a_crawl_delay_that_makes_no_sense_is_ignored(delay: str) -> None:
    assert parse_robots(f"User-agent: *\nCrawl-delay: {delay}", AGENT).crawl_delay == 0


def test_text_that_is_no_robots_file_allows_everything() -> None:
    assert allowed("<html><body>Disallow: / is not here</body></html>", "/")
    assert allowed("Disallow: /", "/")


def test_a_rule_full_of_stars_is_decided_at_once() -> None:
    started = time.process_time()
    assert allowed("User-agent: *\nDisallow: /" + "*a" * 2000 + "b$", "/" + "a" * 8000)
    assert time.process_time() - started < 1
