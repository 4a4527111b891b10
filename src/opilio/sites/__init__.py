"""Website models by Yang: evolving a crawl, refreshing pages, expanding queries."""
