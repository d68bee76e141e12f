"""The demand of one subscription on one message, by the message's place and time and the records of both routers.

Law: MUST is the best; each of the others except OUTSIDE leaves open whether the message was due, and is a reason.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

LOCAL_US: Final = 50_000
"""The time of one turn of a router's loop; events of one turn may be recorded in another order."""
ID: Final = ("origin", "number")
PLACE: Final = ("router", "epoch", "connection")
MUST, UNREST, SUBSCRIPTION, LOG, UNREACHABLE, OUTSIDE = range(6)
REASONS: Final = {
    UNREST: "its route was changing, or is not recorded",
    SUBSCRIPTION: "the subscription had just begun, or was about to end",
    LOG: "the router's log has a hole there, ends earlier, or uses another sample",
    UNREACHABLE: "the router was unreachable",
}
OTHERWISE: Final = "a member with another matching subscription got it, and the records do not show for which"
"""Why the share of a worker group is unknown."""


def standing(settle_us: int) -> Column:
    """Return the column with the demand of one subscription on one message."""
    at, since, until = F.col("at_us"), F.col("since_at_us"), F.col("until_at_us")
    is_home = (F.col("source") == F.col("router")) & (F.col("source_epoch") == F.col("epoch"))
    unknown = F.lit(settle_us)
    error = F.when(is_home, 0).otherwise(F.coalesce("error_us", unknown) + F.coalesce("home_error_us", unknown))
    margin = error + F.when(is_home, LOCAL_US).otherwise(settle_us)
    by_way = F.exists("spans", lambda span: at.between(span.from_us, span.to_us))
    is_moving = F.coalesce(by_way, "is_restless", F.lit(False))
    return (
        F.when((at < since - error) | (at > until + error), OUTSIDE)
        .when(~is_home & ~F.array_contains(F.coalesce("reach", F.array()), F.col("router")), UNREACHABLE)
        .when(~is_home & is_moving, UNREST)
        .when((at < since + margin) | (at > until - margin), SUBSCRIPTION)
        .when(_is_dark(settle_us), LOG)
        .otherwise(MUST)
    )


def _is_dark(settle_us: int) -> Column:
    """Return the column that is true if the home router's log may lack the events."""
    here = F.col("at_us") - F.col("home_offset_us")
    messages = F.exists(
        F.coalesce("messages_holes", F.array()),
        lambda hole: (hole.from_us < here + settle_us) & (hole.to_us > here - settle_us),
    )
    events = F.exists(
        F.coalesce("events_holes", F.array()), lambda hole: (hole.from_us < here) & (hole.to_us > F.col("since_us"))
    )
    mine, source = F.col("sampling"), F.col("source_sampling")
    covers = (mine == "all") | (mine == source) | (mine.try_cast("double") >= source.try_cast("double"))
    return messages | events | ~F.coalesce(covers, F.lit(False))


def why() -> Column:
    """Return the column with the reason in words for the column `standing`."""
    reason = F.lit(None).cast("string")
    for standing, words in REASONS.items():
        reason = F.when(F.col("standing") == standing, words).otherwise(reason)
    return reason
