#!/usr/bin/env python3
"""A crawler's check, as crawler.c, from Python by ctypes alone.

    crawler.py LIBRARY HEADER STORE < pages

The constants come from the header, so they are those of C.
"""
import ctypes
import re
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p

DISTANCE = 3


class Parameters(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("width", c_uint32), ("max_distance", c_uint32), ("ids", c_char_p),
        ("plan", c_char_p), ("codec", c_char_p), ("block_size", c_uint32), ("id_index", c_uint32),
        ("hasher", c_char_p),
    ]


class Id(ctypes.Structure):
    _fields_ = [("kind", c_uint32), ("number", c_uint64), ("text", c_char_p), ("length", c_size_t)]


class Outcome(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("inserted", c_uint32), ("is_numbered", c_uint32), ("number", c_uint64),
    ]


class FoundId(ctypes.Structure):
    # The text has no NUL at its end: a c_char_p would read on.
    _fields_ = [("kind", c_uint32), ("number", c_uint64), ("text", c_void_p), ("length", c_size_t)]


class Match(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("distance", c_uint32), ("width", c_uint32), ("fingerprint64", c_uint64),
        ("fingerprint", ctypes.c_uint8 * 32), ("id", FoundId),
    ]


class Failed(Exception):
    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


class Fpstore:
    """The functions of the library; one that fails raises Failed."""

    SIGNATURES = {
        "fps_open": [c_char_p, c_void_p, POINTER(c_void_p)],
        "fps_create": [c_char_p, POINTER(Parameters), c_void_p, POINTER(c_void_p)],
        "fps_insert_if_new64": [
            c_void_p, c_uint64, POINTER(Id), c_uint32, c_uint32, POINTER(Outcome), POINTER(c_void_p),
        ],
        "fps_matches_get": [c_void_p, c_size_t, POINTER(Match)],
        "fps_sync": [c_void_p, c_uint32],
        "fps_store_close": [c_void_p],
    }

    def __init__(self, library, header):
        self.library = ctypes.CDLL(library)
        with open(header, encoding="utf-8") as text:
            self.constants = {name: int(value) for name, value in re.findall(r"#define FPS_(\w+) (\d+)", text.read())}
        for name, arguments in self.SIGNATURES.items():
            function = getattr(self.library, name)
            function.argtypes, function.restype = arguments + [POINTER(c_void_p)], c_uint32
        for name in ("fps_store_free", "fps_matches_free", "fps_error_free"):
            getattr(self.library, name).argtypes = [c_void_p]
            getattr(self.library, name).restype = None
        self.library.fps_error_message.argtypes, self.library.fps_error_message.restype = [c_void_p], c_char_p

    def __getattr__(self, name):
        if name.isupper():
            return self.constants[name]
        function = getattr(self.library, "fps_" + name)

        def call(*arguments):
            error = c_void_p()
            kind = function(*arguments, byref(error))
            if kind != self.OK:
                message = self.library.fps_error_message(error).decode()
                self.library.fps_error_free(error)
                raise Failed(kind, message)

        return call


def opened(fps, path):
    store = c_void_p()
    try:
        fps.open(path.encode(), None, byref(store))
    except Failed as failed:
        if failed.kind != fps.NOT_FOUND:
            raise
        parameters = Parameters(ctypes.sizeof(Parameters), max_distance=DISTANCE, ids=b"text")
        fps.create(path.encode(), byref(parameters), None, byref(store))
    return store


def check(fps, store, fingerprint, address):
    text = address.encode()
    outcome, near = Outcome(ctypes.sizeof(Outcome)), c_void_p()
    identity = Id(fps.ID_TEXT, 0, text, len(text))
    fps.insert_if_new64(
        store, fingerprint, byref(identity), DISTANCE, fps.BUFFERED, byref(outcome), byref(near)
    )
    if outcome.inserted:
        print("new", address, sep="\t")
    else:
        match = Match(ctypes.sizeof(Match))
        fps.matches_get(near, 0, byref(match))
        print("seen", address, ctypes.string_at(match.id.text, match.id.length).decode(), match.distance, sep="\t")
    fps.library.fps_matches_free(near)


def main():
    library, header, path = sys.argv[1:]
    fps = Fpstore(library, header)
    try:
        store = opened(fps, path)
        for line in sys.stdin:
            fingerprint, address = line.split()
            check(fps, store, int(fingerprint, 16), address)
        fps.sync(store, fps.SYNC)
        fps.store_close(store)
        fps.library.fps_store_free(store)
    except Failed as failed:
        sys.exit(f"crawler.py: {failed}")


if __name__ == "__main__":
    main()
