"""The document board: its files, sections and documents, and their thumbnails."""
