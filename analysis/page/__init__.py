"""The report as one page.

report.py, remarks.py, plots.py      the page, the sentences at its top, its plots
table_view.py, folding.py, formatting.py tables, equal rows as one, figures as readable text
network_map.py, chart.py, svg.py     drawings; those of benchmarks are made with svg.py
style.py                             colours and the style sheet
"""
