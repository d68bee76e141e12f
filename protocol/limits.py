"""Every bound of the language and the wire, in one place, each with its reason.

Law: a limit is enforced where a value enters (a constructor or a decoder), never later, so every object is within
bounds. The configuration of a router may be stricter than this page, never looser.
"""

# --- values and messages ---------------------------------------------------------------------------------------

INT_MIN = -(2**63)
INT_MAX = 2**63 - 1
"""Integers are signed 64 bit: the range of both msgpack and C."""

NAME_BYTES_MAX = 256
"""A name is a key in every table; a longer one is data, not a name. One byte of length is nearly enough."""

STRING_BYTES_MAX = 65_536
"""A string value in a message. Matching reads every byte of it, so it bounds the work one attribute can cause."""

ATTRIBUTES_MAX = 64
"""Attributes in one message. A matcher's per-message state stays in the first-level cache."""

# --- filters -----------------------------------------------------------------------------------------------------

OPERAND_BYTES_MAX = 1_024
"""A string operand of equality and order. Tables store every one; 1 KiB holds any identifier or path in use."""

PATTERN_BYTES_MAX = 128
"""A string operand of prefix, suffix and contains. Bounds the substring work per byte of a message's value."""

IN_VALUES_MAX = 256
"""Values in one `in`. A longer list is a table of its own and belongs in several filters."""

CONSTRAINTS_MAX = 16
"""Constraints in one filter. Counters and gates of the engines fit a byte with room to spare."""

DISJUNCTS_MAX = 64
"""Filters one predicate text may expand to. `not` and parentheses multiply; this stops the product early."""

EXPANSION_STEPS_MAX = 8_192
"""Work that expanding one predicate text may cost, in conjunctions formed, dropped ones included (a contradiction
counts as the square of its constraints). Two factors of DISJUNCTS_MAX alternatives each may be multiplied out."""

PREDICATE_BYTES_MAX = 65_536
"""Length of a predicate text. 64 filters of 16 constraints of ordinary size fit several times over."""

PREDICATE_DEPTH_MAX = 64
"""Nesting of parentheses and `not` in a predicate text. People write three; a stack must not depend on input."""

FILTERS_PER_CLIENT = 10_000
"""Filters that one client may hold by default (`limits.filters_per_client`): a bound on the cost of one client."""

# --- the wire ----------------------------------------------------------------------------------------------------

FRAME_BYTES_MAX = 1_048_576
"""A whole frame, header included, by default. Large enough for a payload worth moving, small enough to buffer."""

DELIVERABLE_BYTES_MAX = FRAME_BYTES_MAX - 8
"""A PUBLISH frame that can be delivered: its DELIVER also has an extension SATISFIED, of at least eight bytes."""

UNAUTHENTICATED_BYTES_MAX = 8_192
"""All a peer may send before it is authenticated. Hello and credentials fit; nothing else is needed."""

FRAME_BYTES_MIN = 4_096
"""The smallest limit of a frame that a peer may state: each answer to a greeting fits."""

EXTENSION_BYTES_MAX = 65_535
"""The extension area of a data frame: its length is a 16-bit field."""

DIALECT_BYTES_MAX = 32
"""The name of a dialect; those that are known have up to 12."""

GROUP_CHOICES_MAX = 256
"""Worker groups that share one message, 3 KiB of its extensions. Further groups receive no copy of it, which is
counted."""

ROUTE_ROUTERS_MAX = 64
"""Routers that an extension ROUTE lists, 512 bytes. A message for more is matched at every router instead."""
ROUTE_SET_ROUTERS_MAX = 4_096
"""Routers that the set of an extension ROUTE counts, 512 bytes. Where there are more, every router matches."""
ROUTE_KEYS_MAX = 240
"""Keys of matching filters that the extension ROUTE of a copy carries, 960 bytes."""
ROUTE_KEYS = 60
"""The default number of keys, which the topology file may change."""
ROUTE_ROUTERS = 32
"""The default number of listed routers, which the topology file may change."""

EXTENSIONS_MAX = 64
"""Extensions in one data frame. Finding a type twice is quadratic; eight types are known."""

CONTROL_PART_BYTES_MAX = 65_536
"""A part of a large control body, short enough that a heartbeat or another change never waits long for it."""

CONTROL_PARTS_MAX = 65_536
"""Parts of one control body (k of n): 4 GiB in all, the most that one issuer may state."""

CONTROL_DEPTH_MAX = 8
"""Nesting of a control body. The deepest schema needs five levels; recursion must not depend on input."""

