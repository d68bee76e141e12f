"""Every workload and mixture at many sizes: where does an engine do too much?"""
