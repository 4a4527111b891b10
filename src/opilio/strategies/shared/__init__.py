"""Parts that several strategies, or one long one, are made of."""
