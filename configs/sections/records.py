"""The models of `records`: the records of routers about themselves and about messages.

Law: messages to record are chosen by a share of all ids or by a predicate, in one model. `none` and `all` are the
shares 0 and 1. Like the other models, these are the manual.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from tamis.configs import choices
from tamis.configs.choices import OneOf
from tamis.configs.fields import Folder, Octets, Seconds
from tamis.configs.sections.section import ConfigSection
from tamis.protocol.errors import PredicateError

PREDICATE_FORMAT = "predicate"
"""The format of a predicate's text in the JSON schema."""
_WORDS = {"none": 0.0, "all": 1.0}
_SHARES = "none, all, a share from 0 to 1, or {where: PREDICATE}"
FILES_OF_KEPT = 4
"""A file is closed at 1/FILES_OF_KEPT of `keep` at the latest, so that closed files exist besides the one being
written."""


def _read_share(value: object) -> object:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = None
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1")
    return float(value)


def read_predicate(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("must be a predicate")
    from tamis.protocol.language import parse

    try:
        parse(value)
    except PredicateError as error:
        raise ValueError(f"is no predicate: column {error.column}: {error.problem}") from None
    return value


def _read_sampling(value: object) -> object:
    if isinstance(value, str | int | float):
        try:
            return {"share": _read_share(_WORDS.get(str(value), value))}
        except ValueError:
            raise ValueError(f"must be {_SHARES}") from None
    if isinstance(value, dict) and "where" in value and "share" in value:
        raise ValueError("must have a share or a predicate, not both")
    return value


_WrittenShare = Annotated[float, Field(ge=0, le=1)]
_WrittenPredicate = Annotated[str, Field(json_schema_extra={"format": PREDICATE_FORMAT})]
Share = Annotated[float, BeforeValidator(_read_share, json_schema_input_type=_WrittenShare)]
_Predicate = Annotated[str, BeforeValidator(read_predicate, json_schema_input_type=_WrittenPredicate)]


class Sampling(ConfigSection):
    """Which messages are recorded. A message chosen by its id is recorded at every router that receives it."""

    share: Share = Field(default=0.0, description="Share of all messages, chosen by their ids, equally at all routers.")
    where: _Predicate | None = Field(default=None, description="Messages that satisfy this predicate.")

    def __str__(self) -> str:
        names = {share: word for word, share in _WORDS.items()}
        return f"where {self.where}" if self.where is not None else names.get(self.share, f"{self.share:g}")


SamplingOrShare = Annotated[
    Sampling,
    BeforeValidator(_read_sampling, json_schema_input_type=Literal["none", "all"] | _WrittenShare | Sampling),
]


class Rotation(ConfigSection):
    """When a file is closed and compressed, and the next one is begun: at the first of these limits."""

    bytes: Octets = Field(
        default=64 * 1024 * 1024, ge=65_536, le=2**34, description="At this size, in bytes, or at a quarter of `keep`."
    )
    seconds: Seconds = Field(default=3_600, ge=1, le=604_800, description="At this age, in seconds.")


class RecordSettings(ConfigSection):
    """The records of routers, for `tamis records` and `tamis analyze`. By default there are none."""

    folder: Folder = Field(
        default="records",
        validate_default=True,
        description="Folder with one folder per router, named by its id. A relative path starts from this file's "
        "folder.",
    )
    messages: SamplingOrShare = Field(
        default=Sampling(share=0.01),
        description="Which messages are recorded: `none`, `all`, a share (by default one in a hundred), or those that "
        "satisfy a predicate. Other events are always recorded.",
    )
    format: Annotated[str, OneOf(choices.RECORD_FORMATS)] = Field(
        default="jsonl",
        description="The form of closed files: compressed lines of JSON (`jsonl`), or columns (`parquet`), which need "
        "pyarrow: `pip install 'tamis[parquet]'`. The file being written always has lines of JSON, and a file of less "
        "than 512 KiB stays in lines.",
    )
    rotate: Rotation = Field(default=Rotation(), description="When a file is closed and compressed.")
    keep: Octets = Field(
        default=2**30,
        ge=2**20,
        le=2**50,
        description="Bytes of one router's records on disk; the oldest files are removed first.",
    )

    @property
    def file_bytes_max(self) -> int:
        return min(self.rotate.bytes, self.keep // FILES_OF_KEPT)
