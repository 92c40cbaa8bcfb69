"""Elements that several formats of office documents have in common: equations, numerals, symbols of fonts, charts.

Knows no format of files; may import `knowledge.text`, `readers.archive` and `readers.contained`.
"""
