"""Whose requests a server takes: its own names, its own pages, and pages of listed origins."""

from __future__ import annotations

import pytest

from tamis.serving.origin import check_host, check_origin, cors_headers, preflight
from tamis.serving.problem import RequestRefused

KEY = "admin_names"


@pytest.mark.parametrize(
    "host", ["127.0.0.1:7600", "localhost:7600", "LOCALHOST:7600", "[::1]:7600", "metrics", "b:7600"]
)
def test_our_own_names(host):
    check_host({"host": host}, ("127.0.0.1", 7600), ("metrics", "b:7600"), KEY)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil:7600", "b:7601", "", "x"])
def test_other_names(host):
    with pytest.raises(RequestRefused, match="is not this server's: use") as caught:
        check_host({"host": host}, ("127.0.0.1", 7600), ("metrics", "b:7600"), KEY)
    assert caught.value.problem.status == 421


def test_names_beyond_loopback():
    check_host({"host": "10.0.0.5:7600"}, ("10.0.0.5", 7600), (), KEY)
    check_host({"host": "[2001:db8::1]:7600"}, ("2001:db8::1", 7600), (), KEY)
    check_host({"host": "whatever"}, None, (), KEY)
    with pytest.raises(RequestRefused):
        check_host({"host": "localhost:7600"}, ("10.0.0.5", 7600), (), KEY)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "h:1", "origin": "http://evil.example"},
        {"host": "h:1", "origin": "null"},
        {"host": "h:1", "origin": "https://h:1"},
        {"host": "h:1", "sec-fetch-site": "cross-site"},
        {"host": "h:1", "sec-fetch-site": "same-site"},
    ],
)
def test_foreign_pages(headers):
    with pytest.raises(RequestRefused, match="are refused") as caught:
        check_origin(headers)
    assert caught.value.problem.status == 403


def test_no_page_or_our_own():
    check_origin({"host": "h:1"})
    check_origin({"host": "h:1", "origin": "http://h:1", "sec-fetch-site": "same-origin"})


LISTED = {"https://app.example"}


@pytest.mark.parametrize("origin", ["https://app.example", "https://APP.example"])
def test_a_page_of_a_listed_origin(origin):
    headers = {"host": "h:1", "origin": origin, "sec-fetch-site": "cross-site"}
    assert check_origin(headers, LISTED) == origin
    assert cors_headers(origin) == (("Access-Control-Allow-Origin", origin), ("Vary", "Origin"))
    assert cors_headers(check_origin({"host": "h:1"}, LISTED)) == ()


@pytest.mark.parametrize(
    "origin", ["https://app.example.evil", "http://app.example", "https://app.example:444", "null", ""]
)
def test_a_page_that_is_nearly_listed(origin):
    with pytest.raises(RequestRefused, match="are refused"):
        check_origin({"host": "h:1", "origin": origin}, LISTED)


def test_a_foreign_page_that_names_no_origin_is_not_listed():
    with pytest.raises(RequestRefused):
        check_origin({"host": "h:1", "sec-fetch-site": "cross-site"}, LISTED)


def test_our_own_pages_behind_tls():
    assert check_origin({"host": "h:1", "origin": "https://h:1"}, schemes=("https",)) is None


def test_a_preflight_is_answered_for_listed_origins_alone():
    asked = {"access-control-request-method": "PUT"}
    answer = preflight("OPTIONS", asked, "https://app.example", "GET, PUT", "Authorization")
    assert (answer.status, answer.body) == (204, b"")
    assert dict(answer.headers) == {
        "Access-Control-Allow-Origin": "https://app.example",
        "Vary": "Origin",
        "Access-Control-Allow-Methods": "GET, PUT",
        "Access-Control-Allow-Headers": "Authorization",
        "Access-Control-Max-Age": "600",
    }
    assert preflight("OPTIONS", asked, None, "GET", "") is None
    assert preflight("OPTIONS", {}, "https://app.example", "GET", "") is None
    assert preflight("PUT", asked, "https://app.example", "GET", "") is None
