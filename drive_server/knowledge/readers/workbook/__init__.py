"""Workbooks as sheets of cells, each with the text that it shows and the value to compute with.

The text of a workbook and questions to its tables are made of this one grid. May import `readers.archive`,
`readers.compound` and `text`.
"""
