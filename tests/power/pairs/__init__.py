"""Power cuts of an entry and a home at one moment: the logs of two routers are recorded, cut, and opened again.

recorder.c  what each router did to its log, by one clock   folders   what a cut leaves of it
recording   a run of both, with a publisher and a consumer  restart   routers that start in a moment
pairs       cuts of a run, and the judge                    __main__  thousands of them
"""
