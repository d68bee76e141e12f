"""What figures of the papers measure, each a command by itself: `python -m tamis.papers.measures.NAME`.

pointers         sets of filters as pointers and as bits (paper 003, figure 4)
orders           memory and unsubscriptions of strategies (paper 003, section 3.5)
network_effect   one router beside a tree of routers (paper 004, section 5.4)
literal          networks in which messages are lost (paper 004, section 2.1)
"""
