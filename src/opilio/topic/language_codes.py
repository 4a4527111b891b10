"""Checks that a tag starts with a known language code."""

from __future__ import annotations

import re

# The languages that have two letters (ISO 639-1); thousands have three.
TWO_LETTERS = frozenset(
    re.findall(
        "..",
        "aaabaeafakamanarasavayazbabebgbhbibmbnbobrbscacechcocrcscucvcydadedvdz"
        "eeeleneoeseteufafffifjfofrfygagdglgngugvhahehihohrhthuhyhz"
        "iaidieigiiikioisitiujajvkakgkikjkkklkmknkokrkskukvkwkylalblglilnloltlulv"
        "mgmhmimkmlmnmrmsmtmynanbndnengnlnnnonrnvnyocojomorospapiplpsptqurmrnrorurw"
        "sascsdsesgshsiskslsmsnsosqsrssstsusvswtatetgthtitktltntotrtstttwtyugukuruz"
        "vevivowawoxhyiyozazhzu",
    )
)
_three_letters = re.compile("[a-z]{3}").fullmatch


def is_language(tag: str) -> bool:
    """Whether this is a tag like `en` or `de-CH`.

    >>> is_language("de-CH"), is_language("tlh"), is_language("klingon")
    (True, True, False)
    """
    code = tag.lower().partition("-")[0]
    return code in TWO_LETTERS or bool(_three_letters(code))
