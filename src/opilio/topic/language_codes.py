"""A tag in; does it begin with a code that languages are known by? out."""

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
    """Is it a tag like `en` or `de-CH`?

    >>> is_language("de-CH"), is_language("tlh"), is_language("klingon")
    (True, True, False)
    """
    code = tag.lower().partition("-")[0]
    return code in TWO_LETTERS or bool(_three_letters(code))
