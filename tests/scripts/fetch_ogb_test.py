#!/usr/bin/env python3
# tests/scripts/fetch_ogb_test.py - scripts/fetch_ogb.sh against a local server: resumes, notices damage, one line each.
import functools
import http.server
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/fetch_ogb.sh"


def archive(folder, damaged=False):
    """A stored zip with FOLDER/raw/data.npz, so that a changed byte is a wrong CRC-32 and nothing else."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as out:
        out.writestr(f"{folder}/raw/data.npz", bytes(range(256)) * 4000)
        out.writestr(f"{folder}/split/time/train.csv.gz", b"x" * 1000)
    content = bytearray(memory.getvalue())
    if damaged:
        content[500_000] ^= 1
    return bytes(content)


class Handler(http.server.BaseHTTPRequestHandler):
    """/MODE/ARCHIVE: whole, cut (every answer stops half-way through what is left), norange, damaged, page, missing."""

    def do_HEAD(self):
        self.answer(head_only=True)

    def do_GET(self):
        self.answer(head_only=False)

    def answer(self, head_only):
        _, mode, name = self.path.split("/")
        if mode == "missing":
            self.send_error(404)
            return
        folder = name.removesuffix(".zip")
        content = b"<html>log in</html>" if mode == "page" else archive(folder, mode == "damaged")
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        begin = int(asked[1]) if asked and mode != "norange" else 0
        self.server.seen.append((self.command, begin))
        if begin >= len(content):
            self.send_response(416)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = content[begin:]
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(body)))
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        if head_only:
            return
        if mode == "cut" and len(body) > 50_000:
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.connection.close()
            self.close_connection = True
        else:
            self.wfile.write(body)

    def log_message(self, *_):
        pass


class FetchOgb(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.seen = []
        self.server.handle_error = lambda *_: None
        threading.Thread(target=functools.partial(self.server.serve_forever, 0.05), daemon=True).start()
        self.temporary = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.temporary.name) / "my data"
        self.addCleanup(self.temporary.cleanup)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def fetch(self, mode, name="ogbn-papers100M", expect=0, path=None, port=None):
        environment = dict(os.environ, SALIENT_OGB_URL=f"http://127.0.0.1:{port or self.server.server_port}/{mode}")
        environment.pop("http_proxy", None)
        environment["no_proxy"] = "127.0.0.1"
        if path:
            environment["PATH"] = f"{path}:{environment['PATH']}"
        done = subprocess.run([SCRIPT, name, self.dir], env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        if expect:
            self.assertRegex(done.stderr, r"\Afetch_ogb: error: [^\n]*\n\Z")
        else:
            self.assertEqual(done.stderr, "")
        return done.stdout + done.stderr

    def test_fetches_unpacks_and_says_what_is_next(self):
        out = self.fetch("whole")
        self.assertTrue((self.dir / "papers100M-bin/raw/data.npz").is_file())
        escaped = str(self.dir).replace(" ", "\\ ")
        command = (f"salient-prepare ogb --raw {escaped}/papers100M-bin --name ogbn-papers100M "
                   "--out data/ogbn-papers100M")
        self.assertEqual(out.splitlines()[-1], command)
        self.assertRegex((self.dir / "papers100M-bin.zip.sha256").read_text(), r"^[0-9a-f]{64}  papers100M-bin.zip\n$")
        self.assertEqual({path.name for path in self.dir.iterdir()},
                         {"papers100M-bin", "papers100M-bin.zip", "papers100M-bin.zip.sha256"})
        self.server.seen.clear()
        self.assertIn(command, self.fetch("whole"))
        self.assertEqual(self.server.seen, [], "what is unpacked is not fetched again")

    def test_continues_by_itself_as_long_as_bytes_come(self):
        self.fetch("cut")
        begins = [begin for command, begin in self.server.seen if command == "GET"]
        self.assertGreater(len(begins), 3)
        self.assertEqual(begins, sorted(set(begins)), "each request starts where the last one stopped")

    def test_continues_what_an_earlier_run_left(self):
        self.dir.mkdir()
        (self.dir / "papers100M-bin.zip.part").write_bytes(archive("papers100M-bin")[:700_000])
        self.fetch("whole")
        self.assertEqual([begin for command, begin in self.server.seen if command == "GET"], [700_000])

    def test_unpacks_again_after_an_interrupted_unpacking(self):
        self.fetch("whole")
        (self.dir / "papers100M-bin").rename(self.dir / ".unpacking-papers100M-bin")
        self.fetch("whole")
        self.assertFalse((self.dir / ".unpacking-papers100M-bin").exists())

    def test_starts_over_where_the_server_cannot_continue(self):
        self.dir.mkdir()
        (self.dir / "papers100M-bin.zip.part").write_bytes(b"x" * 1000)
        self.fetch("norange")

    def test_damage_is_one_line(self):
        self.assertIn("is damaged", self.fetch("damaged", expect=65))
        self.assertFalse((self.dir / "papers100M-bin").exists())

    def test_another_file_of_that_name_is_noticed(self):
        self.assertIn("has SHA-256", self.fetch("whole", "ogbn-arxiv", expect=65))
        self.assertIn("is no zip file with a folder papers100M-bin/raw", self.fetch("page", expect=65))

    def test_a_longer_part_is_not_continued(self):
        self.dir.mkdir()
        (self.dir / "papers100M-bin.zip.part").write_bytes(b"x" * 2_000_000)
        self.assertIn("more than the server's", self.fetch("whole", expect=65))

    def test_no_such_file_no_network_no_space(self):
        self.assertIn("the server has no such file", self.fetch("missing", expect=66))
        self.assertIn("no connection to http://127.0.0.1:1/whole", self.fetch("whole", expect=75, port=1))
        tools = pathlib.Path(self.temporary.name) / "tools"
        tools.mkdir()
        (tools / "df").write_text("#!/bin/sh\necho header\necho disk 9 8 1 99% /\n")
        (tools / "df").chmod(0o755)
        self.assertIn("ogbn-papers100M (download and unpacked) needs 3 MB", self.fetch("whole", expect=74, path=tools))
        self.assertEqual([command for command, _ in self.server.seen], ["HEAD"], "nothing was downloaded")

    def test_usage(self):
        self.fetch("whole", "ogbn-mag", expect=2)


if __name__ == "__main__":
    for tool in ("curl", "unzip"):
        if not any((pathlib.Path(folder) / tool).exists() for folder in os.environ["PATH"].split(":")):
            print(f"skipped: {tool} is not installed")
            sys.exit(77)
    unittest.main()
