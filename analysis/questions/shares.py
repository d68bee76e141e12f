"""The messages of worker groups: a message that satisfies a group is due to any one of its members.

Law: a group has its share of a message if a member received it that has no other matching subscription; the share was
certainly due if each member that could have been chosen certainly had to receive the message. A member with another
matching subscription may have received it for either, which the records do not show: then nothing is found. Two shares
are a fault, unless the publisher made attempts at two routers. A record without a group is of a subscription without a
group; so are all records from before routers recorded groups.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.questions.standing import ID, MUST, OTHERWISE, PLACE, UNREACHABLE, why


def shared(both: DataFrame, messages: DataFrame) -> DataFrame:
    """Return a row for each message and worker group that it satisfies: `standing` of the group, whether it
    `is_dropped` anywhere, how many members `took` it for certain, the first `taker`, whether one got it `otherwise`,
    and at how many routers its publisher tried it. `both` has a row for each message and connection, with `shares`."""
    each = both.select(
        *(*ID, *PLACE, "got_us", "is_dropped", F.col("standing").isNotNull().alias("asks_itself")),
        F.explode("shares").alias("share"),
    )
    one = each.groupBy(*ID, *PLACE, F.col("share.group").alias("group")).agg(
        F.min("share.standing").alias("standing"),
        *(F.first(name).alias(name) for name in ("got_us", "is_dropped", "asks_itself")),
    )
    has_it, is_taker = F.col("got_us").isNotNull(), F.col("got_us").isNotNull() & ~F.col("asks_itself")
    groups = one.groupBy(*ID, "group").agg(
        F.coalesce(F.max(F.when(F.col("standing") != UNREACHABLE, F.col("standing"))), F.lit(UNREACHABLE)).alias(
            "standing"
        ),
        F.max("is_dropped").alias("is_dropped"),
        F.count(F.when(is_taker & (F.col("standing") == MUST), 1)).alias("took"),
        F.min(F.when(is_taker, F.struct(*PLACE))).alias("taker"),
        F.max(has_it & F.col("asks_itself")).alias("otherwise"),
    )
    entered = messages.where(F.col("attributes").isNotNull() & F.col("refused").isNull())
    tried = entered.groupBy(*ID).agg(F.countDistinct("router", "epoch").alias("tries"))
    return groups.join(tried, list(ID), "left")


def takers(groups: DataFrame) -> DataFrame:
    """Return the connections that received a message which a group of theirs certainly had to receive."""
    due = groups.where((F.col("standing") == MUST) & F.col("taker").isNotNull())
    return due.select(*ID, "taker.*", F.lit(True).alias("is_share")).distinct()


def judged(groups: DataFrame) -> DataFrame:
    """Return a row with `verdict` and `reason` for each group without a share, or with two; a single share is judged as
    that member's."""
    is_twice = (F.col("took") > 1) & (F.coalesce("tries", F.lit(1)) == 1)
    is_due = F.col("standing") == MUST
    verdict = (
        F.when(is_twice, "duplicate")
        .when(F.col("otherwise"), "undecided")
        .when(is_due & F.col("is_dropped"), "dropped")
        .when(is_due, "missing")
        .otherwise("undecided")
    )
    return groups.where(is_twice | F.col("taker").isNull()).select(
        *(*ID, "group", verdict.alias("verdict")),
        F.when(is_twice, F.col("took")).alias("times"),
        (is_due & ~is_twice).alias("is_due"),
        F.when(F.col("otherwise"), OTHERWISE).otherwise(why()).alias("reason"),
    )
