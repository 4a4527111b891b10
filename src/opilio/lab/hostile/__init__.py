"""A server that plays attacks on crawlers by name: `python -m opilio.lab.hostile`."""
