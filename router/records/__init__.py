"""What a router writes down: what happens to it, and what happens to messages.

    loop ── recorder, seconds ──> events ──┐
    switch ── native/records ──> messages ─┴─> writer (a thread) ──> files ──> compressor (another)

    lines        an event as a line; what every line says          recorder     what happens, as events
    files        the files: rotation, compression, the bound       seconds      what is told each second
    writer       the thread that owns the files                    reading      the lines of a folder, old and new

Law: nothing here holds the loop or stops routing, whatever the disk does. `lines` and `files` know no clock and no
thread, and import nothing of the router: the simulator writes with them as well.
"""
