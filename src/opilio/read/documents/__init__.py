"""Makes HTML of PDF files, plain text and Markdown, so that they are read as pages."""
