"""Common English words that say little about a subject.

They are not stop words: each may be what a topic is about. But as keywords of example
pages they say less than rarer words that are as frequent there.
"""

from __future__ import annotations

from functools import cache

from opilio.text.words import stem, stop_words, tokens

ORDINARY = 0.5  # the rarity of these words, between stop words (0) and all others (1)

WORDS = """
    accept access account achieve act action active activity add addition address adopt
    advance advantage affect age agree aid aim air allow alternative amount analysis
    ancient announce annual answer appear apply appoint approach area argue arrange
    arrive article aspect assume attempt attention attract author authority available
    average avoid award balance base basic basis bear beautiful become bed begin believe
    benefit big birth bit black block blue board body book border born bottom box branch
    break bring britain british broad build building built business buy call campaign
    capable capacity capital car care career carry case cast category cause central
    centre century certain challenge chance change character charge check chief child
    choice choose circumstance citizen city civil claim class classify clear close coast
    code cold collect collection color colour column combine commerce commission commit
    common community company compare compete complete complex component compose concept
    concern conclude condition conduct conflict connect consequence consider consist
    construct construction contact content context continue contract contribute control
    convert copy core correct cost council country couple course court cover create
    credit crisis critical criticism cross culture current custom cut damage danger data
    date daughter day deal death debate decade decide decision decline deep define
    definition degree demand department depend depth derive describe design desire
    destroy detail determine develop development device die difference difficult
    dimension direct direction discover discovery discuss display distance distinct
    distinguish district divide division document domestic dominant draw drive drop
    early earth east easy economic edge edit edition educate effect effective effort
    elect emerge employ enable encourage end energy engage england english enlarge enter
    entire environment equal equip especially essential establish estimate europe
    european event evidence evolve exact example exchange exist existence expand expect
    expensive experience expert explain explore express extend extent external extra
    extreme eye face facility fact factor fail fall familiar family famous father
    feature feel female field fight figure fill final find fire fit fix flow follow food
    foot force foreign form formal format former formula found foundation frame france
    free french frequent friend front full function fund future gain game general
    generate german germany global good government grand grant great green ground group
    grow growth guide half hall hand handle hard head hear heart heat heavy height help
    high highlight hill history hit hold home hot hour house huge human hundred husband
    idea identify image impact implement important improve include income increase
    indicate individual industry influence inform information initial inside instance
    institute institution instrument intend interest internal international introduce
    invent involve island issue item join journal journey judge key kill kind king
    kingdom knowledge label labor labour lack land language large largest late law lay
    layer lead leader leadership league learn leave left legal length letter level
    library life light limit line link list literature live load local locate location
    london long lose loss low magazine main maintain major male manage map march mark
    market marriage mass master match material matter mean measure media meet member
    memory men mention message method middle mile military million mind minor minute
    mission mix mode model modern money month moral morning mother mount move movement
    multiple name narrow nation national native natural nature near network news night
    normal north northern note notion novel object observe obtain occupy occur offer
    office official open operate operation opinion opportunity oppose option order
    organise organization organize origin original output overall owner page pair paper
    park part particular partner party pass past path pattern pay peace people percent
    perform performance period permit person phase phrase physical pick picture piece
    place plan play player point policy political popular population position positive
    possible post potential power practice present president press pressure prevent
    previous price primary principle print private probable problem procedure process
    produce product production profession program programme progress project prominent
    promote proof property propose protect prove provide province public publish pull
    purchase purpose push quality quantity quarter queen question quick quote race radio
    raise range rapid rare rate ratio reach react read ready real reason receive recent
    recognise recognize record recover red reduce refer reference reflect reform refuse
    regard region regular reject relate relation relationship relative release remain
    remark remove replace report represent republic request require research resource
    respect respond response responsible rest restore restrict result retain return
    reveal review revolution rich right rise risk road role roll room root round route
    row royal rule run sale save scale scene school science scientific scientist score
    sea search season seat section sector secure seek select sell send senior sense
    separate series serious serve service session set settle settlement shape share
    sharp sheet short shot shoulder shown sign signal significance similar simple single
    site situation size skill slow small social society soft solid solution son soon
    sort sound source south southern space speak special specific speech speed spend
    split spread square staff stage stand standard start state statement states station
    status stay step stone stop store story straight strategy street strength stress
    stretch strike string strong structure student study style subject success suffer
    suggest suit summer supply support surface surround survey survive symbol system
    table target task teach team technical technique technology television temperature
    tend term territory test text theme theory thick thin think thought thousand threat
    throw time title today tone tool top total touch tour town trade tradition
    traditional transfer travel treat treatment trend trial trip turn type typical
    understand union unique unit united university upper urban usage user usual valley
    valuable value variable variation variety vary vast version video view village
    visible vision visit visual voice volume vote wall warm waste watch water wave way
    weak wealth weather week weight west western white wide wife wild wind window winter
    woman women wood word worker world write writer writing yard year yellow young zone
"""


@cache
def ordinary(language: str) -> frozenset[str]:
    """The stems of common words of a language; none if it is unknown."""
    return frozenset(stem(tokens(WORDS))) if language == "en" else frozenset()


def rarity_of(term: str, language: str) -> float:
    """How rare the words of a term are, in [0, 1], by lists of common words."""
    found = tokens(term)
    common, stop = ordinary(language), stop_words(language)
    told = [
        0.0 if word in stop else ORDINARY if stemmed in common else 1.0
        for word, stemmed in zip(found, stem(found, language), strict=True)
    ]
    return sum(told) / len(told) if told else 0.0
