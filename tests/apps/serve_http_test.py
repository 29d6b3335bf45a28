#!/usr/bin/env python3
"""salient-serve's HTTP byte for byte: heads and bodies that are broken, hosts, clients that leave.

    serve_http_test.py BIN_DIRECTORY       on a small graph, CPU; seconds
"""
import json
import pathlib
import random
import re
import socket
import struct
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import programs
import serving
from job import wait_until

PROGRAMS = programs.Programs(sys.argv[1])
BODY = b'{"nodes":[1]}'
HEAD = b"POST /predict HTTP/1.1\r\nHost: localhost\r\n"
STATUS_LINE = re.compile(rb"HTTP/1\.1 (\d{3}) [A-Za-z ]+\r\n")
SOUND_HEAD = re.compile(rb"(\r\n)*[A-Z]+ (?!\S*%00)[!-~]+ HTTP/1\.[0-9]\r\n"
                        rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)*\r\n")


def request(*fields, method=b"POST", target=b"/predict", version=b"HTTP/1.1", host=b"Host: localhost", body=BODY):
    lines = [b" ".join((method, target, version)), *([host] if host is not None else []), *fields]
    return b"\r\n".join(lines) + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def statuses(found):
    """Of all answers; each must be whole, nothing between them, and nothing after one that ends the connection."""
    all_found = []
    while found:
        head, blank, rest = found.partition(b"\r\n\r\n")
        line = STATUS_LINE.match(head + b"\r\n")
        length = re.search(rb"\r\nContent-Length: (\d+)\r\n", head + b"\r\n")
        assert line and blank and length and len(rest) >= int(length[1]), found[:300]
        assert head.count(b"\r\nDate: ") == 1 and head.count(b"\r\nConnection: ") == 1, head
        all_found.append(int(line[1]))
        found = rest[int(length[1]):]
        assert not (found and b"\r\nConnection: close" in head), found[:300]
    return all_found


