from opilio.text import plain_page_words

EDITION: int

word_weights = plain_page_words.word_weights
signed_places = plain_page_words.signed_places
shares_of_words = plain_page_words.shares_of_words
