"""Number formats: from a code such as `#,##0.00;[Red]-0` to the text that a cell shows."""
