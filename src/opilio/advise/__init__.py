"""Advisers: second opinions on pages that the default judge is unsure of.

They may take long, so they are asked outside of the crawl's turns
(`crawl/second_opinions.py`); the judge then weighs what they say (`judge/opinions.py`).
"""
