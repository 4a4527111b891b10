"""Equations of papers that several stages share."""
