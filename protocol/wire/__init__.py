"""The format of every byte between clients and routers; `docs/reference/wire.md` describes it without Python.

reader      a stream of bytes into frames           frames         any frame <-> its value: encode, decode
kinds       byte 4 of a frame                       data_frames    frames that carry a message; encode_publish
header      their 64 bytes                          deliver_view   decoded part by part
attributes  the map of attributes                   extensions     fields of some messages only
*_bodies    all other frames, as declared classes   schema         encoding of declared classes
parts       large routing bodies                    packed_filters a filter inside a frame
session     allowed frames, by state                versions, proofs, numbers, codes

Law: nothing here waits, reads a clock or draws a random number. Bytes from outside raise FrameError and nothing else;
a value that cannot be written raises Refused.
"""
