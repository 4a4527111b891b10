"""What bounds a crawl: scope, page budget, schedule, when to stop."""
