#!/usr/bin/env python3
"""Translates real documents with the shipped model and opens the results again with the programs that such files come from.

LibreOffice (Debian: libreoffice-writer-nogui) makes a .docx and an .odt and reads the translations, msgfmt (gettext) checks a
catalog, xmllint (libxml2-utils) the XML. A program that is missing is named, and what needs it is left out. Needs a release
build.
"""

import argparse
import html
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as xml
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRANSLATIONS = ["Elle dort.", "Il chante.", "Ils ont acheté un chapeau noir."]
# Flat OpenDocument, with what a letter may have: a header, a footnote, a field, a tab, a list, a table and a comment.
LETTER = """<?xml version="1.0" encoding="UTF-8"?>
<office:document office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text"
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"
 xmlns:dc="http://purl.org/dc/elements/1.1/">
<office:automatic-styles>
<style:style style:name="B" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>
<style:style style:name="I" style:family="text"><style:text-properties fo:font-style="italic"/></style:style>
<style:page-layout style:name="L"><style:header-style/></style:page-layout>
</office:automatic-styles>
<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="L"><style:header>
<text:p>He sings.</text:p></style:header></style:master-page></office:master-styles>
<office:body><office:text>
<text:h text:outline-level="1">She sleeps.</text:h>
<text:p>They bought a <text:span text:style-name="B">black</text:span> hat.<text:note text:note-class="footnote">
<text:note-citation>1</text:note-citation><text:note-body><text:p>He sings.</text:p></text:note-body></text:note></text:p>
<text:list><text:list-item><text:p>He <text:span text:style-name="I">sings</text:span>.</text:p></text:list-item></text:list>
<table:table><table:table-column/><table:table-row><table:table-cell><text:p>She sleeps.</text:p></table:table-cell></table:table-row></table:table>
<text:p>She sleeps.<text:tab/>He sings.<text:line-break/><text:a xlink:href="https://example.org/">They bought a black hat.</text:a>
<office:annotation><dc:creator>A</dc:creator><text:p>comment</text:p></office:annotation></text:p>
<text:p>Page <text:page-number>1</text:page-number></text:p>
</office:text></office:body></office:document>
"""
CATALOG = r"""msgid ""
msgstr ""
"Project-Id-Version: hats 1.0\n"
"Language: fr\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Content-Transfer-Encoding: 8bit\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\n"

#: hats.c:12
msgid "She sleeps."
msgstr ""

#: hats.c:14
#, c-format
msgid "They bought %d black hat."
msgid_plural "They bought %d black hats."
msgstr[0] ""
msgstr[1] ""

#. A path, with a line end
msgctxt "menu"
msgid "He sings \"%s\".\n"
msgstr ""

#, c-format
msgid "%s: the old man lives near the river; they bought %lu black hats and the boys buy the new bottles (%.1f%%)\n"
msgstr ""
"""
XLIFF_1 = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en" target-language="fr"
 datatype="plaintext"><body><trans-unit id="1"><source>She <g id="1">sleeps</g>.</source></trans-unit>
<trans-unit id="2"><source>He sings.<x id="2"/></source><target state="new"/></trans-unit></body></file></xliff>
"""
XLIFF_2 = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en" trgLang="fr"><file id="f"><unit id="1">
<segment><source>She <pc id="1">sleeps</pc>.</source></segment></unit></file></xliff>
"""
# Elements of TMX 1.4 with the attributes that its DTD requires and the elements that they may hold.
TMX = {
    "tmx": ({"version"}, {"header", "body"}),
    "header": (
        {"creationtool", "creationtoolversion", "segtype", "o-tmf", "adminlang", "srclang", "datatype"},
        {"note", "prop", "ude"},
    ),
    "body": (set(), {"tu"}),
    "tu": (set(), {"note", "prop", "tuv"}),
    "tuv": ({"{http://www.w3.org/XML/1998/namespace}lang"}, {"note", "prop", "seg"}),
    "seg": (set(), {"bpt", "ept", "ph", "it", "hi", "ut", "sub"}),
}


def check(condition, message):
    if not condition:
        raise SystemExit(f"check_documents: {message}")


def run(*command):
    """Runs a command and returns its output; all that it says is part of a failure."""
    done = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class Office:
    """LibreOffice without a window, with a profile of its own."""

    def __init__(self, directory):
        self.program = shutil.which("soffice") or shutil.which("libreoffice")
        self.directory = directory

    def convert(self, source, kind):
        """Opens a file and saves it in another format. Returns the path."""
        out = self.directory / "converted"
        profile = f"-env:UserInstallation=file://{self.directory}/profile"
        run(self.program, profile, "--headless", "--convert-to", kind, "--outdir", out, source)
        path = out / f"{source.stem}.{kind.split(':')[0]}"
        check(path.exists(), f"LibreOffice does not open {source.name}")
        return path


