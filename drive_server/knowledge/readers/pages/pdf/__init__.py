"""The text of a PDF: lines, their order, tables, forms, notes. May import `pages.paragraphs`."""
