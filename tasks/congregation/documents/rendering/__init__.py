"""Making a picture of a PDF's first page, in a process of its own."""