class Checks:
    """Checks that share a program and a directory."""

    def __init__(self, program, directory):
        self.program, self.directory = program, directory

    def translated(self, path):
        output = path.with_name(f"{path.stem}.fr{path.suffix}")
        run(self.program, "translate", "--quiet", "--input", path, "--output", output)
        return output

    def write(self, name, text):
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        return path

    def documents(self):
        """Word and OpenDocument files of LibreOffice."""
        office = Office(self.directory)
        if not office.program:
            print("LibreOffice is missing: no .docx and .odt")
            return
        letter = self.write("letter.fodt", LETTER)
        for kind in ("odt", "docx"):
            source = self.directory / f"office.{kind}"
            made = office.convert(letter, f"{kind}:writer8" if kind == "odt" else f"{kind}:MS Word 2007 XML")
            shutil.move(made, source)
            output = self.translated(source)
            with zipfile.ZipFile(source) as given, zipfile.ZipFile(output) as written:
                check(written.testzip() is None and written.namelist() == given.namelist(), f"{kind}: other files than before")
                for name in written.namelist():
                    if name.endswith((".xml", ".rels")):
                        xml.fromstring(written.read(name))
                # OpenDocument demands that the first file, its type, is not compressed.
                types = [archive.infolist()[0].compress_type for archive in (given, written)]
                check(types[0] == types[1], f"{kind}: the first file is compressed otherwise")
            again = office.convert(output, "html:HTML (StarWriter)")
            text = re.sub(r"<style.*?</style>", "", again.read_text(encoding="utf-8", errors="replace"), flags=re.S)
            shown = " ".join(re.sub(r"<[^>]*>", " ", html.unescape(text)).split())
            for sentence in TRANSLATIONS:
                check(sentence in shown.replace(" .", "."), f"{kind}: {sentence!r} is missing: {shown}")
            for mark in (r"<b>\s*noir", r"<i>\s*chante", "https://example.org/", "<table", "<li"):
                check(re.search(mark, text), f"{kind}: {mark} is missing: {text}")
            print(f"LibreOffice opens the translated .{kind}: {shown}")

    def catalog(self):
        """A catalog of gettext."""
        if not shutil.which("msgfmt"):
            print("gettext is missing: no catalog")
            return
        source = self.directory / "hats.po"
        run("msgcat", "--output-file", source, self.write("given.po", CATALOG))
        output = self.translated(source)
        said = run("msgfmt", "--check", "--verbose", "--output-file", self.directory / "hats.mo", output)
        check("4 translated messages" in said and "untranslated" not in said and "fuzzy" not in said, said)
        print(f"msgfmt --check: {said.splitlines()[-1]}")
        again = self.directory / "again.po"
        run("msgcat", "--output-file", again, output)
        check(again.read_text(encoding="utf-8") == output.read_text(encoding="utf-8"), "msgcat writes the catalog otherwise")
        print("msgcat writes the same file again")

    def units(self):
        """XLIFF 1.2 and 2."""
        for name, text in (("one.xlf", XLIFF_1), ("two.xlf", XLIFF_2)):
            output = self.translated(self.write(name, text))
            root = xml.parse(output).getroot()
            targets = ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("}target")]
            check(targets[0] == "Elle dort.", f"{name}: {targets}")
            self.lint(output)
            print(f"{name}: well-formed, with the targets {targets}")

    def memory(self):
        """TMX, which obeys its DTD as far as elements and attributes go."""
        pages = self.write("hats.md", "# She sleeps.\n\nThey bought a **black** hat & a <b>.\n")
        output = self.directory / "memory.tmx"
        run(self.program, "translate", "--quiet", "--input", pages, "--output", output)
        root = xml.parse(output).getroot()
        check(root.tag == "tmx" and root.get("version") == "1.4", "no TMX 1.4")
        for element in root.iter():
            required, held = TMX[element.tag]
            check(required <= set(element.keys()), f"{element.tag} lacks {required - set(element.keys())}")
            check({child.tag for child in element} <= held, f"{element.tag} holds {[child.tag for child in element]}")
            check(element.tag != "tu" or len(element.findall("tuv")) == 2, "a unit without two variants")
            check(element.tag != "tuv" or len(element.findall("seg")) == 1, "a variant without a segment")
        self.lint(output)
        pairs = run(self.program, "align", "--quiet", "--links-from", "hmm", "--format", "pharaoh", output).splitlines()
        check(len(pairs) == len(root.findall("body/tu")), f"{len(pairs)} pairs are read again")
        print(f"memory.tmx: {len(pairs)} units as the DTD of TMX 1.4 has them, read again")

    def lint(self, path):
        if shutil.which("xmllint"):
            run("xmllint", "--noout", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "target/release/softalign")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        checks = Checks(arguments.binary, Path(directory))
        for part in (checks.documents, checks.catalog, checks.units, checks.memory):
            part()
    print("check_documents: all checks passed")


if __name__ == "__main__":
    main()
