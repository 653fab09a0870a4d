"""What only a real browser can show; `make browser` runs it, the suite does not."""
