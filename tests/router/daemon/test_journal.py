"""The log has a line for each link that comes or goes and for each alarm, whoever tells of it."""

import logging

import pytest

from tamis.router.daemon import journal
from tamis.router.daemon.events import Alarmed, EventBus, LifeChanged
from tamis.router.daemon.link_events import LinkCameUp, LinkWentDown


@pytest.fixture
def events(caplog):
    caplog.set_level(logging.INFO, "tamis")
    made = EventBus(pytest.fail)
    journal.listen(made)
    return made


def test_links_and_alarms_are_logged(events, caplog):
    events.tell(LinkCameUp, "r2", "10.0.0.2:7000", 3, 12, 1)
    events.tell(LinkWentDown, "r2", "10.0.0.2:7000", 3, 12, "no frame arrived for 1000 ms")
    events.tell(Alarmed, "the clock is ahead")
    told = [(record.levelname, record.getMessage(), record.fields) for record in caplog.records]
    about = {"neighbour": "r2", "peer": "10.0.0.2:7000", "session": 3}
    assert told == [
        ("INFO", "link up", about),
        ("WARNING", "link down", about | {"reason": "no frame arrived for 1000 ms"}),
        ("ERROR", "alarm", {"because": "the clock is ahead"}),
    ]


def test_a_router_that_stops_ends_its_links_without_a_warning(events, caplog):
    events.tell(LifeChanged, "stopping")
    events.tell(LinkWentDown, "r2", "10.0.0.2:7000", 3, 12, "")
    [record] = caplog.records
    assert (record.levelname, record.fields["reason"]) == ("INFO", "the connection ended")
