"""The commands that bring pages, or read them where they are stored. One module a verb."""
