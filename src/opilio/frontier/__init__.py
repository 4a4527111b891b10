"""Every link that waits; the most promising one that may be visited now is leased."""
