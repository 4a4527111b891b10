"""Content codings, charsets, kinds of body and robots wishes."""

from __future__ import annotations

import codecs
import gzip
import tracemalloc
import zlib

import brotli
import pytest
import turbohtml
from hypothesis import given, settings
from hypothesis import strategies as st

from opilio.errors import Unusable
from opilio.text.content import (
    SAYS_UTF_8,
    charset,
    decode,
    is_html,
    looks_binary,
    looks_like_html,
    media_type,
    text,
    utf_8,
)

LIMIT = 10 * 2**20
PAGE = b"<html><body>" + bytes(range(256)) * 300 + b"</body></html>"


def raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data, wbits=-15)


ENCODERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "GZIP": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
}


@pytest.mark.parametrize("coding", ENCODERS)
def test_a_content_coding_is_removed(coding):
    assert decode(ENCODERS[coding](PAGE), coding, LIMIT) == (PAGE, "")


def test_deflate_without_its_header_is_read_too():
    assert decode(raw_deflate(PAGE), "deflate", LIMIT) == (PAGE, "")


@pytest.mark.parametrize("coding", ["", "identity", " Identity , "])
def test_a_plain_body_stays_as_it_is(coding):
    assert decode(PAGE, coding, LIMIT) == (PAGE, "")


def test_two_codings_are_removed_last_one_first():
    packed = brotli.compress(gzip.compress(PAGE))
    assert decode(packed, "gzip, br", LIMIT) == (PAGE, "")


def test_more_than_two_codings_are_refused():
    packed = PAGE
    for _ in range(10):
        packed = gzip.compress(packed)
    with pytest.raises(Unusable) as caught:
        decode(packed, ", ".join(["gzip"] * 10), LIMIT)
    assert caught.value.reason == "bad_encoding"


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "os.system"])
def test_what_is_not_so_coded_is_unusable(coding):
    with pytest.raises(Unusable) as caught:
        decode(b"\xffhardly any decoder takes this for its own", coding, LIMIT)
    assert caught.value.reason == "bad_encoding"