FILTER_BYTES_MAX = 65_536
"""One filter in its packed form. A filter larger than a part would delay everything behind it; split its `in`."""

ASSEMBLY_BYTES_MAX = 67_108_864
"""Unfinished control bodies of one link together, and so any one of them. Larger tables travel as deltas."""

ASSEMBLY_STREAMS_MAX = 4_096
"""Issuers whose control bodies may be unfinished at once on one link: a bound on the cost of incomplete bodies."""

STATEMENT_BYTES_MAX = 1_048_576
"""Filters that a router states in one body, each counted as its bytes and FILTER_OVERHEAD_BYTES. Further filters
follow in other bodies. A body of this size is hashed, compared and packed in some milliseconds. A larger one is
accepted, too."""

FILTER_OVERHEAD_BYTES = 192
"""The cost of hashing and storing one filter besides its bytes, in bytes: a statement has 4,000 short ones."""

COLLECTED_BYTES_MAX = 536_870_912
"""Filters of partially received predicates, of all issuers together, counted as in STATEMENT_BYTES_MAX. The predicate
that would exceed it is dropped with an alarm, and requested again like any request without an answer."""

EDGES_BYTES_MAX = 536_870_912
"""Filters that neighbours have stated for edges, of all edges together, counted as in STATEMENT_BYTES_MAX, including
those of earlier trees and of statements that are being repeated, and FILTER_OVERHEAD_BYTES for each filter of each
edge. The edge that would exceed it is dropped with an alarm, counts as matching everything, and is requested again
after a while."""

PENDING_BYTES_MAX = 67_108_864
"""Changes of predicates that wait for their base, of all issuers together, counted as in STATEMENT_BYTES_MAX. A further
one is dropped, and the whole predicate requested."""

ENTRIES_MAX = 1_000_000
"""Filters, ids or issuers in one control body. Objects cost twenty times their bytes: this bounds the decoded form."""

SUBSCRIPTIONS_PER_FRAME_MAX = 10_000
"""Subscriptions in one batch: all that a client may hold by default, which makes a reconnect one frame."""

ACK_ITEMS_MAX = 10_000
"""Ranges, and refusals, in one acknowledgement: an answer to the largest batch is one frame."""

LINKS_MAX = 1_024
"""Links of one router. Its topology advertisement is one short frame."""

ROOTS_MAX = 64
"""Routers that one class of messages lists as its roots."""

CLASSES_MAX = 64
"""Classes of messages that have roots of their own, besides that of all others: a bit for each in the switch."""

LAYOUT_BYTES_MAX = 256
"""The routing options that a router states besides its links: two names, and room for those of later versions."""

ROUTERS_MAX = 16_384
"""Routers whose statements one router stores; those of others are dropped. This is far beyond what one flat network can
carry."""

REPORT_ITEMS_MAX = 256
"""Filters, departures or subscriptions listed in one report; the count beside the list is complete."""

REPORT_DURABLES_MAX = 64
"""Durable subscriptions named in one report: 16 KiB of names at most; the count beside them is complete."""

GO_AWAY_ADDRESSES_MAX = 8
GO_AWAY_ADDRESS_BYTES_MAX = 320
"""Addresses that a router names when it sends its clients away, and the length of each: the longest host name with its
scheme and port, and all of them within the smallest frame that a client may set."""

CAPABILITIES_MAX = 16
CAPABILITY_BYTES_MAX = 32
"""Capabilities in a hello and the length of each: a hello must fit what an unauthenticated peer may send."""

RESIDUAL_BYTES_MAX = 4_096
"""A residual program of a subscription."""

RESIDUAL_PARTS = 64
"""For one message a residual program may take this part of `limits.match_steps`; all those of a client, a quarter."""

AUTH_METHODS_MAX = 8
"""Ways of authentication that one router offers."""

CREDENTIAL_BYTES_MAX = 4_096
"""A token, signed or not, or a proof; it must fit what an unauthenticated peer may send."""

TEXT_BYTES_MAX = 1_024
"""A sentence for a person: a reason, an error."""

NONCE_BYTES = 16
DIGEST_BYTES = 16
PROOF_BYTES = 32
"""A nonce cannot repeat by chance; a digest cannot agree by chance; a proof is one SHA-256."""
ACCESS_DIGEST_BYTES = 4
"""Of the digest of access rules, which neighbours compare: it notices mistakes, and proves nothing."""

# --- what a router spends on others ---------------------------------------------------------------------------------

MATCH_STEPS = 1_000_000
"""Steps that matching one message may take by default (`limits.match_steps`): about 10 ms, a fifth of the time that may
block a router's loop. A step is a row visited, a test made, or some bytes of a text."""

