# tests/support/serving.py - one salient-serve on a free port, and requests to it, sound or byte for byte.
import http.client
import json
import re
import signal
import socket
import subprocess

from job import LIMIT_S


class Server:
    def __init__(self, programs, run, *options):
        self.process = subprocess.Popen([str(word) for word in (programs / "salient-serve", "--run", run, "--device",
                                         "cpu", "--port", 0, *options)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("listening on http://"), line + self.process.stderr.read()
        self.address, port = line.strip().removeprefix("listening on http://").rsplit(":", 1)
        self.host, self.port = self.address.strip("[]"), int(port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def connection(self):
        return http.client.HTTPConnection(self.host, self.port, timeout=LIMIT_S)

    def ask(self, method, path, body=None, connection=None, headers={}):
        """Status, headers and text."""
        own = connection or self.connection()
        own.request(method, path, body, headers)
        response = own.getresponse()
        text = response.read().decode()
        if connection is None:
            own.close()
        return response.status, response.headers, text

    def predict(self, body, connection=None):
        status, _, text = self.ask("POST", "/predict", json.dumps(body), connection)
        assert status == 200, (status, text)
        return json.loads(text)["predictions"]

    def socket(self):
        raw = socket.create_connection((self.host, self.port))
        raw.settimeout(LIMIT_S)
        return raw

    def answers(self, data, end=True):
        """All that the server sends until it closes. @param end  of the client's bytes: sent, too"""
        with self.socket() as raw:
            found = b""
            try:
                raw.sendall(data)
                if end:
                    raw.shutdown(socket.SHUT_WR)
                while part := raw.recv(65536):
                    found += part
            except ConnectionError:  # the server closed first
                pass
            return found

    def metrics(self):
        return dict(re.findall(r"^([a-z_]+(?:\{[^}]*\})?) (\S+)$", self.ask("GET", "/metrics")[2], re.M))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=LIMIT_S)
        assert code == 0, code
