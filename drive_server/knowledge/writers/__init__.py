"""Office documents made of Markdown: Word documents and workbooks. Nothing in the text is fetched or computed."""