MATCH_STEPS_MIN = 10_000
MATCH_STEPS_MAX = 1_000_000_000
"""The bounds of `limits.match_steps`: the least leaves room for any message of ordinary size; the most is seconds."""

TABLE_BYTES_PER_CLIENT_MIN = 65_536
"""The least that `limits.table_bytes_per_client` may be: room for some hundred ordinary filters."""

TABLE_SHARE_OF_CLIENT = 10
"""The part of the bytes of the table of clients' filters that one client's filters may take by default, a tenth."""

# --- durable subscriptions -------------------------------------------------------------------------------------------

DURABLE_UNACKED_MAX = 100_000
"""Messages of one durable subscription that may be delivered and not acknowledged: each is an entry in memory."""

ACK_ANSWERS_MAX = 1_000
"""Answers to ACKs of one connection that may wait for the disk, 256 KiB of them at most. A consumer gains nothing from
more; each is a copy of its ranges in the memory of the router."""

DURABLE_BACKOFFS_MAX = 8
"""Pauses between deliveries of one message; the last one applies to all later deliveries."""

DURABLE_HOMES_MAX = 3
"""Routers that store messages for one durable subscription."""

DURABLES_PER_FRAME_MAX = 256
"""Durable subscriptions that one answer to LIST_DURABLES names; a further request starts behind the last."""

DURABLE_BYTES_MAX = FRAME_BYTES_MAX
"""A durable subscription in a statement to other routers: whatever a frame of its client can create."""

DURABLES_STATED_BYTES_MAX = 33_554_432
"""Durable subscriptions that one router states to the others, counted as in STATEMENT_BYTES_MAX: half of what they
assemble. A further one is not stated, with an alarm."""

DURABLES_KNOWN_BYTES_MAX = 67_108_864
"""Durable subscriptions of all other routers that one router knows, counted as in STATEMENT_BYTES_MAX: some 170,000 of
usual size. A statement beyond it is refused with an alarm and not confirmed; what was known of its issuer stays."""

DURABLE_WAIT_ROUTERS_MAX = 256
"""Routers that the answer to CREATE_DURABLE names, of each kind; the counts beside them are complete."""

GET_BYTES_MAX = 66_048
"""Packed attributes of a GET: the longest name, the longest value, and their heads."""

CUSTODY_HOPS_MAX = 255
"""Routers that a CUSTODY_ACK, CUSTODY_ASK, GAP or FINISHED may pass: their count is one byte, as that of a message."""

CUSTODY_LACKING_MAX = 16
"""Ranges of numbers that one CUSTODY_ACK reports as lacking."""

REMOTE_PIECE_BYTES_MAX = 32_768
"""Bytes of a remote session in one REMOTE."""

REMOTE_ROLES_MAX = 256
"""Roles of a client in REMOTE_HELLO."""

GAP_NUMBERS_MAX = 256
"""Numbers in one GAP, 2,560 bytes at most: it fits in FRAME_BYTES_MIN. More follow in further ones."""

FINISHED_RANGES_MAX = 128
"""Ranges of messages in one FINISHED, 2,560 bytes at most: it fits in FRAME_BYTES_MIN, too."""

FINISHED_RUN_MAX = 64
"""Messages of one range of a FINISHED."""

MESSAGE_IDS_REMEMBERED = 2**20
"""Ids of the newest messages of a log, by which a second attempt is recognised: 40 bytes each in C."""

# --- spaces ----------------------------------------------------------------------------------------------------------

SPACES_MAX = 256
"""Spaces that one router holds. Each message looks one up; a network with more is several networks."""

SPACE_NAME_BYTES_MAX = 64
"""The name of a space stands before a predicate and in every message of the space."""

SPACE_ATTRIBUTES_MAX = ATTRIBUTES_MAX - 1
"""Attributes one space declares: as many as a message has room for beside the name of its space."""

SPACE_VALUES_MAX = IN_VALUES_MAX
"""Values of one ordered enumeration: an order between them is compiled to one `in`."""

SPACE_DIGITS_MAX = 9
"""Digits behind the point of a fixed-point number."""

SPACE_UNITS_MAX = 10**15
"""A bound of a fixed-point number, counted in its last digit: below 2^50 a float distinguishes adjacent numbers
safely."""

SPACE_BYTES_MAX = 65_536
"""One space in wire form. One of 63 attributes in words takes some 4 KiB."""

SPACES_BYTES_MAX = 1_048_576
"""All spaces of one router in wire form: neighbours whose spaces differ send each other all of theirs."""
