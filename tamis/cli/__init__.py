"""The command line: one file per command, each a thin door to a library function.

    messages/    publish, receive, ask, answer        operate/    routers as processes of this machine
    durable/     durable subscriptions                topology/   topology files, and what they become elsewhere
    network/     what a network is and does           lab/        engines, simulations, analyses, measurements
    delivery/    where a message goes, and why        reach/      how commands reach routers

The files of this folder are what several of them need, and `main.py`, which finds a command by its name.
"""
