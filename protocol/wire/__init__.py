"""Every byte between clients and routers; `docs/reference/wire.md` is the same for a reader without Python.

reader      a stream of bytes into frames           frames         any frame <-> its value: encode, decode
kinds       byte 4 of a frame                       data_frames    frames that carry a message; encode_publish
header      their 64 bytes                          deliver_view   the same, read part by part
attributes  the map of attributes                   extensions     what concerns some messages only
*_bodies    all other frames, as declared classes   schema         how a declared class travels
parts       large routing bodies                    packed_filters a filter inside a frame
session     who may send what, when                 versions, proofs, numbers, codes

Law: nothing here waits, reads a clock or draws a random number. Bytes from outside raise FrameError and nothing else;
what we were asked to write and cannot raises Refused.
"""
