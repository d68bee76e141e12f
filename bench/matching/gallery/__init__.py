"""Every workload at growing sizes, engines side by side."""
