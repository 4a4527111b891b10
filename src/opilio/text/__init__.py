"""Words, URLs and bodies in their normal forms."""
