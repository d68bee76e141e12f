"""Networks of real routers on this machine: a process each, and links that can be cut, darkened and added.

    routers   processes: started, killed, stopped, asked       ports      where they listen
    proxy     a process through which all links run            links      talking to that process

Law: nothing that is started here outlives who started it, however that ends: routers die with their parent, the proxy
with its standard input.
"""
