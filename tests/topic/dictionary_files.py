"""Makes dictionary files as the programs of each format do, for several tests."""

import gzip
import struct
from pathlib import Path

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def base64_number(value: int) -> str:
    digits = DIGITS[value % 64]
    while value := value // 64:
        digits = DIGITS[value % 64] + digits
    return digits


def write_dictd(folder: Path, entries, *, packed: bool = False) -> Path:
    """Entries are (headword, article) or (headword, article, as really written)."""
    data = b""
    lines = []
    for word, article, *original in entries:
        encoded = article.encode()
        numbers = [base64_number(len(data)), base64_number(len(encoded))]
        lines.append("\t".join([word, *numbers, *original]))
        data += encoded
    index = folder / "words.index"
    index.write_text("".join(f"{line}\n" for line in lines))
    if packed:
        (folder / "words.dict.dz").write_bytes(gzip.compress(data))
    else:
        (folder / "words.dict").write_bytes(data)
    return index


def write_stardict(
    folder: Path,
    entries,
    *,
    types: str = "m",
    wide: bool = False,
    packed: bool = False,
    synonyms=(),
) -> Path:
    """Entries are (headword, the bytes of its article)."""
    data = index = b""
    for word, article in entries:
        place = struct.pack(">QI" if wide else ">II", len(data), len(article))
        index += word.encode() + b"\0" + place
        data += article
    ifo = folder / "words.ifo"
    lines = ["StarDict's dict ifo file", "version=3.0.0", "bookname=Words"]
    lines += [f"wordcount={len(entries)}", f"idxfilesize={len(index)}"]
    lines += ["idxoffsetbits=64"] if wide else []
    lines += [f"sametypesequence={types}"] if types else []
    ifo.write_text("\n".join(lines))
    if packed:
        (folder / "words.idx.gz").write_bytes(gzip.compress(index))
        (folder / "words.dict.dz").write_bytes(gzip.compress(data))
    else:
        (folder / "words.idx").write_bytes(index)
        (folder / "words.dict").write_bytes(data)
    if synonyms:
        pairs = [word.encode() + b"\0" + struct.pack(">I", n) for word, n in synonyms]
        (folder / "words.syn").write_bytes(b"".join(pairs))
    return ifo


TEI = """<?xml version="1.0" encoding="UTF-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><body>{}</body></text></TEI>
"""


def write_tei(folder: Path, entries) -> Path:
    """Entries are (headword, its translations)."""
    path = folder / "words.tei"
    written = [
        f"<entry><form><orth>{word}</orth><pron>ab</pron></form><sense>"
        + "".join(f'<cit type="trans"><quote>{one}</quote></cit>' for one in given)
        + '<cit type="example"><quote>an example</quote></cit></sense></entry>'
        for word, given in entries
    ]
    path.write_text(TEI.format("".join(written)))
    return path
