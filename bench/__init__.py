"""Benchmarks, by the question that they answer.

    matching   how fast is the matcher, and beside other people's libraries?
    router     what does a message cost the router and its clients, and beside other people's brokers?
    networks   what does a network cost as it grows, and does it keep its promises while its parts fail?
    logs       how fast are event logs analysed, and does the advice that comes of them keep its promises?

    tables     how results are printed          scratch    a folder that goes with the measurement
    results    what one run gave, for each question; README.md says which command wrote what

Law: each measurement answers a written question, on seeded workloads, and checks its answers before it prints a time. A
room imports no other room but `matching.workloads`, filters and messages as people write them and of the papers.
"""