class ServeHttp(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        PROGRAMS.generate(cls.work / "graph", nodes=400, degree=5, features=4, classes=3)
        cls.run_dir = cls.work / "run"
        PROGRAMS.run("salient-train", "--dataset", cls.work / "graph", "--out", cls.run_dir, *programs.SMALL,
                     "--workers", 1, "--epochs", 1, expect=0)
        cls.server = serving.Server(PROGRAMS.folder, cls.run_dir, "--max-connections", 64, "--timeout", 3600)
        cls.addClassCleanup(cls.server.__exit__)

    def tearDown(self):
        """Alive, and no connection but the one that asks: no place is kept until a client's time is over."""
        self.assertIsNone(self.server.process.poll())
        wait_until(lambda: self.server.metrics()["salient_connections"] == "1", "every place is given back")

    def check(self, data, *codes):
        self.assertEqual(statuses(self.server.answers(data)), list(codes), data[:200])

    def test_each_sound_request_has_one_answer(self):
        self.check(request(), 200)
        self.check(request() * 3, 200, 200, 200)
        self.check(request(b"Connection: close") + request(), 200)
        self.check(request(version=b"HTTP/1.0", host=None), 200)
        self.check(request(version=b"HTTP/1.0", host=None, *[b"Connection: keep-alive"]) * 2, 200, 200)
        self.check(b"\r\n" + request(target=b"http://127.0.0.1:1/%70redict?a=b"), 200)
        self.check(request(target=b"/metrics", body=b"") + request(), 405, 200)
        with self.server.socket() as raw:  # as curl sends a long body
            raw.sendall(request(b"Expect: 100-continue")[:-len(BODY)])
            self.assertEqual(raw.recv(100), b"HTTP/1.1 100 Continue\r\n\r\n")
            raw.sendall(BODY)
            self.assertEqual(raw.recv(12), b"HTTP/1.1 200")

    def test_a_content_length_that_is_no_number_is_answered_once(self):
        for value in (b"+13", b"-13", b"0xd", b"13, 13", b"", b"13abc", b"13 13", b"1e1", b"13.0", b"\xb9\xb3"):
            for then in (b"", request()):
                self.check(HEAD + b"Content-Length: " + value + b"\r\n\r\n" + BODY + then, 400)
        for value in (b"18446744073709551629", b"9" * 100, b"1048577"):
            self.check(HEAD + b"Content-Length: " + value + b"\r\n\r\n", 413)
        for fields in ((b"Content-Length: 13",), (b"Content-Length: 0",), (b"content-length:13", b"X: y")):
            self.check(request(*fields) + request(), 400)
        for coding in (b"chunked", b"identity", b"x"):
            self.check(request(b"Transfer-Encoding: " + coding) + request(), 411)

    def test_a_nul_is_refused_wherever_it_is(self):
        sound = request(b"X-Note: y")
        head = len(sound) - len(BODY)
        for at in range(len(sound)):
            for changed in (sound[:at] + b"\0" + sound[at:], sound[:at] + b"\0" + sound[at + 1:]):
                if at >= head:
                    changed = request(body=changed[head:])
                self.check(changed, 400)
        self.check(request(body=BODY + b"\0anything"), 400)
        for target in (b"/healthz%00", b"/healthz%00x", b"/healthz\0", b"/healthz\0x", b"/healthz?\0", b"/%00",
                       b"/healthz?%00"):
            self.check(request(method=b"GET", target=target, body=b""), 400)

    def test_keys_that_are_there_twice_are_refused(self):
        for body in (b'{"nodes":[1],"nodes":[2]}', b'{"nodes":[1],"\\u006eodes":[1]}',
                     b'{"new_nodes":[{"features":[0,0,0,0],"features":[0,0,0,1]}]}'):
            with self.subTest(body=body):
                status, _, text = self.server.ask("POST", "/predict", body)
                self.assertEqual(status, 400)
                self.assertIn("twice in one object", json.loads(text)["error"])
        two = b'{"new_nodes":[{"features":[0,0,0,0]},{"features":[0,0,0,1]}]}'
        self.assertEqual(self.server.ask("POST", "/predict", two)[0], 200)

    def test_hosts_and_pages_of_others(self):
        for host in (b"Host: attacker.example", b"Host: attacker.example:%d" % self.server.port, b"Host: 127.0.0.2"):
            for method, target, body in ((b"POST", b"/predict", BODY), (b"GET", b"/metrics", b""),
                                         (b"GET", b"/x", b"")):
                self.check(request(method=method, target=target, host=host, body=body), 421)
        self.check(request(target=b"http://attacker.example/predict"), 421)
        for host in (None, b"Host: localhost\r\nHost: localhost", b"Host:", b"Host: a b", b"Host: user@localhost"):
            self.check(request(host=host) + request(), 400)
        self.check(request(b"Origin: http://attacker.example"), 403)
        self.check(request(b"Origin: null", b"Content-Type: application/x-www-form-urlencoded"), 403)
        self.check(request(b"Content-Type: text/plain"), 415)
        self.check(request(b"Content-Type: application/json; charset=utf-8"), 200)
        with serving.Server(PROGRAMS.folder, self.run_dir, "--allow-host", "models.example,fd00::1") as named:
            for host, code in ((b"models.example:80", 200), (b"MODELS.EXAMPLE.", 200), (b"[fd00::1]", 200),
                               (b"localhost", 200), (b"other.example", 421)):
                self.assertEqual(statuses(named.answers(request(host=b"Host: " + host))), [code], host)
        with serving.Server(PROGRAMS.folder, self.run_dir, "--host", "0.0.0.0") as others:
            others.host = "127.0.0.1"
            self.assertEqual(statuses(others.answers(request(host=b"Host: any.example"))), [200])
            self.assertEqual(statuses(others.answers(request(host=None))), [400])

    def test_a_server_on_ipv6(self):
        try:
            server = serving.Server(PROGRAMS.folder, self.run_dir, "--host", "::1")
        except AssertionError as error:
            self.skipTest(f"no IPv6: {error}")
        with server:
            for host, code in ((b"[::1]", 200), (b"[0::1]:80", 200), (b"localhost", 200), (b"::1", 400),
                               (b"127.0.0.1", 421)):
                self.assertEqual(statuses(server.answers(request(host=b"Host: " + host))), [code], host)

    def test_names_that_are_no_hosts_are_refused_at_the_start(self):
        for name in ("a:80", "http://a", "", "a b", "a,,b"):
            done = PROGRAMS.run("salient-serve", "--run", self.run_dir, "--allow-host", name, expect=2)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn("--allow-host", done.stderr)

    def test_half_requests_give_their_places_back_when_their_clients_leave(self):
        whole = request(b"X-Note: y")
        for leave in ("close", "reset", "half"):
            clients = [self.server.socket() for _ in range(60)]
            for i, raw in enumerate(clients):
                raw.sendall(whole[:1 + i * (len(whole) - 2) // 59])
            wait_until(lambda: int(self.server.metrics()["salient_connections"]) >= 61, "60 are connected")
            for raw in clients:
                if leave == "reset":
                    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                raw.shutdown(socket.SHUT_WR) if leave == "half" else raw.close()
            wait_until(lambda: self.server.metrics()["salient_connections"] == "1", f"all are gone by {leave}")
            for raw in clients:
                raw.close()

    def test_a_client_that_closes_its_side_gets_its_answer(self):
        for _ in range(50):
            self.assertEqual(statuses(self.server.answers(request())), [200])

    def test_mutated_heads_get_one_answer_and_never_200_for_what_is_broken(self):
        draw, seeds = random.Random(7), [
            request(), request(b"Connection: close", b"X-Note: y, z"),
            request(method=b"GET", target=b"/healthz", body=b""),
            request(b"Content-Type: application/json", target=b"http://localhost/predict",
                    host=b"Host: 127.0.0.1:80")]
        pieces = (b"\0", b"\r", b"\n", b"\r\n", b" ", b"\t", b":", b"%00", b"\x7f", b"\xff", b"Host: a\r\n",
                  b"Content-Length: 13\r\n", b"Transfer-Encoding: chunked\r\n", b"HTTP/1.1", b"0x", b"-", b"+", b"@")
        found = set()
        for _ in range(3000):
            data = bytearray(draw.choice(seeds))
            head = data.index(b"\r\n\r\n") + 4
            for _ in range(draw.randrange(1, 4)):
                at = draw.randrange(head)
                if draw.randrange(2):
                    data[at:at] = draw.choice(pieces)
                else:
                    data[at] = draw.randrange(256)
            codes = statuses(self.server.answers(bytes(data)))
            found.update(codes)
            if 200 in codes[:1]:
                self.assertTrue(SOUND_HEAD.match(bytes(data)), bytes(data))
        self.assertLessEqual({200, 400}, found)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
