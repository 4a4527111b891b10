"""A synthetic web whose relevant pages are reached through lists, not through prose."""
