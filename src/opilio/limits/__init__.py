"""The limits of a crawl: scope, page budget, schedule, when to stop."""