def test_a_wrong_checksum_is_noticed():
    packed = gzip.compress(PAGE)
    with pytest.raises(Unusable):
        decode(packed[:-8] + bytes(8), "gzip", LIMIT)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_a_stream_that_ends_early_gives_what_there_is(coding):
    packed = ENCODERS[coding](PAGE)
    body, cut = decode(packed[: len(packed) * 2 // 3], coding, LIMIT)
    assert cut == "disconnect"
    assert PAGE.startswith(body)
    assert len(body) > 100


@pytest.mark.parametrize("coding", ["", "gzip", "deflate", "br"])
def test_output_stops_at_the_limit(coding):
    packed = ENCODERS[coding](PAGE) if coding else PAGE
    assert decode(packed, coding, 1000) == (PAGE[:1000], "length")
    assert decode(packed, coding, len(PAGE)) == (PAGE, "")


def test_an_empty_body_needs_no_decoding():
    assert decode(b"", "gzip", LIMIT) == (b"", "")


ZEROS = 256 * 2**20


def gzip_bomb() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    piece = bytes(2**20)
    parts = [packer.compress(piece) for _ in range(ZEROS // len(piece))]
    return b"".join([*parts, packer.flush()])


@pytest.mark.parametrize(
    ("coding", "bomb"),
    [
        ("gzip", gzip_bomb),
        ("br", lambda: brotli.compress(bytes(ZEROS), quality=1)),
        ("gzip, gzip", lambda: gzip.compress(gzip_bomb())),
    ],
)
def test_a_bomb_goes_off_in_little_memory(coding, bomb):
    packed = bomb()
    tracemalloc.start()
    try:
        body, cut = decode(packed, coding, LIMIT)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert cut == "length"
    assert 2**20 < len(body) < 4 * 2**20  # stopped for its ratio, before the limit
    assert peak < 16 * 2**20


def test_gzip_members_are_joined_and_padding_after_them_ignored():
    members = b"".join(gzip.compress(word) for word in (b"one ", b"", b"two "))
    assert decode(members, "gzip", LIMIT) == (b"one two ", "")
    assert decode(members + bytes(100), "gzip", LIMIT) == (b"one two ", "")
    assert decode(members + b"garbage", "gzip", LIMIT) == (b"one two ", "")


def test_members_that_straddle_reads_are_joined():
    members = [gzip.compress(bytes([n]) * 5000, 0) for n in range(100)]
    body, cut = decode(b"".join(members), "gzip", LIMIT)
    assert (len(body), cut) == (500_000, "")
    assert body[-5000:] == bytes([99]) * 5000


def test_a_thousand_members_are_enough():
    assert decode(gzip.compress(b"") * 100_000, "gzip", LIMIT) == (b"", "length")
    assert decode(gzip.compress(b"x") * 1000, "gzip", LIMIT) == (b"x" * 1000, "")


@given(st.binary(max_size=3000), st.integers(1, 40), st.sampled_from(["gzip", "br"]))
@settings(max_examples=60)
def test_any_body_survives_its_coding(piece, times, coding):
    body = piece * times
    assert decode(ENCODERS[coding](body), coding, LIMIT) == (body, "")


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "br"]))
@settings(max_examples=200)
def test_no_bytes_break_a_decoder(raw, coding):
    try:
        body, cut = decode(raw, coding, 1000)
    except Unusable as error:
        assert error.reason == "bad_encoding"
    else:
        assert len(body) <= 1000
        assert cut in ("", "length", "disconnect")


RUSSIAN = "Привет, мир! Это обычный русский текст про железные дороги и паровозы. "
JAPANESE = (
    "これは日本語で書かれた普通の文章です。鉄道と天文学についての説明があります。"
)
FRENCH = "Les élèves étudient à l'école française près du château; ça va être déjà là. "

# A body, its Content-Type, the encoding, what decided, a word that must be readable.
BROKEN = {
    "a mark against header and meta": (
        codecs.BOM_UTF8 + b"<meta charset=koi8-r>caf\xc3\xa9",
        "text/html; charset=windows-1251",
        ("utf-8", "bom"),
        "café",
    ),
    "utf-16 with a mark": (
        codecs.BOM_UTF16_BE + "<p>naïve".encode("utf-16-be"),
        "text/html",
        ("utf-16be", "bom"),
        "<p>naïve",
    ),
    "utf-16 without a mark": (
        "<html><p>plain words</p>".encode("utf-16-le"),
        "text/html",
        ("utf-16le", "detected"),
        "plain words",
    ),
    "the header against the meta": (
        b"<meta charset=utf-8>" + RUSSIAN.encode("cp1251"),
        "text/html; charset=windows-1251",
        ("windows-1251", "header"),
        "железные",
    ),
    "a header in quotes with an alias": (
        "Größe".encode(),
        'text/html; Charset = "UTF8"; x=y',
        ("utf-8", "header"),
        "Größe",
    ),
    "latin-1 that is windows-1252": (
        b"\x93quoted\x94 \x80 5",
        "text/html;charset=iso-8859-1",
        ("windows-1252", "header"),
        "“quoted” € 5",
    ),
    "an unknown label in the header": (
        b"<meta charset='gb2312'>\xc4\xe3\xba\xc3",
        "text/html; charset=none-such",
        ("gbk", "meta"),
        "你好",
    ),
    "a korean label": (
        "<meta http-equiv=content-type content='text/html; charset=ks_c_5601-1987'>"
        "안녕".encode("euc-kr"),
        "text/html",
        ("euc-kr", "meta"),
        "안녕",
    ),
    "utf-16 claimed in ascii": (
        b"<meta charset=utf-16>caf\xc3\xa9",
        "text/html",
        ("utf-8", "meta"),
        "café",
    ),
    "x-user-defined in a meta": (
        b"<meta charset=x-user-defined>caf\xe9",
        "text/html",
        ("windows-1252", "meta"),
        "café",
    ),
    "a meta in a comment": (
        b"<!-- <meta charset=koi8-r> -->caf\xc3\xa9",
        "text/html",
        ("utf-8", "detected"),
        "café",
    ),
    "a meta that comes too late": (
        b" " * 1100 + b"<meta charset=koi8-r>caf\xc3\xa9",
        "text/html",
        ("utf-8", "detected"),
        "café",
    ),
    "utf-7, which must never be decoded": (
        b"<meta charset=utf-7>+ADw-script+AD4-",
        "text/html; charset=utf-7",
        ("utf-8", "default"),
        "+ADw-script",
    ),
    "russian without a word about it": (
        b"<html><p>" + (RUSSIAN * 5).encode("cp1251"),
        "text/html",
        ("windows-1251", "detected"),
        "паровозы",
    ),
    "japanese without a word about it": (
        b"<html><p>" + (JAPANESE * 5).encode("shift_jis"),
        "text/html",
        ("shift_jis", "detected"),
        "日本語",
    ),
    "japanese in escape sequences": (
        b"<html><p>" + JAPANESE.encode("iso-2022-jp"),
        "text/html",
        ("iso-2022-jp", "detected"),
        "日本語",
    ),
    "french far behind ascii": (
        b"<p>plain</p>" * 5000 + (FRENCH * 5).encode("cp1252"),
        "",
        ("windows-1252", "detected"),
        "château",
    ),
    "utf-8 cut within a character": (
        ("é" * 50).encode()[:-1],
        "text/html",
        ("utf-8", "detected"),
        "é" * 49,
    ),
    "utf-8 and other bytes mixed": (
        b"<meta charset=utf-8>caf\xc3\xa9 caf\xe9 \xff.",
        "text/html",
        ("utf-8", "meta"),
        "café caf� �.",
    ),
    "hz-gb-2312, which browsers refuse": (
        b"~{<:Ky2;VS{#,NpJ)l6HK!#~}",
        "text/html; charset=hz-gb-2312",
        ("replacement", "header"),
        "�",
    ),
    "zeros among the text": (b"<p>a\0b\0c", "text/html", ("utf-8", "default"), "a\0b"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_encodings_are_read_as_browsers_do(case):
    body, content_type, decided, words = BROKEN[case]
    assert charset(body, content_type) == decided
    decoded, name = text(body, content_type)
    assert name == decided[0]
    assert words in decoded
    assert not decoded.startswith("\ufeff")


@pytest.mark.parametrize("case", [case for case in BROKEN if "cut" not in case])
def test_the_html_parser_agrees_on_the_text(case):
    body, content_type, _, _ = BROKEN[case]
    decoded, name = text(body, content_type)
    parsed = turbohtml.parse(body, encoding=name)
    assert parsed.encoding.lower() == name
    assert parsed.text.split() == turbohtml.parse(decoded).text.split()


HEADS = [
    *(
        b"<!doctype html>",
        b'<html lang="a>b">',
        b"<head>",
        b"<title>",
        b"</title>",
        b"x",
    ),
    *(b'<meta charset="utf-8">', b"<META CHARSET=utf-8 />", b"<meta charset='koi8-r'>"),
    b'<meta http-equiv="Content-Type" content="text/html; charset=utf-8">',
    b"<meta content='text/html;charset=utf-8' http-equiv=content-type>",
    b'<meta http-equiv=content-type content="text/html; charset=gbk">',
    *(b"<meta name=a content='charset=utf-8'>", b"<!-- <meta charset=utf-8> -->", b"<"),
    *(
        b"<script>",
        b"</script>",
        b"<meta charset=utf-8 charset=gbk>",
        b"\n",
        b'"',
        b"'",
    ),
]


@given(st.lists(st.sampled_from(HEADS), max_size=8).map(b"".join))
def test_utf_8_is_told_as_the_parser_tells_it(head):
    if SAYS_UTF_8(head):
        parsed = turbohtml.parse(head)
        assert (parsed.encoding, parsed.encoding_confidence) == ("UTF-8", "certain")
        assert charset(head, "text/html") == ("utf-8", "meta")


def test_utf_8_is_told_by_either_kind_of_meta():
    for meta in HEADS[6:7] + HEADS[9:11]:
        assert SAYS_UTF_8(b"<!doctype html>\n<html><head>" + meta)


def test_a_body_as_utf_8_is_its_text():
    for body, content_type in (
        (b"\xef\xbb\xbfa\xc3\xa9", ""),
        ("é".encode("latin-1"), "text/html; charset=latin1"),
        ("é".encode("utf-16"), ""),
    ):
        encoded, name = utf_8(body, content_type)
        assert (encoded.decode(), name) == text(body, content_type)
    assert utf_8(b"\xff", "text/html; charset=utf-8") == (b"\xff", "utf-8")


@given(st.binary(max_size=2000), st.text(max_size=60))
@settings(max_examples=200)
def test_every_body_has_some_text(body, content_type):
    decoded, name = text(body, content_type)
    assert isinstance(decoded, str)
    assert name == name.lower() != ""


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("Text/HTML; charset=utf-8", "text/html"),
        (" application/xhtml+xml ", "application/xhtml+xml"),
        ("text/html, text/html", "text/html"),
        ("", ""),
        (";", ""),
    ],
)
def test_a_media_type_is_read_from_its_header(header, kind):
    assert media_type(header) == kind


HTML = (
    b"<!DOCTYPE html><title>x</title>",
    b"  \n\xef\xbb\xbf<HTML>",
    b"<!-- made by hand --><p>x",
    b"words, then <a href=x>a link</a>",
    "<html><p>x".encode("utf-16"),
)
OTHER = (
    b"PK\x03\x04" + b"<html>" * 20,
    b"%PDF-1.7\n<html>",
    b"\x89PNG\r\n\x1a\n<p>",
    b"\x1f\x8b\x08\0\0\0\0\0<div>",
    bytes(range(1, 9)) * 20 + b"<html>",
)


@pytest.mark.parametrize("body", HTML)
def test_html_is_known_by_its_looks(body):
    assert looks_like_html(body)
    assert is_html("", body)
    assert is_html("text/html", body)


@pytest.mark.parametrize("body", OTHER)
def test_what_only_claims_to_be_html_is_not(body):
    assert looks_binary(body)
    assert not looks_like_html(body)
    assert not is_html("text/html; charset=utf-8", body)


def test_only_types_of_pages_are_pages():
    assert is_html("text/html", b"only words, no tag")
    assert is_html("text/html", b"")
    assert not is_html("", b"only words, no tag")
    assert not is_html("text/plain", b"<html>")
    assert not is_html("application/pdf", b"<html>")
    assert is_html("application/xml", b'<?xml version="1.0"?><html xmlns="x">')
    assert not is_html("application/xml", b'<?xml version="1.0"?><rss>')
