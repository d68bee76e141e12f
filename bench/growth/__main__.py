"""`python -m tamis.bench.growth`"""
