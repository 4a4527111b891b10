"""What the tag, class, id and role of an element say about the text in it."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

LONGEST = 300  # characters of a class or id that are looked at

# Kinds of parts of a page, and the words in classes and ids that name them. A word
# that ends in * is a beginning. The order is that of the columns of the features.
WORDS = {
    "comment": "comment* disqus respond replies reply replyform livefyre kommentar*",
    "related": "related* recommend* similar suggest* youmay seealso more readmore "
    "readnext nextup upnext further outbrain taboola zergnet",
    "popular": "popular trending latest recent mostread top10 highlights teaser* "
    "headlines",
    "share": "share* sharing social* addthis sharedaddy facebook twitter whatsapp "
    "pinterest linkedin follow* sns",
    "navigation": "nav* menu* breadcrumb* crumb* pager pagination paging pagenav "
    "sitemap topbar toolbar tabs skip skiplink*",
    "contents": "toc tableofcontents outline anchorlist onthispage",
    "footer": "foot* bottom colophon copyright imprint legal disclaimer",
    "header": "masthead banner siteheader topheader globalheader header pageheader",
    "sidebar": "side* rail aside widget* secondary right leftcol rightcol col3",
    "author": "author* byline bio vcard writer contributor* autor* profile avatar",
    "date": "date* time* published updated posted timestamp pubdate modified",
    "tags": "tag* category categories cat label* keyword* topics taxonomy catlinks",
    "meta": "meta* info entrymeta postmeta articlemeta infobar kicker eyebrow stats",
    "advertising": "ad ads adv advert* sponsor* promo* adsense adslot banner* "
    "doubleclick affiliate dfp gpt",
    "newsletter": "newsletter* subscri* signup optin mailchimp mc4wp email* mailing "
    "lead cta calltoaction",
    "login": "login signin register account paywall premium regwall gate",
    "popup": "popup* modal* overlay lightbox cookie* consent gdpr dialog tooltip "
    "notice* toast alert",
    "search": "search* suche filter* sort* facet*",
    "caption": "caption* credit* legend photocredit imgcredit wpcaption",
    "media": "gallery slide* carousel video* player image* photo* media swiper slick "
    "embed* picture thumb* figure",
    "form": "form* input field* contact* survey poll vote quiz",
    "button": "btn* button* link links action* control* icon* print*",
    "rating": "rating* stars review* score* testimonial*",
    "price": "price* cart buy shop basket wishlist stock sku checkout",
    "product": "product* item items spec specs specification* feature* detail* "
    "variant*",
    "cards": "card* grid list listing tile* archive loop feed results row rows",
    "content": "content* body text entrycontent postcontent articlebody articletext "
    "articlecontent storybody bodytext maincontent richtext rte prose wysiwyg "
    "markdown copy",
    "article": "article* post posts entry story hentry single blogpost news beitrag "
    "artikel noticia",
    "main": "main* primary center central wrapper container page site app root",
    "title": "title* headline* heading entrytitle posttitle h1 hed",
    "summary": "summary lead lede intro* excerpt abstract standfirst deck teasertext "
    "subtitle dek chapo description desc",
    "code": "code highlight* snippet* syntax* codehilite prettyprint terminal",
    "quote": "quote* blockquote pullquote",
    "notes": "footnote* reflist reference* endnote* citation* sources bibliography",
    "thread": "thread* topic message* forum* postbody question answer answers discuss* "
    "bbcode usertext",
    "faq": "faq* accordion* collapse* toggle* panel* tab tabpane expand*",
    "hero": "hero* jumbotron splash intro banner cover",
    "hidden": "hidden hide invisible collapsed offscreen noprint printonly mobile* "
    "nodisplay",
}
TAGS = (
    *("nav", "footer", "header", "aside", "article", "main", "section", "form"),
    *("figure", "table", "ul", "ol", "dl", "blockquote", "details", "dialog"),
    *("address", "fieldset", "pre", "a", "button", "h1", "h2", "h3"),
)
KINDS = (*WORDS, *TAGS)
ROLES = {
    "navigation": "nav",
    "menu": "nav",
    "menubar": "nav",
    "complementary": "aside",
    "contentinfo": "footer",
    "banner": "header",
    "main": "main",
    "article": "article",
    "dialog": "dialog",
    "search": "search",
    "tablist": "navigation",
    "alert": "popup",
    "form": "form",
}

_in_words = re.compile("[A-Z]?[a-z]+|[A-Z]+|[0-9]+").findall
_bit = {kind: 1 << number for number, kind in enumerate(KINDS)}
_by_role = {role: _bit[kind] for role, kind in ROLES.items()}
_by_tag = {tag: _bit[tag] for tag in TAGS}
_whole: dict[str, int] = {}
_begins: dict[str, int] = {}  # by their first four letters at most
for _kind, _words in WORDS.items():
    for _word in _words.split():
        _place = _begins if _word[-1] == "*" else _whole
        _word = _word.rstrip("*")
        _place[_word] = _place.get(_word, 0) | _bit[_kind]


def bits_of(*kinds: str) -> int:
    """Some kinds as bits; of two with one name, the kind that words name."""
    return sum(1 << KINDS.index(kind) for kind in kinds)


@lru_cache(maxsize=2**13)
def named(names: str) -> int:
    """The kinds, as bits, that a class or id names."""
    found = 0
    for name in names[:LONGEST].split():
        words = [word.lower() for word in _in_words(name)]
        if len(words) > 1:
            words += ["".join(pair) for pair in pairwise(words)]
        for word in words:
            found |= word_kinds(word)
    return found


@lru_cache(maxsize=2**13)
def word_kinds(word: str) -> int:
    """The kinds, as bits, that one word names."""
    found = _whole.get(word, 0)
    for end in range(3, len(word) + 1):
        found |= _begins.get(word[:end], 0)
    return found


def kinds_of(tag: str, given: dict[str, str]) -> int:
    """The kinds, as bits, that an element says it is."""
    found = _by_tag.get(tag, 0)
    if not given:
        return found
    if role := given.get("role"):
        found |= _by_role.get(role, 0)
    if names := given.get("class"):
        found |= named(names)
    if name := given.get("id"):
        found |= named(name)
    return found
