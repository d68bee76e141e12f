"""Attacks on real routers, each with its cost: `python -m tests.attack` (`make attack`).

    figure     one number, its bound, what it was before    flood    silent connections, from a process of its own
    matching   what is dear to match                        places   who takes the places of others
    admin      pages, and who may ask for them              trust    numbers, names, credentials, acknowledgements
    owners     durable subscriptions of others           attacks  all of them by name

Law: load goes to loopback only and is bounded in count and time. An attack is a function that starts its routers and
returns figures; the tests hold the same figures to the same bounds. Like tests.stranger, nothing here imports the
project.
"""
