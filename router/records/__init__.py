"""Records of a router: events, and what happens to messages.

    loop ── recorder, seconds ──> events ──┐
    switch ── native/records ──> messages ─┴─> writer (a thread) ──> files ──> compressor (another) ──> converting

    lines        an event as a line of JSON                        recorder     events of the router
    files        the files: rotation, compression, the bound       seconds      records made each second
    writer       the thread that owns the files                    reading      reader of a folder
    control      fields of a control frame                         durables     events of durable subscriptions
    converting   closed files: compressed lines, or columns

Law: a slow or broken disk never blocks the loop or stops routing. `lines` and `files` use no clock and no thread, and
import nothing of the router: the simulator writes with them, too.
"""
