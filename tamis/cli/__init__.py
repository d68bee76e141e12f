"""The command line: one file per command, each a thin wrapper of a library function.

    messages/    publish, receive, ask, answer        operate/    routers as processes of this machine
    durable/     durable subscriptions                topology/   topology files, and their forms for other systems
    network/     the state and traffic of a network           lab/        engines, simulations, analyses, measurements
    delivery/    where a message goes, and why        reach/      how commands reach routers

The files of this folder are shared by several commands; `main.py` finds a command by its name.
"""
