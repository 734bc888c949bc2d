"""Bytes → text: which encoding it is, and its lines, bounded in length."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from charset_normalizer import from_bytes

from rag.errors import InputError
from rag.readers.inputs import ACCEPTED, Blob

_CHUNK = 2**17
_SAMPLE = 2**18
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BROKEN = re.compile("[\udc80-\udcff]")
_HIGH_RUNS = re.compile(rb"[\x80-\xff]+")
_LEGACY = ["gb18030", "big5", "cp932", "euc_jp", "cp949", "cp1251", "koi8_r", "cp1250", "cp1253", "cp1254", "cp1252"]
_BINARY = (
    (b"%PDF", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"SQLite format 3", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
    (b"BZh", "compressed with bzip2"),
    (b"\xfd7zXZ", "compressed with xz"),
    (b"(\xb5/\xfd", "compressed with zstd"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"PK\x03\x04", "a zip archive inside another file"),
    (b"\x1f\x8b", "compressed twice"),
)


@dataclass(frozen=True, slots=True)
class Text:
    """A blob as text. `name` is the source's; a byte that is not of `encoding` is kept as a lone surrogate."""

    blob: Blob
    encoding: str

    @property
    def name(self) -> str:
        return self.blob.name

    def head(self, size: int = 2**16) -> str:
        """The first characters, for telling formats apart."""
        return self._read(size)

    def document(self) -> str:
        """All of it, for formats that cannot be read by the line. Raises InputError beyond `limits.document`."""
        limit = self.blob.limits.document
        text = self._read(limit + 1)
        if len(text) > limit:
            raise InputError(
                f"{self.name}: larger than {limit / 2**30:g} G characters in one document",
                hint="convert it to JSON Lines or CSV, which are read row by row",
            )
        return text

    def lines(self) -> Iterator[str]:
        """Its lines, each with its end as it stands. Raises InputError for one that is far too long."""
        limit = self.blob.limits.line
        number = 0
        with self._open() as file:
            try:
                while line := file.readline(limit + 1):
                    number += 1
                    if len(line) > limit:
                        raise InputError(
                            f"{self.name}:{number}: a line of more than {limit:,} characters",
                            hint="is this a list of abstracts?",
                        )
                    yield line
            except UnicodeError as error:
                raise self._undecodable(error, number + 1) from error

    def _open(self) -> TextIO:
        # utf-8 and one-byte encodings mark a broken byte and go on: only its row is lost
        errors = "strict" if self.encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"
        return io.TextIOWrapper(self.blob.open(), encoding=self.encoding, errors=errors, newline="")

    def _read(self, size: int) -> str:
        with self._open() as file:
            try:
                return file.read(size)
            except UnicodeError as error:
                raise self._undecodable(error, 1) from error

    def _undecodable(self, error: UnicodeError, line: int) -> InputError:
        return InputError(
            f"{self.name}:{line}: is not {self.encoding.upper()} from here on ({error})",
            hint="save the file as UTF-8 and try again",
        )


def broken(text: str, encoding: str) -> str:
    """What is wrong with the bytes that `text` came from, or "" where they are all of `encoding`."""
    if text.isascii() or not (match := _BROKEN.search(text)):
        return ""
    byte = ord(match.group()) - 0xDC00
    before = " ".join(text[: match.start()][-20:].split())
    return f"not {encoding.upper()} (byte 0x{byte:02x} after “{before}”); save the file as UTF-8"


def decoded(blob: Blob) -> Text:
    """`blob` with its encoding found out. Raises InputError for what is no text, naming what it is."""
    with blob.open() as file:
        head = file.read(2**12)
    if not head.strip(b"\x00 \t\r\n"):
        raise InputError(f"{blob.name}: is empty", hint=ACCEPTED)
    for bom, encoding in _BOMS:
        if head.startswith(bom):
            return Text(blob, encoding)
    for magic, what in _BINARY:
        if head.startswith(magic):
            raise InputError(f"{blob.name}: is {what}, which cannot be read", hint=ACCEPTED)
    if head[257:262] == b"ustar":
        raise InputError(f"{blob.name}: is a tar archive", hint="unpack it and name the folder")
    if b"\x00" in head:
        if encoding := _utf16_without_bom(head):
            return Text(blob, encoding)
        raise InputError(f"{blob.name}: is not text (holds binary data)", hint=ACCEPTED)
    if _is_utf8(blob):
        return Text(blob, "utf-8")
    encoding = _encoding(blob)
    return Text(blob, (encoding != "utf-8" and _declared(head)) or encoding)


def _is_utf8(blob: Blob) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with blob.open() as file:
        try:
            while chunk := file.read(_CHUNK):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _declared(head: bytes) -> str:
    """The encoding that an XML declaration names, where Python knows it."""
    match = re.match(rb"\s*<\?xml[^>]*encoding=[\"']([\w.-]+)[\"']", head)
    name = match[1].decode() if match else ""
    try:
        known = bool(name) and b"<?xml".decode(name) == "<?xml"  # what is read so far is, so the rest may be
    except (LookupError, UnicodeError):
        known = False
    return codecs.lookup(name).name if known else ""


def _utf16_without_bom(head: bytes) -> str:
    """Mostly Latin text has a zero in nearly every second byte: those of one side, and none of the other."""
    half = len(head) // 2
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > 0.6 * half and even < 0.02 * half:
        return "utf-16-le"
    if even > 0.6 * half and odd < 0.02 * half:
        return "utf-16-be"
    return ""


def _encoding(blob: Blob) -> str:
    """UTF-8 still where most of what is not ASCII is valid UTF-8, else what the other bytes look most like."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    good = bad = 0
    sample = b""
    with blob.open() as file:
        while True:
            chunk = file.read(_CHUNK)
            text = decoder.decode(chunk, final=not chunk)
            if not text.isascii():
                wrong = len(_BROKEN.findall(text))
                bad += wrong
                good += sum(map(len, re.findall(r"[^\x00-\x7f]+", text))) - wrong
                if wrong and len(sample) < _SAMPLE:
                    sample += chunk[: _SAMPLE - len(sample)]
            if not chunk:
                break
    if not bad or good > 3 * bad:
        return "utf-8"
    return _legacy_encoding(sample)


def _legacy_encoding(sample: bytes) -> str:
    """cp1252 where high bytes stand alone, as accents and typographic signs do; else what reads most like words."""
    runs = [len(run) for run in _HIGH_RUNS.findall(sample)]
    if not runs or sum(length <= 2 for length in runs) >= 0.8 * len(runs):
        return "cp1252"
    best = from_bytes(sample, cp_isolation=_LEGACY).best()
    return best.encoding if best else "cp1252"
