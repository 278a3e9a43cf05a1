"""What operators see: pages, forms and the HTTP API."""
